#include "ir/fact_visitor.h"

#include <tvm/tirx/analysis.h>
#include <tvm/tirx/op.h>

namespace tilelang_ascend_sched {

using namespace tvm::tirx;

void FactVisitor::VisitStmt_(const SeqStmtNode* op) {
  const FactScope scope(&facts_);
  for (const Stmt& stmt : op->seq) {
    VisitStmt(stmt);
    facts_.AddAfter(stmt);
  }
}

void FactVisitor::VisitStmt_(const ForNode* op) {
  VisitExpr(op->min);
  VisitExpr(op->extent);
  const FactScope scope(&facts_);
  facts_.AddLoop(op);
  loops_.push_back(op);
  VisitStmt(op->body);
  loops_.pop_back();
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
  const FactScope scope(&facts_);
  facts_.AddAttribute(op);
  StmtExprVisitor::VisitStmt_(op);
}

void FactVisitor::VisitGuarded(const tvm::PrimExpr& condition, const Stmt& body) {
  const FactScope scope(&facts_);
  if (SideEffect(condition) <= CallEffectKind::kPure) facts_.AddCondition(condition);
  VisitStmt(body);
}

}  // namespace tilelang_ascend_sched
