#pragma once

#include <tvm/ir/transform.h>

namespace tilelang_ascend_sched {

// The pass `tl.NormalizeControlFlowForSchedule`: NormalizeControlFlow (analysis/control_flow.h) for
// the body of each kernel.
tvm::transform::Pass NormalizeControlFlowForSchedule();

}  // namespace tilelang_ascend_sched
