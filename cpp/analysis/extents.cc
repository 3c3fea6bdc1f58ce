#include "analysis/extents.h"

#include <tvm/tirx/op.h>

#include "hw/transfer_cost.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::DataType;
using tvm::PrimExpr;
using tvm::Range;
using tvm::arith::ConstIntBound;

namespace {

// What a variable of this type can hold at most.
int64_t LargestOfType(DataType dtype) {
  return tvm::arith::Analyzer().const_int_bound(Var("any", dtype))->max_value;
}

// The analyzer's upper bound if it is a number of 0 or more.
std::optional<int64_t> FiniteUpperBound(const PrimExpr& expr, FactAnalyzer* facts) {
  const int64_t most = (*facts)->const_int_bound(expr)->max_value;
  if (most < 0 || most == ConstIntBound::kPosInf) return std::nullopt;
  return most;
}

}  // namespace

Scope MemoryOf(const Buffer& buffer) { return ParseScope(std::string(buffer.scope())); }

std::optional<int64_t> LargestValue(const PrimExpr& expr, FactAnalyzer* facts) {
  if (const int64_t* constant = as_const_int(expr)) return *constant;
  const std::optional<int64_t> most = FiniteUpperBound(expr, facts);
  if (!most || *most >= LargestOfType(expr.dtype())) return std::nullopt;
  return most;
}

int64_t SmallestPositive(const PrimExpr& expr, FactAnalyzer* facts) {
  if (const int64_t* constant = as_const_int(expr)) return std::max<int64_t>(*constant, 0);
  return std::max<int64_t>((*facts)->const_int_bound(expr)->min_value, 0);
}

ElementBound BoundElements(const Buffer& buffer, const tvm::ffi::Array<Range>& region,
                           FactAnalyzer* facts) {
  ElementBound bound;
  for (size_t i = 0; i < region.size(); ++i) {
    const PrimExpr& extent = region[i]->extent;
    const int64_t* constant = as_const_int(extent);
    const int64_t* shape = i < buffer->shape.size() ? as_const_int(buffer->shape[i]) : nullptr;
    std::optional<int64_t> most;
    if (constant != nullptr) {
      most = std::max<int64_t>(*constant, 0);
    } else if (shape != nullptr) {
      most = std::min(FiniteUpperBound(extent, facts).value_or(*shape), *shape);
    } else {
      most = LargestValue(extent, facts);
    }
    bound.reliable = bound.reliable && most.has_value();
    bound.elements = SaturatingMultiply(bound.elements, most.value_or(1));
  }
  return bound;
}

int64_t BytesOf(int64_t elements, DataType dtype) {
  return CeilDiv(SaturatingMultiply(elements, dtype.bits() * dtype.lanes()), 8);
}

int64_t TripCount(const ForNode* loop, int64_t unknown, FactAnalyzer* facts) {
  const int64_t extent = LargestValue(loop->extent, facts).value_or(unknown);
  if (extent <= 0) return 0;
  // A step that is not known may be as small as one.
  const int64_t* step = loop->step.has_value() ? as_const_int(loop->step.value()) : nullptr;
  return step != nullptr && *step > 0 ? CeilDiv(extent, *step) : extent;
}

}  // namespace tilelang_ascend_sched
