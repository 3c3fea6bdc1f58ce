// Loads and stores of a SIMD body that may overtake each other.
//
// Loads and stores of a body go down pipelines of their own, vector and scalar ones, each in order;
// only asc_mem_bar makes one wait for another (the vendor's C API reference, asc_mem_bar), and a
// store for the registers that it takes. So a load may overtake a store before it, and a store a
// load before it, unless it or a store before it takes what came with that load or a later one.
// Scalar accesses keep their order among themselves.
#pragma once

#include <algorithm>
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

  // The load with this number, counted from 0 in the body, of the vector unit.
  void vector_load(uint32_t number, uint64_t offset, uint64_t bytes);
  // The next store waits for this many loads, and with it those after it.
  void awaits(uint32_t loads) { awaited_ = std::max(awaited_, loads); }
  // The loads that a store may overtake, by byte.
  struct Overtaken {
    uint32_t offset, load;
  };
  void overtaken(uint64_t offset, uint64_t bytes, bool vector, std::vector<Overtaken>& found) const;

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

  // Numbers of loads go on from body to body here: the last one of each byte, the first of this
  // body, and the next.
  std::vector<uint64_t> loaded_;
  uint64_t first_ = 1, next_ = 1;
  // Loads of this body that a vector or scalar store cannot overtake.
  uint32_t awaited_ = 0, awaited_by_scalar_ = 0;
};

}  // namespace emu
