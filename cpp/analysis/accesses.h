#pragma once

#include <tvm/tirx/stmt.h>

#include <vector>

#include "analysis/access.h"

namespace tilelang_ascend_sched {

// All that a statement may read and write, in the order in which it stands there:
//   - loads, stores, the regions of tile operations and the pointers of instructions, as far as
//     their access masks say;
//   - what operations do beyond their masks: accumulation onto the target of a reduction or a
//     multiply, the bytes that a padded copy fills behind each row, pointers without an extent;
//   - values of scalar bindings;
//   - the mode registers, flags, locks and pipe orders that calls set or run under, and the L0
//     bytes and locks inside the L1 GEMM templates.
// Conditional expressions and branches guard what is under them. Variables of loops and bindings
// outside the statement stay free in regions and guards.
//
// InternalError for an access with another number of indices than its buffer has dimensions.
std::vector<Access> CollectAccesses(const tvm::tirx::Stmt& stmt);
std::vector<Access> CollectAccesses(const tvm::PrimExpr& expr);

// The declared accesses, merged: per buffer the smallest box that is known to hold every access
// over all that the statement's loops do, or the whole buffer where nothing is known of an index.
// Thread indices stay in the boxes' bounds.
struct Accesses {
  std::vector<tvm::tirx::BufferRegion> reads;
  std::vector<tvm::tirx::BufferRegion> writes;
};

Accesses AccessesOf(const tvm::tirx::Stmt& stmt);

// The smallest box that is known to hold a region over all its loops and lanes, and `threads`.
tvm::tirx::BufferRegion BoxOf(const Region& region, bool threads);

}  // namespace tilelang_ascend_sched
