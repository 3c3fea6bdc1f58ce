#pragma once

#include <tvm/tirx/expr.h>
#include <tvm/tirx/stmt.h>

#include <optional>
#include <string>

#include "hw/machine.h"

namespace tilelang_ascend_sched {

// The ends of a tile copy; nothing for any other call.
struct CopyEnds {
  tvm::tirx::Buffer from;
  tvm::tirx::Buffer to;
};
std::optional<CopyEnds> AsCopy(const tvm::tirx::CallNode* call);

// The name by which the hardware file knows what is called: of an operation its own; for an
// external function "extern " and the function's.
std::string OperationName(const tvm::tirx::CallNode* call);

// The pipes on which the work of a call runs: those of tile operations by the memories they join,
// those of others by name. Empty for calls that do no work of their own on a pipe, for
// synchronization (which says only where it waits), and for calls that are not known.
PipeMask CallPipes(const tvm::tirx::CallNode* call, const Machine& machine);

// The memory ports that a call holds.
PortMask CallPorts(const tvm::tirx::CallNode* call, const Machine& machine);

// True if the machine says what the call occupies.
bool IsKnownOperation(const tvm::tirx::CallNode* call, const Machine& machine);

// The pipe of a block that is one task: Vector for SIMD and SIMT bodies, empty for others.
PipeMask BlockPipes(const tvm::tirx::SBlockNode* block);

// True for setting a cross-core flag or waiting for it.
bool IsCrossCoreSync(const tvm::tirx::CallNode* call);

// True for calls whose effect is a change of core state that later instructions run under: leaving
// a loop, HF32 mode, matrix direction, pad value, atomic mode, and cross-core flags.
bool WritesCoreState(const tvm::tirx::CallNode* call);

}  // namespace tilelang_ascend_sched
