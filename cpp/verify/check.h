#pragma once

#include <tvm/ir/module.h>
#include <tvm/tirx/function.h>

#include <string>
#include <vector>

#include "verify/chip.h"
#include "verify/finding.h"

namespace tilelang_ascend_sched::verify {

enum class Verdict { kProven, kRefused, kNotProven };

struct Report {
  std::string kernel;
  Verdict verdict = Verdict::kProven;
  std::vector<Finding> findings;
  std::vector<std::string> assumptions;
  std::vector<std::string> unused_hints;
  int paths = 0;
  int64_t events = 0;
};

// Checks the synchronization of a device function as MergeUBAllocations and RewriteFlagToBuf leave
// it. Only `kProven` says that every run is right, under the assumptions. `unpacked` is the
// function before MergeUBAllocations, from which the check learns which buffer an address belongs
// to; `hinted` the module before NormalizeConflictHints, which still holds the hints. Without
// `skips` loops whose number of turns is known are executed in full. `chip`: that it is for.
Report Check(const tvm::tirx::PrimFunc& kernel,
             const tvm::ffi::Optional<tvm::tirx::PrimFunc>& unpacked,
             const tvm::ffi::Optional<tvm::IRModule>& hinted, bool skips, const Chip& chip);

std::string ToJson(const Report& report);

}  // namespace tilelang_ascend_sched::verify
