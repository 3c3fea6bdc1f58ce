#pragma once

#include <tvm/tirx/stmt.h>

#include <unordered_map>

#include "analysis/cost/cost.h"
#include "hw/machine.h"
#include "ir/facts.h"

namespace tilelang_ascend_sched {

// Costs of the candidates of a T.PerCoreTask, by their markers.
using CandidateCosts = std::unordered_map<const tvm::tirx::AttrStmtNode*, Cost>;

// The cost of a T.PerCoreTask: each core runs one of its candidates. Waits for other cores part the
// body into phases; candidates of one phase run at the same time on their cores, phases follow each
// other. A task with waits does not overlap with its next run. Throws InternalError for a wait
// inside a branch or expression, and for a parallel loop around candidates.
Cost CostOfPerCoreTask(const tvm::tirx::Stmt& body, const CandidateCosts& candidates,
                       const Facts& facts, const Machine& machine);

}  // namespace tilelang_ascend_sched
