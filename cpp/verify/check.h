#pragma once

#include <tvm/tirx/function.h>

#include <string>
#include <vector>

#include "verify/finding.h"

namespace tilelang_ascend_sched::verify {

enum class Verdict { kProven, kRefused, kNotProven };

struct Report {
  std::string kernel;
  Verdict verdict = Verdict::kProven;
  std::vector<Finding> findings;
  std::vector<std::string> assumptions;
  int paths = 0;
  int64_t events = 0;
};

// Checks the synchronization of a device function as MergeUBAllocations and RewriteFlagToBuf leave
// it. Only `kProven` says that every run is right, under the assumptions.
Report Check(const tvm::tirx::PrimFunc& kernel);

std::string ToJson(const Report& report);

}  // namespace tilelang_ascend_sched::verify
