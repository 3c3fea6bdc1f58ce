// Stores of a SIMD body that a later load of it may overtake.
//
// Loads and stores of a body go down pipelines of their own, vector and scalar ones; only
// asc_mem_bar makes one wait for another (the vendor's C API reference, asc_mem_bar). Scalar
// accesses keep their order among themselves.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "emu/issue.h"

namespace emu {

class SimdOrder {
 public:
  // A body starts; whatever ran before it is complete.
  void begin();
  void store(uint64_t offset, uint64_t bytes, bool vector, uint32_t line);
  // The first byte of UB that the load may see too early; -1: none.
  int64_t load(uint64_t offset, uint64_t bytes, bool vector) const;
  void barrier(MemBarrier which);

  // The line of the last store to the byte in this body.
  uint32_t line_of_store(uint64_t offset) const { return line_[offset]; }

 private:
  enum Flow { kVectorVector, kVectorScalar, kScalarVector, kFlows };

  // Bytes stored since the last barrier, one bit each, and the words that may hold some.
  struct Pending {
    std::vector<uint64_t> bits;
    uint64_t low = ~0ull, high = 0;
    void add(uint64_t offset, uint64_t bytes);
    int64_t first_in(uint64_t offset, uint64_t bytes) const;
    void clear();
  };
  std::array<Pending, kFlows> pending_;
  std::vector<uint32_t> line_;
};

}  // namespace emu
