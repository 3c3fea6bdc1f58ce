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
  // The bytes that the load may see too early, each with the line of the store.
  struct Early {
    uint32_t offset, store_line;
  };
  void load(uint64_t offset, uint64_t bytes, bool vector, std::vector<Early>& found) const;
  void barrier(MemBarrier which);

 private:
  enum Flow { kVectorVector, kVectorScalar, kScalarVector, kFlows };

  // Bytes stored since the last barrier, one bit each, and the words that may hold some.
  struct Pending {
    std::vector<uint64_t> bits;
    uint64_t low = ~0ull, high = 0;
    void add(uint64_t offset, uint64_t bytes);
    bool touches(uint64_t offset, uint64_t bytes) const {
      return offset / 64 < high && (offset + bytes) / 64 >= low;
    }
    void clear();
  };
  std::array<Pending, kFlows> pending_;
  std::vector<uint32_t> line_;
};

}  // namespace emu
