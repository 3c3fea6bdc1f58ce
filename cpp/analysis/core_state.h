#pragma once

#include <tvm/tirx/expr.h>

#include <string>
#include <vector>

#include "hw/pipe.h"

namespace tilelang_ascend_sched {

// State of a core that calls change and later work runs under. Each has a name, which is also what
// users see: "hf32 mode", "mmad direction", "pad value", "atomic mode", "exit of loop", "locks",
// "flags MTE2_V", "order of MTE2", "external calls".

// Leaving a loop by `loop_break`: all work of the loop stands under it.
inline constexpr const char* kLoopExit = "exit of loop";

// That of a pipe: whoever writes it comes after all that the pipe was given before, and before all
// that it is given later.
std::string OrderOf(Pipe pipe);

struct StateUse {
  std::string name;
  bool write = false;
};

// The states that a call reads or changes itself. Synchronization written by hand changes the order
// of the pipe that it stands on.
std::vector<StateUse> StatesOf(const tvm::tirx::CallNode* call);

// The states under which work on these pipes runs: their order, and the modes of the Cube.
std::vector<StateUse> StatesUnder(PipeMask pipes);

}  // namespace tilelang_ascend_sched
