#pragma once

#include <tvm/tirx/stmt.h>

#include <vector>

#include "ir/task_tree.h"

namespace tilelang_ascend_sched {

// Checks the stages that `T.Stage` gave to the units of one list: stages other than 0 are for loops
// with `enable_offset`, and a loop with any has no `order` or `stage` of its own. `loop` is the one
// whose body the list is; nullptr for a kernel's outermost list. InternalError naming statement or
// loop, its place, and what to change.
void CheckStages(const std::vector<Unit>& units, const tvm::tirx::ForNode* loop);

}  // namespace tilelang_ascend_sched
