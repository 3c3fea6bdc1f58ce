#include "analysis/dependence/layout.h"

#include <tvm/tirx/analysis.h>
#include <tvm/tirx/op.h>

#include <string>

#include "analysis/extents.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::DataType;
using tvm::PrimExpr;
using tvm::Range;
using tvm::ffi::Array;

namespace {

bool Equal(const Array<PrimExpr>& a, const Array<PrimExpr>& b) {
  if (a.size() != b.size()) return false;
  const ExprDeepEqual equal;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!equal(a[i], b[i])) return false;
  }
  return true;
}

// True unless constant strides show that two elements share a place.
bool ElementsAreApart(const Buffer& buffer) {
  for (size_t i = 0; i < buffer->strides.size(); ++i) {
    const int64_t* stride = as_const_int(buffer->strides[i]);
    const bool last = i + 1 == buffer->strides.size();
    const int64_t* inner = last ? nullptr : as_const_int(buffer->strides[i + 1]);
    const int64_t* count = last ? nullptr : as_const_int(buffer->shape[i + 1]);
    if (stride == nullptr) continue;
    if (*stride < 1) return false;
    if (inner != nullptr && count != nullptr && *stride < *inner * *count) return false;
  }
  return true;
}

bool FollowsStrides(const Buffer& buffer) {
  const std::string scope = buffer.scope();
  return MemoryOf(buffer) == Scope::kGlobal || MemoryOf(buffer) == Scope::kUB ||
         scope == "local.var";
}

PrimExpr Wide(const PrimExpr& expr) { return cast(DataType::Int(64), expr); }

bool IsRowMajor(const Buffer& buffer) {
  if (buffer->strides.empty()) return true;
  PrimExpr expected = make_const(buffer->strides.back().dtype(), 1);
  tvm::arith::Analyzer analyzer;
  for (size_t i = buffer->shape.size(); i-- > 0;) {
    if (!analyzer.CanProveEqual(buffer->strides[i], expected)) return false;
    expected = expected * buffer->shape[i];
  }
  return true;
}

Array<PrimExpr> Strides(const Buffer& buffer) {
  if (!buffer->strides.empty()) return buffer->strides;
  std::vector<PrimExpr> strides(buffer->shape.size());
  PrimExpr stride = make_const(DataType::Int(64), 1);
  for (size_t i = buffer->shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride = stride * Wide(buffer->shape[i]);
  }
  return Array<PrimExpr>(strides.begin(), strides.end());
}

// The number of trailing dimensions that the box fills as one run of elements: all of them whole
// but the first.
size_t RunDimensions(const Region& region) {
  if (!IsRowMajor(region.buffer)) return 0;
  const ExprDeepEqual equal;
  size_t run = region.box.empty() ? 0 : 1;
  while (run < region.box.size()) {
    const size_t axis = region.box.size() - run;
    const Range& range = region.box[axis];
    const int64_t* extent = as_const_int(range->extent);
    const int64_t* length = as_const_int(region.buffer->shape[axis]);
    const bool whole =
        is_zero(range->min) &&
        (extent && length ? *extent == *length : equal(range->extent, region.buffer->shape[axis]));
    if (!whole) break;
    ++run;
  }
  return run;
}

Range Bits(const Region& region, const char* name, Facts* facts) {
  const Buffer& buffer = region.buffer;
  const Array<PrimExpr> strides = Strides(buffer);
  const size_t before = region.box.size() - RunDimensions(region);
  PrimExpr first = Wide(buffer->elem_offset);
  PrimExpr count = make_const(DataType::Int(64), 1);
  for (size_t i = 0; i < region.box.size(); ++i) {
    const Range& range = region.box[i];
    first = first + Wide(range->min) * Wide(strides[i]);
    if (i >= before) {
      count = count * Wide(range->extent);
    } else if (!is_one(range->extent)) {
      const Var element(name + std::to_string(i), DataType::Int(64));
      facts->AddRange(element,
                      Range::FromMinExtent(make_zero(element.dtype()), Wide(range->extent)));
      facts->AddCondition(range->extent > 0);
      first = first + element * Wide(strides[i]);
    }
  }
  const PrimExpr bits = make_const(DataType::Int(64), buffer->dtype.bits() * buffer->dtype.lanes());
  return Range::FromMinExtent(first * bits, count * bits);
}

}  // namespace

bool SameLayout(const Buffer& a, const Buffer& b) {
  if (!ElementsAreApart(a)) return false;
  if (a.same_as(b)) return true;
  return a->data.same_as(b->data) && a->dtype == b->dtype && Equal(a->shape, b->shape) &&
         Equal(a->strides, b->strides) && ExprDeepEqual()(a->elem_offset, b->elem_offset);
}

std::optional<std::pair<Range, Range>> BitRanges(const Region& a, const Region& b, Facts* facts) {
  if (!FollowsStrides(a.buffer) || !FollowsStrides(b.buffer)) return std::nullopt;
  const Range first = Bits(a, "element_a", facts);
  return std::make_pair(first, Bits(b, "element_b", facts));
}

}  // namespace tilelang_ascend_sched
