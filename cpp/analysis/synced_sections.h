#pragma once

#include <tvm/tirx/stmt.h>

#include <optional>

namespace tilelang_ascend_sched {

// A kernel root, and the launch of its AIV index where the kernel has one.
struct OpenedRoot {
  tvm::tirx::SBlock root;
  std::optional<tvm::tirx::IterVar> aiv;
};

// Puts the statements of each `T.Cube` and `T.Vector` block that holds cross-core synchronization
// in the block's place, with its buffers among the root's: as one task the block would have to stay
// whole, and nothing would order the synchronization against the work that it guards. Other blocks
// stay. `aiv` is the index launched around the kernel, if any; blocks that launch one of their own
// get that one, or theirs is launched around the kernel.
//
// Where blocks of both cores are opened, each is put into a loop of one iteration, since TileLang
// takes all uses of an id in one list of units to be of one core; and beside synchronization of a
// pipe that both cores have stands a never executed one of the block's core, which tells which.
// InternalError for synchronization of a pipe that the block's core does not have.
OpenedRoot OpenSyncedSections(const tvm::tirx::SBlock& root, std::optional<tvm::tirx::IterVar> aiv);

}  // namespace tilelang_ascend_sched
