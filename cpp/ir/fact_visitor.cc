#include "ir/fact_visitor.h"

#include <tvm/tirx/analysis.h>
#include <tvm/tirx/op.h>

namespace tilelang_ascend_sched {

using namespace tvm::tirx;

void FactVisitor::VisitStmt_(const SeqStmtNode* op) {
  const size_t outside = facts_.size();
  for (const Stmt& stmt : op->seq) {
    VisitStmt(stmt);
    facts_.AddAfter(stmt);
  }
  facts_.Truncate(outside);
}

void FactVisitor::VisitStmt_(const ForNode* op) {
  VisitExpr(op->min);
  VisitExpr(op->extent);
  const size_t outside = facts_.size();
  facts_.AddLoop(op);
  loops_.push_back(op);
  VisitStmt(op->body);
  loops_.pop_back();
  facts_.Truncate(outside);
}

void FactVisitor::VisitStmt_(const WhileNode* op) {
  VisitExpr(op->condition);
  VisitGuarded(op->condition, op->body);
}

void FactVisitor::VisitStmt_(const IfThenElseNode* op) {
  VisitExpr(op->condition);
  VisitGuarded(op->condition, op->then_case);
  if (op->else_case.has_value()) VisitGuarded(!op->condition, op->else_case.value());
}

void FactVisitor::VisitStmt_(const AttrStmtNode* op) {
  const size_t outside = facts_.size();
  facts_.AddAttribute(op);
  StmtExprVisitor::VisitStmt_(op);
  facts_.Truncate(outside);
}

void FactVisitor::VisitGuarded(const tvm::PrimExpr& condition, const Stmt& body) {
  const size_t outside = facts_.size();
  if (SideEffect(condition) <= CallEffectKind::kPure) facts_.AddCondition(condition);
  VisitStmt(body);
  facts_.Truncate(outside);
}

}  // namespace tilelang_ascend_sched
