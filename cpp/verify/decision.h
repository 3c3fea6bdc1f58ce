#pragma once

#include <cstdint>
#include <vector>

#include "verify/value.h"

namespace tilelang_ascend_sched::verify {

// `sum of terms <= bound` was taken to be `holds`.
struct Decision {
  std::vector<Term> terms;
  int64_t bound;
  bool holds;
  int depth;      // so many loops stood around the statement that asked
  int loop = -1;  // whose end was asked for, as a number of the walk; -1 if none was
};

}  // namespace tilelang_ascend_sched::verify
