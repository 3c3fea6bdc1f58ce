#pragma once

#include <cstdint>
#include <vector>

#include "verify/program.h"

namespace tilelang_ascend_sched::verify {

// Whether `expr` is `factor * slot + constant`.
bool LinearIn(const Program& program, Expr expr, Slot slot, int64_t* factor, int64_t* constant);

// Beyond `value` of a loop's variable a condition cannot hold, until the loop begins anew.
struct Most {
  Slot slot;
  int64_t value;
};

// What `condition` says of the variables of loops in this way.
std::vector<Most> MostIn(const Program& program, Expr condition);

}  // namespace tilelang_ascend_sched::verify
