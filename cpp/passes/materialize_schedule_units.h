#pragma once

#include <tvm/ir/transform.h>

namespace tilelang_ascend_sched {

// The pass `tl.MaterializeScheduleUnits`: divides the code of each kernel into the units that are
// scheduled, and writes the task tree (ir/task_tree.h).
//   - `T.Task` and `T.PerCoreTask` regions are tasks; elsewhere each statement, block and parallel
//     loop is one.
//   - serial and unrolled loops are units around units; an empty body gets a task that does
//     nothing.
//   - conditions and assumptions go to the units under them, outermost first; an `else` becomes the
//     negated condition.
//   - `T.Stage` gives its stage to the units in it. In a body where it occurs, units without it
//     have stage 0; elsewhere none has a stage.
//   - synchronization written by hand stays with what it guards (analysis/hand_sync.h), and a
//     `T.Cube` or `T.Vector` block with cross-core synchronization is no task but opened
//     (analysis/synced_sections.h).
// InternalError naming the statement and its source line where a task breaks the rules of
// analysis/task_rules.h, or a `T.Stage` stands inside a task or another one.
tvm::transform::Pass MaterializeScheduleUnits();

}  // namespace tilelang_ascend_sched
