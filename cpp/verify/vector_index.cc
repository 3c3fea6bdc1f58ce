#include "verify/vector_index.h"

#include <tvm/tirx/expr_functor.h>

#include <algorithm>
#include <vector>

namespace tilelang_ascend_sched::verify {

using namespace tvm::tirx;
using tvm::IntImmNode;
using tvm::PrimExpr;

namespace {

// `factor * [0, count)` elements; `count` is a bound if `exact_count` tells the number.
struct Dimension {
  int64_t factor;
  int64_t count;
  Expr exact_count = kNone;
};

// An index as a number that all threads share, and a sum of dimensions.
class Splitter : private ExprFunctor<void(const PrimExpr&, int64_t)> {
 public:
  Splitter(VectorScope* scope, ExprDecoder* exprs)
      : outer(exprs->Constant(0)), scope_(*scope), exprs_(*exprs) {}

  // Adds `factor * expr`.
  void Split(const PrimExpr& expr, int64_t factor) {
    const bool lanes = expr.as<RampNode>() != nullptr || expr.as<BroadcastNode>() != nullptr;
    if (!lanes && !scope_.DependsOnInner(expr)) {
      AddOuter(exprs_.Times(exprs_.Compile(expr), factor));
    } else {
      VisitExpr(expr, factor);
    }
  }

  Expr outer;
  std::vector<Dimension> dimensions;
  bool approximate = false;
  bool anywhere = false;

 private:
  void AddOuter(Expr number) { outer = exprs_.Add(outer, number); }

  void VisitExpr_(const RampNode* ramp, int64_t factor) final {
    Split(ramp->base, factor);
    const auto* step = ramp->stride.as<IntImmNode>();
    const auto* lanes = ramp->lanes.as<IntImmNode>();
    if (step != nullptr && lanes != nullptr) {
      dimensions.push_back({factor * step->value, lanes->value});
    } else {
      anywhere = true;
    }
  }

  void VisitExpr_(const BroadcastNode* broadcast, int64_t factor) final {
    Split(broadcast->value, factor);
  }

  void VisitExpr_(const CastNode* cast, int64_t factor) final { Split(cast->value, factor); }

  void VisitExpr_(const AddNode* sum, int64_t factor) final {
    Split(sum->a, factor);
    Split(sum->b, factor);
  }

  void VisitExpr_(const SubNode* difference, int64_t factor) final {
    Split(difference->a, factor);
    Split(difference->b, -factor);
  }

  void VisitExpr_(const MulNode* product, int64_t factor) final {
    const auto* left = product->a.as<IntImmNode>();
    const auto* right = product->b.as<IntImmNode>();
    if (right != nullptr) {
      Split(product->a, factor * right->value);
    } else if (left != nullptr) {
      Split(product->b, factor * left->value);
    } else {
      AddLimits(tvm::ffi::GetRef<PrimExpr>(product), factor);
    }
  }

  void VisitExpr_(const VarNode* var, int64_t factor) final {
    const InnerVariable* inner = scope_.Inner(var);
    if (const PrimExpr* value = scope_.BoundTo(var)) {
      Split(*value, factor);
    } else if (inner != nullptr && inner->count >= 0) {
      AddOuter(exprs_.Constant(factor * inner->minimum));
      dimensions.push_back({factor, inner->count, inner->exact_count});
      approximate = approximate || !inner->exact;
    } else {
      AddLimits(tvm::ffi::GetRef<PrimExpr>(var), factor);
    }
  }

  void VisitExpr_(const FloorDivNode* quotient, int64_t factor) final {
    const auto* by = quotient->b.as<IntImmNode>();
    const InnerVariable* inner = FromZero(quotient->a);
    if (inner != nullptr && by != nullptr) {
      dimensions.push_back({factor, (inner->count - 1) / by->value + 1});
    } else {
      AddLimits(tvm::ffi::GetRef<PrimExpr>(quotient), factor);
    }
  }

  void VisitExpr_(const FloorModNode* rest, int64_t factor) final {
    const auto* by = rest->b.as<IntImmNode>();
    const InnerVariable* inner = FromZero(rest->a);
    if (inner != nullptr && by != nullptr) {
      dimensions.push_back({factor, std::min(inner->count, by->value)});
    } else {
      AddLimits(tvm::ffi::GetRef<PrimExpr>(rest), factor);
    }
  }

  void VisitExprDefault_(const tvm::ffi::Object* expr, int64_t factor) final {
    AddLimits(tvm::ffi::GetRef<PrimExpr>(static_cast<const tvm::PrimExprNode*>(expr)), factor);
  }

  // An inner variable that counts from 0 on, or null.
  const InnerVariable* FromZero(const PrimExpr& expr) {
    const auto* var = expr.as<VarNode>();
    const InnerVariable* inner = var == nullptr ? nullptr : scope_.Inner(var);
    return inner != nullptr && inner->minimum == 0 && inner->count > 0 ? inner : nullptr;
  }

  // Anything between the least and the largest number that `expr` can be.
  void AddLimits(const PrimExpr& expr, int64_t factor) {
    const auto limits = scope_.LimitsOf(expr);
    approximate = true;
    if (limits->min_value > -kUnbounded && limits->max_value < kUnbounded) {
      AddOuter(exprs_.Constant(factor * limits->min_value));
      dimensions.push_back({factor, limits->max_value - limits->min_value + 1});
    } else {
      anywhere = true;
    }
  }

  VectorScope& scope_;
  ExprDecoder& exprs_;
};

// Leaves out dimensions of one element and turns round those that count down; returns where the
// first element then is.
int64_t Order(Splitter* split) {
  int64_t begin = 0;
  std::vector<Dimension> ordered;
  for (Dimension dimension : split->dimensions) {
    const bool one = dimension.count <= 1 && dimension.exact_count == kNone;
    if (one || dimension.factor == 0) continue;
    if (dimension.factor < 0) {
      if (dimension.exact_count != kNone) split->approximate = true;
      begin += dimension.factor * (dimension.count - 1);
      dimension.factor = -dimension.factor;
    }
    ordered.push_back(dimension);
  }
  std::sort(ordered.begin(), ordered.end(),
            [](const Dimension& a, const Dimension& b) { return a.factor < b.factor; });
  split->dimensions = std::move(ordered);
  return begin;
}

}  // namespace

Footprint FootprintOf(const PrimExpr& index, int64_t extent, VectorScope* scope,
                      ExprDecoder* exprs) {
  Splitter split(scope, exprs);
  split.Split(index, 1);
  if (extent > 1) split.dimensions.push_back({1, extent});
  const int64_t first = Order(&split);
  Footprint all;
  // The number of turns of the widest dimension may be an expression; of others only its bound.
  for (size_t i = 0; i < split.dimensions.size(); ++i) {
    const Dimension& dimension = split.dimensions[i];
    const bool exact = dimension.exact_count != kNone;
    if (exact && i + 1 < split.dimensions.size()) split.approximate = true;
    if (dimension.factor <= all.run && all.rows == 1) {
      if (exact) {
        const Expr more = exprs->Add(dimension.exact_count, exprs->Constant(-1));
        all.exact_run = exprs->Add(exprs->Constant(all.run), exprs->Times(more, dimension.factor));
      }
      all.run += dimension.factor * (dimension.count - 1);
    } else if (all.rows == 1) {
      all.rows = dimension.count;
      all.stride = dimension.factor;
      if (exact) all.exact_rows = dimension.exact_count;
    } else if (dimension.factor <= all.stride * all.rows && dimension.factor % all.stride == 0) {
      all.rows += dimension.factor / all.stride * (dimension.count - 1);
      if (exact) split.approximate = true;
    } else {
      // More than two levels: everything from the first element to the last.
      all.run += all.stride * (all.rows - 1) + dimension.factor * (dimension.count - 1);
      all.rows = 1;
      split.approximate = true;
    }
  }
  all.begin = exprs->Add(split.outer, exprs->Constant(first));
  all.anywhere = split.anywhere;
  all.approximate = split.approximate;
  return all;
}

}  // namespace tilelang_ascend_sched::verify
