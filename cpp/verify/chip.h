#pragma once

#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/string.h>

#include <array>

#include "verify/machine.h"

namespace tilelang_ascend_sched::verify {

inline constexpr int kMostIds = 4096;  // by which flags are told apart

// What a chip has of memory and of ids, and which of its pipes complete in order.
struct Chip {
  // Bytes. A SIMT function takes some of UB for its own stack.
  int64_t ub, ub_with_simt, l1, l0a, l0b, l0c;
  int64_t flag_ids;            // of one (set pipe, wait pipe) pair, at most kMostIds
  int64_t lock_ids;            // of one core
  int64_t cross_flag_ids;      // of one (AIC, AIV) pair and direction, at most kCrossFlagIds
  int64_t cross_flag_maximum;  // what a cross-core flag counts to
  std::array<bool, kPipes> in_order;

  // From numbers by these names and the names of the pipes. Throws for one that is missing.
  static Chip Of(const tvm::ffi::Map<tvm::ffi::String, int64_t>& numbers,
                 const tvm::ffi::Array<tvm::ffi::String>& in_order);

  // Bytes; of a scale shadow one for 16 bytes of data.
  int64_t CapacityOf(Space space, bool has_simt) const;
  bool CompletesInOrder(Pipe pipe) const { return in_order[static_cast<int>(pipe)]; }
};

}  // namespace tilelang_ascend_sched::verify
