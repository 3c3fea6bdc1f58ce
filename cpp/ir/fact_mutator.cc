#include "ir/fact_mutator.h"

#include <tvm/tirx/op.h>

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::ffi::Array;
using tvm::ffi::GetRef;

Stmt FactMutator::VisitStmt_(const SeqStmtNode* op) {
  const FactScope scope(&facts_);
  Array<Stmt> sequence;
  bool same = true;
  for (const Stmt& stmt : op->seq) {
    sequence.push_back(VisitStmt(stmt));
    same = same && sequence.back().same_as(stmt);
    facts_.AddAfter(stmt);
  }
  return same ? GetRef<Stmt>(op) : SeqStmt(std::move(sequence), op->span);
}

Stmt FactMutator::VisitStmt_(const ForNode* op) {
  const FactScope scope(&facts_);
  facts_.AddLoop(op);
  return StmtMutator::VisitStmt_(op);
}

Stmt FactMutator::VisitStmt_(const WhileNode* op) {
  const FactScope scope(&facts_);
  facts_.AddCondition(op->condition);
  return StmtMutator::VisitStmt_(op);
}

Stmt FactMutator::VisitStmt_(const IfThenElseNode* op) {
  Stmt then_case = VisitGuarded(op->condition, op->then_case);
  tvm::ffi::Optional<Stmt> else_case;
  if (op->else_case.has_value()) else_case = VisitGuarded(!op->condition, op->else_case.value());
  if (then_case.same_as(op->then_case) && else_case.same_as(op->else_case)) return GetRef<Stmt>(op);
  return IfThenElse(op->condition, std::move(then_case), std::move(else_case), op->span);
}

Stmt FactMutator::VisitStmt_(const AttrStmtNode* op) {
  const FactScope scope(&facts_);
  facts_.AddAttribute(op);
  return StmtMutator::VisitStmt_(op);
}

Stmt FactMutator::VisitGuarded(const tvm::PrimExpr& condition, const Stmt& body) {
  const FactScope scope(&facts_);
  facts_.AddCondition(condition);
  return VisitStmt(body);
}

}  // namespace tilelang_ascend_sched
