#include "ir/facts.h"

#include <tvm/ir/cast.h>
#include <tvm/s_tir/stmt.h>
#include <tvm/tirx/analysis.h>
#include <tvm/tirx/builtin.h>
#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>

#include <unordered_set>

#include "ir/attrs.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::Downcast;
using tvm::PrimExpr;
using tvm::Range;
using tvm::arith::Analyzer;
using tvm::arith::ConstIntBound;
using tvm::ffi::GetRef;
using tvm::ffi::Map;

namespace {

class ReadReplacer : public ExprMutator {
 private:
  PrimExpr VisitExpr_(const BufferLoadNode* op) final { return Unknown(op->dtype); }
  PrimExpr VisitExpr_(const ProducerLoadNode* op) final { return Unknown(op->dtype); }
  PrimExpr VisitExpr_(const ReduceNode* op) final { return Unknown(op->dtype); }
  PrimExpr VisitExpr_(const CallNode* op) final {
    if (SideEffect(GetRef<PrimExpr>(op)) > CallEffectKind::kPure) return Unknown(op->dtype);
    return ExprMutator::VisitExpr_(op);
  }

  static PrimExpr Unknown(tvm::DataType dtype) { return Var("unknown", dtype); }
};

// The binding that `stmt` is, or wraps in markers.
const BindNode* BindingIn(const Stmt& stmt) {
  if (const auto* attr = stmt.as<AttrStmtNode>()) {
    const bool marker = attr->attr_key == attrs::kTask || attr->attr_key == attrs::kScheduleUnit;
    return marker ? BindingIn(attr->body) : nullptr;
  }
  return stmt.as<BindNode>();
}

int64_t Highest(tvm::DataType dtype) {
  const int value_bits = dtype.bits() - (dtype.is_int() ? 1 : 0);
  return value_bits >= 63 ? ConstIntBound::kPosInf : (int64_t{1} << value_bits) - 1;
}

int64_t Lowest(tvm::DataType dtype) {
  if (!dtype.is_int()) return -1;  // unsigned: 0 is a limit worth knowing
  return dtype.bits() >= 64 ? ConstIntBound::kNegInf : -Highest(dtype) - 1;
}

}  // namespace

PrimExpr WithoutReads(const PrimExpr& expr) { return ReadReplacer()(expr); }

void Facts::AddRange(const Var& var, const Range& range) { facts_.push_back(Ranged{var, range}); }

void Facts::AddValue(const Var& var, const PrimExpr& value) { facts_.push_back(Bound{var, value}); }

void Facts::AddCondition(const PrimExpr& condition, bool assumed) {
  facts_.push_back(Holds{condition, assumed});
}

void Facts::AddLoop(const ForNode* loop) {
  AddRange(loop->loop_var, Range::FromMinExtent(loop->min, loop->extent));
  AddCondition(loop->extent > 0);
}

void Facts::AddAttribute(const AttrStmtNode* attr) {
  if (attr->attr_key == attr::tilelang_assume) {
    if (auto condition = attr->node.try_cast<PrimExpr>()) AddCondition(*condition, true);
  } else if (attr->attr_key == attr::thread_extent ||
             attr->attr_key == tvm::s_tir::attr::virtual_thread) {
    const auto iter = Downcast<IterVar>(attr->node);
    AddRange(iter->var, Range::FromMinExtent(make_zero(attr->value.dtype()), attr->value));
  }
}

void Facts::AddAfter(const Stmt& stmt) {
  if (const BindNode* binding = BindingIn(stmt)) {
    const tvm::DataType dtype = binding->var.dtype();
    const bool index_like = dtype.is_int() || dtype.is_uint() || dtype.is_bool();
    if (dtype.is_scalar() && index_like) AddValue(binding->var, binding->value);
  } else if (const auto* assertion = stmt.as<AssertStmtNode>()) {
    const bool lasting = SideEffect(assertion->condition) <= CallEffectKind::kPure;
    if (lasting) AddCondition(assertion->condition);
  } else if (const auto* evaluate = stmt.as<EvaluateNode>()) {
    const auto* call = evaluate->value.as<CallNode>();
    if (call != nullptr && call->op.same_as(builtin::assume())) AddCondition(call->args[0], true);
  }
}

Facts Facts::Replaced(const Map<Var, PrimExpr>& values, size_t first) const {
  auto replaced = [&](const PrimExpr& expr) { return Substitute(WithoutReads(expr), values); };
  auto name_of = [&](const Var& var) { return values.Get(var).value_or(var).as<Var>(); };
  Facts facts;
  for (size_t i = first; i < facts_.size(); ++i) {
    if (const auto* ranged = std::get_if<Ranged>(&facts_[i])) {
      const PrimExpr low = replaced(ranged->range->min);
      const PrimExpr extent = replaced(ranged->range->extent);
      if (const auto var = name_of(ranged->var)) {
        facts.AddRange(*var, Range::FromMinExtent(low, extent));
      } else {
        const PrimExpr value = values.at(ranged->var);
        facts.AddCondition(low <= value);
        facts.AddCondition(value < low + extent);
      }
    } else if (const auto* bound = std::get_if<Bound>(&facts_[i])) {
      if (const auto var = name_of(bound->var)) facts.AddValue(*var, replaced(bound->value));
    } else {
      const Holds& holds = std::get<Holds>(facts_[i]);
      facts.AddCondition(replaced(holds.condition), holds.assumed);
    }
  }
  return facts;
}

Facts Facts::Relevant(const std::vector<PrimExpr>& exprs, size_t guards) const {
  std::unordered_set<const VarNode*> wanted;
  auto want = [&](const PrimExpr& expr) {
    PostOrderVisit(expr, [&](const tvm::ffi::ObjectRef& node) {
      if (const auto* var = node.as<VarNode>()) wanted.insert(var);
    });
  };
  auto touches = [&](const PrimExpr& expr) {
    return UsesVar(expr, [&](const VarNode* var) { return wanted.count(var) != 0; });
  };
  for (const PrimExpr& expr : exprs) want(expr);
  std::vector<bool> taken(facts_.size(), false);
  for (bool grown = true; grown;) {
    grown = false;
    for (size_t i = facts_.size(); i-- > 0;) {
      if (taken[i]) continue;
      if (const auto* ranged = std::get_if<Ranged>(&facts_[i])) {
        if (wanted.count(ranged->var.get()) == 0) continue;
        want(ranged->range->min);
        want(ranged->range->extent);
      } else if (const auto* bound = std::get_if<Bound>(&facts_[i])) {
        if (wanted.count(bound->var.get()) == 0) continue;
        want(bound->value);
      } else {
        const PrimExpr& condition = std::get<Holds>(facts_[i]).condition;
        if (i < guards && !touches(condition)) continue;
        want(condition);
      }
      taken[i] = grown = true;
    }
  }
  Facts facts;
  for (size_t i = 0; i < facts_.size(); ++i) {
    if (taken[i]) facts.facts_.push_back(facts_[i]);
  }
  return facts;
}

void Facts::Populate(Analyzer* analyzer) const {
  for (const auto& fact : facts_) {
    if (const auto* ranged = std::get_if<Ranged>(&fact)) {
      const Range range = Range::FromMinExtent(WithoutReads(ranged->range->min),
                                               WithoutReads(ranged->range->extent));
      analyzer->Bind(ranged->var, range, /*allow_override=*/true);
    } else if (const auto* bound = std::get_if<Bound>(&fact)) {
      analyzer->Bind(bound->var, WithoutReads(bound->value), /*allow_override=*/true);
    } else {
      const Holds& holds = std::get<Holds>(fact);
      // Simplifying first opens conditions that stand behind a bound variable.
      analyzer->EnterConstraint(analyzer->Simplify(holds.condition), holds.assumed);
    }
  }
}

std::optional<IntRange> Facts::RangeOf(const PrimExpr& expr) const {
  if (const int64_t* constant = as_const_int(expr)) return IntRange{*constant, *constant};
  // A new analyzer for each question: one that lived on would object to the variables that occur in
  // both core sections of a kernel with different ranges.
  Analyzer analyzer;
  Populate(&analyzer);
  const ConstIntBound bound = analyzer.const_int_bound(expr);
  // An end at the limit of the type says nothing.
  if (bound->min_value <= Lowest(expr.dtype()) || bound->max_value >= Highest(expr.dtype())) {
    return std::nullopt;
  }
  return IntRange{bound->min_value, bound->max_value};
}

}  // namespace tilelang_ascend_sched
