#pragma once

#include <tvm/tirx/stmt.h>

#include <cstdint>

#include "hw/scope.h"
#include "ir/facts.h"

namespace tilelang_ascend_sched {

// The memory that a buffer lies in.
Scope MemoryOf(const tvm::tirx::Buffer& buffer);

// How many elements a region has at most.
struct ElementBound {
  int64_t elements = 1;
  // False if nothing bounds some dimension, which then counts as one element.
  bool reliable = true;
};

// A dimension is bounded by its extent, by what the facts say of it, and by the buffer's shape.
ElementBound BoundElements(const tvm::tirx::Buffer& buffer,
                           const tvm::ffi::Array<tvm::Range>& region, FactAnalyzer* facts);

// Bytes of so many elements; fractions of a byte count as one.
int64_t BytesOf(int64_t elements, tvm::DataType dtype);

// The largest value that the facts leave open, or nothing if it is unknown: then the type alone, or
// nothing at all, bounds the expression.
std::optional<int64_t> LargestValue(const tvm::PrimExpr& expr, FactAnalyzer* facts);

// The smallest value if that is positive; 0 otherwise.
int64_t SmallestPositive(const tvm::PrimExpr& expr, FactAnalyzer* facts);

// Iterations of a serial loop, at most; `unknown` if nothing bounds them.
int64_t TripCount(const tvm::tirx::ForNode* loop, int64_t unknown, FactAnalyzer* facts);

}  // namespace tilelang_ascend_sched
