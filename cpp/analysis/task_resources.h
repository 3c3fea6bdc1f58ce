#pragma once

#include <tvm/tirx/stmt.h>

#include "hw/machine.h"

namespace tilelang_ascend_sched {

// What the code of a task occupies.
struct TaskResources {
  PipeMask pipes = 0;  // Scalar where no other pipe is in use
  PortMask ports = 0;  // of its copies between memories
  bool writes_core_state = false;
};

// The cores that have what these resources are; none where any core has.
CoreMask CoresWith(const TaskResources& resources);

// Blocks inside `stmt` count as one operation each.
TaskResources ResourcesOf(const tvm::tirx::Stmt& stmt, const Machine& machine);

}  // namespace tilelang_ascend_sched
