#pragma once

#include <tvm/ir/transform.h>

namespace tilelang_ascend_sched {

// The pass `tl.EstimateLatency`: writes `latency` and `ii`, in cycles, on each task of each kernel.
// Figures come from the hardware file of the pass context; what T.Task says itself is kept. Throws
// InternalError, naming kernel and source line, for statements outside any task, for a latency
// below the task's ii, and for per-core tasks that use several pipes. Called operations without a
// figure are told to the schedule report.
tvm::transform::Pass EstimateLatency();

}  // namespace tilelang_ascend_sched
