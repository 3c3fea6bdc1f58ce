#pragma once

#include <tvm/ir/module.h>

#include "verify/program.h"

namespace tilelang_ascend_sched::verify {

// Reads what `T.assume_no_conflict` says off the kernels before NormalizeConflictHints takes it
// out, and marks the accesses of the lowered kernel that a hint names. Those are told by the
// user's lines: an access is named if the statements on its line that touch the buffer as it does
// all stay within the region of the hint.
void ApplyHints(const tvm::IRModule& hinted, Program* program);

}  // namespace tilelang_ascend_sched::verify
