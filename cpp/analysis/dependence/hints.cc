#include "analysis/dependence/hints.h"

#include <tvm/arith/analyzer.h>
#include <tvm/tirx/analysis.h>
#include <tvm/tirx/op.h>

#include "analysis/accesses.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::PrimExpr;
using tvm::Range;
using tvm::ffi::Any;
using tvm::ffi::Array;

namespace {

HintOperand OperandOf(const Any& operand) {
  if (auto storage = operand.as<Var>()) return *storage;
  return operand.cast<BufferRegion>();
}

bool Within(const Range& part, const Range& whole) {
  const ExprDeepEqual equal;
  const int64_t* length = as_const_int(part->extent);
  const int64_t* most = as_const_int(whole->extent);
  if (equal(part->min, whole->min)) {
    return (length && most) ? *length <= *most : equal(part->extent, whole->extent);
  }
  const int64_t* first = as_const_int(part->min);
  const int64_t* begin = as_const_int(whole->min);
  return first && begin && length && most && *begin <= *first && *first + *length <= *begin + *most;
}

}  // namespace

ConflictHints::ConflictHints(const tvm::ffi::Optional<Any>& annotation) {
  if (!annotation.has_value()) return;
  for (const Any& entry : annotation.value().cast<Array<Any>>()) {
    const auto hint = entry.cast<Array<Any>>();
    const int64_t across = hint[2].cast<tvm::IntImm>()->value;
    hints_.push_back({OperandOf(hint[0]), OperandOf(hint[1]),
                      across < 0 ? std::nullopt : std::optional<bool>(across == 1),
                      hint[3].cast<tvm::IntImm>()->value != 0});
  }
}

ConflictHints::Verdict ConflictHints::Of(const Site& a, const Site& b, bool across_iterations) {
  Verdict verdict = Verdict::kNothing;
  for (const Hint& hint : hints_) {
    if (!hint.SpeaksOf(across_iterations)) continue;
    const bool named =
        (Names(hint.a, a) && Names(hint.b, b)) || (Names(hint.a, b) && Names(hint.b, a));
    if (!named) continue;
    if (hint.conflict) return Verdict::kConflict;
    verdict = Verdict::kNoConflict;
  }
  return verdict;
}

bool ConflictHints::Names(const HintOperand& operand, const Site& site) {
  const Access& access = site.access;
  if (const auto* storage = std::get_if<Var>(&operand)) {
    return access.storage.kind == Storage::Kind::kMemory && access.storage.var.same_as(*storage);
  }
  const auto& named = std::get<BufferRegion>(operand);
  if (!access.bounded || !access.region.buffer.same_as(named->buffer)) return false;
  const BufferRegion box = BoxOf(access.region, /*threads=*/true);
  // What has to be proven: the dimensions that do not agree as they are written. Those that do may
  // be read from memory, of which nothing is proven.
  const Range one = Range::FromMinExtent(0, 1);
  Array<Range> part;
  Array<Range> whole;
  bool open = false;
  for (size_t axis = 0; axis < named->region.size(); ++axis) {
    const bool within = Within(box->region[axis], named->region[axis]);
    part.push_back(within ? one : box->region[axis]);
    whole.push_back(within ? one : named->region[axis]);
    open = open || !within;
  }
  if (!open) return true;
  const Prover::Piece piece{{named->buffer, whole, {}}, PrimExpr()};
  return prover_.Covers({piece}, {named->buffer, part, {}}, site.facts.Replaced({}, 0));
}

}  // namespace tilelang_ascend_sched
