#include "analysis/cost/copy_work.h"

#include <ascend/op/ascend_mte_plan.h>
#include <ascend/op/builtin.h>
#include <ascend/op/copy.h>
#include <tvm/ffi/error.h>
#include <tvm/tirx/op.h>

#include "analysis/extents.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::DataType;
using tvm::PrimExpr;
using tvm::Range;
using tvm::ffi::Array;
using tvm::tl::AscendCopy;
using tvm::tl::AscendCopyNode;
using tvm::tl::StridedLayout;

namespace {

// How a dual copy splits its tile between the AIVs; the values are those of `dual_dst_ctl`.
constexpr int kSplitRows = 1;
constexpr int kSplitColumns = 2;

bool IsDual(const AscendCopyNode* copy) {
  return copy->dual_dst_ctl == kSplitRows || copy->dual_dst_ctl == kSplitColumns;
}

// RewriteDualCopy leaves the half of one AIV in the source; before it the destination is the half.
bool SourceIsHalf(const AscendCopyNode* copy) { return copy->annotations.count("double") != 0; }

int64_t HalfOf(int64_t elements) { return elements / 2 + elements % 2; }

int64_t DualElements(const AscendCopyNode* copy, ElementBound source, ElementBound target) {
  ElementBound& whole = SourceIsHalf(copy) ? target : source;
  whole.elements = HalfOf(whole.elements);
  if (source.reliable && target.reliable) return std::min(source.elements, target.elements);
  if (source.reliable) return source.elements;
  return target.reliable ? target.elements : 1;
}

PrimExpr CountExpr(const Array<Range>& region) {
  PrimExpr count = make_const(DataType::Int(64), 1);
  for (const Range& range : region) count = count * cast(DataType::Int(64), range->extent);
  return count;
}

// The two regions of a copy have equally many elements, or should: a bound of one is one of the
// other.
int64_t PlainElements(const AscendCopyNode* copy, const ElementBound& source,
                      const ElementBound& target, FactAnalyzer* facts) {
  if (source.elements == target.elements && source.reliable) return source.elements;
  if (!target.reliable) return source.elements;
  const bool same = (*facts)->CanProveEqual(CountExpr(copy->src_range), CountExpr(copy->dst_range));
  if (!same) return source.elements;
  return source.reliable ? std::min(source.elements, target.elements) : target.elements;
}

int64_t CopiedBytes(const AscendCopyNode* copy, FactAnalyzer* facts) {
  const ElementBound source = BoundElements(copy->src, copy->src_range, facts);
  const ElementBound target = BoundElements(copy->dst, copy->dst_range, facts);
  const int64_t elements = IsDual(copy) ? DualElements(copy, source, target)
                                        : PlainElements(copy, source, target, facts);
  return BytesOf(elements, copy->dst->dtype);
}

// One end of a copy.
struct Side {
  Buffer buffer;
  Array<Range> region;

  bool is_whole() const { return !region.empty() && region.size() == buffer->shape.size(); }

  StridedLayout Layout(FactAnalyzer* facts) const {
    const int bits = buffer->dtype.bits() * buffer->dtype.lanes();
    return StridedLayout::FromBufferRange(buffer, region, bits).Coalesce(facts->get());
  }
};

// A descriptor has rows and columns, no more.
bool FitsDescriptor(const StridedLayout& layout) {
  return layout.modes.size() == 1 || layout.modes.size() == 2;
}

// The regions of a dual copy with the half's extent on both sides.
void HalveWholeRegion(const AscendCopyNode* copy, Array<Range>* source, Array<Range>* target) {
  auto split_axis = [copy](const Array<Range>& region) -> size_t {
    if (region.size() == 1) return 0;
    return region.size() - (copy->dual_dst_ctl == kSplitRows ? 2 : 1);
  };
  Array<Range>* half = SourceIsHalf(copy) ? source : target;
  Array<Range>* whole = SourceIsHalf(copy) ? target : source;
  const size_t axis = split_axis(*whole);
  const Range& wide = (*whole)[axis];
  whole->Set(axis, Range::FromMinExtent(wide->min, (*half)[split_axis(*half)]->extent));
}

bool IsFixpipeDual(const AscendCopyNode* copy) {
  return IsDual(copy) && MemoryOf(copy->src) == Scope::kL0C && MemoryOf(copy->dst) == Scope::kUB &&
         copy->src_range.size() >= 2 && copy->dst_range.size() >= 2;
}

// Fills in how the copy's rows lie in memory. The layouts are those that the copy's lowering plans
// its descriptor with.
void FindRows(const AscendCopyNode* copy, FactAnalyzer* facts, CopyWork* work) {
  work->contiguous = false;
  Side from{copy->src, copy->src_range};
  Side to{copy->dst, copy->dst_range};
  if (!from.is_whole() || !to.is_whole()) return;
  for (Side* side : {&from, &to}) {
    side->region = tvm::tl::NormalizeEmptyUnitAxesForMTE(side->region, facts->get());
  }
  if (IsDual(copy)) HalveWholeRegion(copy, &from.region, &to.region);

  const StridedLayout source = from.Layout(facts);
  const StridedLayout target = to.Layout(facts);
  if (!FitsDescriptor(source) || !FitsDescriptor(target)) return;
  work->contiguous = source.modes.size() == 1 && target.modes.size() == 1;
  PrimExpr source_row = source.modes[0].size;
  PrimExpr target_row = target.modes[0].size;
  if (IsFixpipeDual(copy)) {
    source_row = tvm::tl::NormalizeTrailingMTE2DLayout(from.buffer, from.region, facts->get(),
                                                       "The source of an L0C->UB copy")
                     .modes[0]
                     .size;
    target_row = tvm::tl::NormalizeMTE2DLayout(to.buffer, to.region, facts->get(),
                                               "The destination of an L0C->UB copy")
                     .modes[0]
                     .size;
  } else if (source.modes.size() < target.modes.size()) {
    source_row = target_row;  // the run on one side is cut where the other side's rows end
  } else if (target.modes.size() < source.modes.size()) {
    target_row = source_row;
  }
  const int64_t source_elements = SmallestPositive(source_row, facts);
  const int64_t target_elements = SmallestPositive(target_row, facts);
  if (source_elements == 0 || target_elements == 0) return;
  work->row_bytes = std::min(BytesOf(source_elements, copy->src->dtype),
                             BytesOf(target_elements, copy->dst->dtype));
}

// Other routes run at one rate, however the rows lie.
bool HeedsRows(const CopyWork& work) {
  return work.dual || work.route == Route::kGmToUb || work.route == Route::kUbToGm ||
         work.route == Route::kUbToL1;
}

std::optional<CopyWork> TileCopy(const CallNode* call, FactAnalyzer* facts) {
  const AscendCopy copy(call->args, call->annotations);
  const auto route = FindRoute(MemoryOf(copy->src), MemoryOf(copy->dst));
  if (!route.has_value()) return std::nullopt;
  CopyWork work{*route};
  work.bytes = CopiedBytes(copy.get(), facts);
  work.dual = IsDual(copy.get()) && *route == Route::kL0cToUb;
  if (HeedsRows(work)) FindRows(copy.get(), facts, &work);
  return work;
}

// tl.ascend_nd2nz_post_copy(L1, UB, rows, columns, full rows, type). It goes through NZ order
// column by column, so that rows of the tile do not count.
CopyWork PostCopy(const CallNode* call, FactAnalyzer* facts) {
  const auto* type = call->args.size() == 6 ? call->args[5].as<StringImmNode>() : nullptr;
  if (type == nullptr) {
    TVM_FFI_THROW(InternalError) << "tl.ascend_nd2nz_post_copy needs 6 arguments, the last a type";
  }
  auto count = [facts](const PrimExpr& expr) -> int64_t {
    if (const int64_t* constant = as_const_int(expr)) return std::max<int64_t>(*constant, 0);
    const int64_t most = (*facts)->const_int_bound(expr)->max_value;
    return most < 0 || most == tvm::arith::ConstIntBound::kPosInf ? 1 : most;
  };
  const int64_t elements = SaturatingMultiply(count(call->args[2]), count(call->args[3]));
  const int64_t element_bytes = type->value == "float" ? 4 : 2;
  CopyWork work{Route::kUbToL1};
  work.bytes = SaturatingMultiply(elements, element_bytes);
  return work;
}

}  // namespace

std::optional<CopyWork> CopyWorkOf(const CallNode* call, FactAnalyzer* facts) {
  if (tvm::tl::IsAscendCopyCall(call)) return TileCopy(call, facts);
  if (call->op.same_as(tvm::tl::ascend_nd2nz_post_copy())) return PostCopy(call, facts);
  return std::nullopt;
}

}  // namespace tilelang_ascend_sched
