#pragma once

#include <tvm/tirx/stmt.h>

#include <vector>

namespace tilelang_ascend_sched {

// What one statement may read and write, over all that its own loops do: per buffer the smallest
// box that is known to hold every access, or the whole buffer where nothing is known of an index.
// Variables of loops and bindings outside the statement stay in the boxes' bounds.
struct Accesses {
  std::vector<tvm::tirx::BufferRegion> reads;
  std::vector<tvm::tirx::BufferRegion> writes;
};

// Counted are loads, stores, the regions of tile operations and the pointers of instructions, as
// far as their access mask says; the accesses of a reduction follow its operands' masks too. Throws
// InternalError for an access with another number of indices than its buffer has dimensions.
Accesses AccessesOf(const tvm::tirx::Stmt& stmt);

}  // namespace tilelang_ascend_sched
