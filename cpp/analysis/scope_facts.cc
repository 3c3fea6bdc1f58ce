#include "analysis/scope_facts.h"

#include <tvm/ir/cast.h>
#include <tvm/tirx/builtin.h>
#include <tvm/tirx/op.h>

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::Downcast;
using tvm::IntImmNode;
using tvm::PrimExpr;
using tvm::Range;
using tvm::arith::Analyzer;
using tvm::arith::ConstIntBound;

namespace {

bool ReadsMemory(const PrimExpr& expr) { return SideEffect(expr) > CallEffectKind::kPure; }

int64_t Highest(tvm::DataType dtype) {
  const int value_bits = dtype.bits() - (dtype.is_int() ? 1 : 0);
  return value_bits >= 63 ? ConstIntBound::kPosInf : (int64_t{1} << value_bits) - 1;
}

int64_t Lowest(tvm::DataType dtype) {
  if (!dtype.is_int()) return -1;  // unsigned: 0 is a limit worth knowing
  return dtype.bits() >= 64 ? ConstIntBound::kNegInf : -Highest(dtype) - 1;
}

}  // namespace

std::optional<IntRange> ScopeFacts::RangeOf(const PrimExpr& expr) const {
  if (const auto* constant = expr.as<IntImmNode>()) {
    return IntRange{constant->value, constant->value};
  }
  // A new analyzer for each question: one that lived on would object to the variables that occur in
  // both core sections of a kernel with different ranges.
  Analyzer analyzer;
  for (const Fact& fact : facts_) {
    if (const auto* ranged = std::get_if<Ranged>(&fact)) {
      analyzer.Bind(ranged->var, ranged->range, /*allow_override=*/true);
    } else if (const auto* bound = std::get_if<Bound>(&fact)) {
      analyzer.Bind(bound->var, bound->value, /*allow_override=*/true);
    } else {
      const Holds& holds = std::get<Holds>(fact);
      // Simplifying first opens conditions that were bound to a variable.
      analyzer.EnterConstraint(analyzer.Simplify(holds.condition), holds.assumed);
    }
  }
  ConstIntBound bound = analyzer.const_int_bound(expr);
  // An end at the limit of the type says nothing.
  if (bound->min_value <= Lowest(expr.dtype()) || bound->max_value >= Highest(expr.dtype())) {
    return std::nullopt;
  }
  return IntRange{bound->min_value, bound->max_value};
}

template <typename Visit>
void ScopeFacts::InScope(std::optional<Fact> fact, Visit visit) {
  const size_t outside = facts_.size();
  if (fact.has_value()) facts_.push_back(*std::move(fact));
  visit();
  facts_.erase(facts_.begin() + static_cast<std::ptrdiff_t>(outside), facts_.end());
}

// A guard on memory may stop holding as soon as that memory is written, so it teaches nothing.
std::optional<ScopeFacts::Fact> ScopeFacts::Guard(const PrimExpr& condition, bool taken) const {
  if (ReadsMemory(condition)) return std::nullopt;
  return Holds{taken ? condition : !condition, false};
}

void ScopeFacts::VisitStmt_(const ForNode* op) {
  VisitExpr(op->min);
  VisitExpr(op->extent);
  loops_.push_back(op);
  InScope(Ranged{op->loop_var, Range::FromMinExtent(op->min, op->extent)},
          [&] { VisitStmt(op->body); });
  loops_.pop_back();
}

void ScopeFacts::VisitStmt_(const WhileNode* op) {
  VisitExpr(op->condition);
  InScope(Guard(op->condition, true), [&] { VisitStmt(op->body); });
}

void ScopeFacts::VisitStmt_(const IfThenElseNode* op) {
  VisitExpr(op->condition);
  InScope(Guard(op->condition, true), [&] { VisitStmt(op->then_case); });
  if (op->else_case.has_value()) {
    InScope(Guard(op->condition, false), [&] { VisitStmt(op->else_case.value()); });
  }
}

void ScopeFacts::VisitStmt_(const AttrStmtNode* op) {
  std::optional<Fact> fact;
  if (op->attr_key == attr::thread_extent) {
    const auto iter = Downcast<IterVar>(op->node);
    fact = Ranged{iter->var, Range::FromMinExtent(make_zero(op->value.dtype()), op->value)};
  } else if (op->attr_key == attr::tilelang_assume) {
    fact = Holds{Downcast<PrimExpr>(op->node), true};
  }
  InScope(std::move(fact), [&] { StmtExprVisitor::VisitStmt_(op); });
}

void ScopeFacts::VisitStmt_(const SBlockNode* op) {
  InScope(std::nullopt, [&] { StmtExprVisitor::VisitStmt_(op); });
}

// Bindings and assume calls hold from here to the end of the enclosing scope.
void ScopeFacts::VisitStmt_(const BindNode* op) {
  StmtExprVisitor::VisitStmt_(op);
  if (op->value.dtype().is_scalar()) facts_.push_back(Bound{op->var, op->value});
}

void ScopeFacts::VisitStmt_(const EvaluateNode* op) {
  StmtExprVisitor::VisitStmt_(op);
  const auto* call = op->value.as<CallNode>();
  if (call != nullptr && call->op.same_as(builtin::assume())) {
    facts_.push_back(Holds{call->args[0], true});
  }
}

}  // namespace tilelang_ascend_sched
