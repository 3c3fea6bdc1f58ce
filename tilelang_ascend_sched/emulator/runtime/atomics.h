// Stores to GM that add to, or take the maximum or minimum with, what is there.
#pragma once

#include <cstdint>

#include "emu/dma.h"

namespace emu {

// `bytes` bytes from `from` to `to`; with an atomic operation elements of `type` are combined.
// Blocks may run in several processes over the same memory: each element is exchanged atomically.
void store(void* to, const void* from, uint64_t bytes, AtomicOp op, DType type);

}  // namespace emu
