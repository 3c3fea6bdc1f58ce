#pragma once

#include <tvm/tirx/stmt.h>

#include <string>
#include <vector>

#include "hw/machine.h"
#include "ir/facts.h"

namespace tilelang_ascend_sched {

struct VectorCost {
  int64_t cycles = 0;
  // Names of the called operations that the model has no figure for, each once, in order.
  std::vector<std::string> unknown;
};

// The time of a body on the Vector pipe: the arithmetic of its statements or the bytes that it
// reads from UB and registers, whichever takes longer; what the annotation `tl.vf_latency` of its
// block says if there is one. An operation is done for all iterations of the loops on which it
// depends, so many lanes at a time; a branch costs as much as its longer side.
VectorCost VectorCostOf(const tvm::tirx::Stmt& body, const Machine& machine, FactAnalyzer* facts);

}  // namespace tilelang_ascend_sched
