#pragma once

#include <tvm/tirx/stmt_functor.h>

#include <optional>
#include <vector>

#include "ir/facts.h"

namespace tilelang_ascend_sched {

// Walks statements in program order and knows the facts at each of them, but for guards on memory:
// they may stop holding as soon as that memory is written. A subclass that overrides one of the
// visits below calls the one of this class for what is inside.
class FactVisitor : public tvm::tirx::StmtExprVisitor {
 protected:
  const Facts& facts() const { return facts_; }

  // The enclosing loops, outermost first.
  const std::vector<const tvm::tirx::ForNode*>& loops() const { return loops_; }

  using StmtExprVisitor::VisitStmt_;
  void VisitStmt_(const tvm::tirx::SeqStmtNode* op) override;
  void VisitStmt_(const tvm::tirx::ForNode* op) override;
  void VisitStmt_(const tvm::tirx::WhileNode* op) override;
  void VisitStmt_(const tvm::tirx::IfThenElseNode* op) override;
  void VisitStmt_(const tvm::tirx::AttrStmtNode* op) override;

 private:
  // Visits `body` where `condition` holds.
  void VisitGuarded(const tvm::PrimExpr& condition, const tvm::tirx::Stmt& body);

  Facts facts_;
  std::vector<const tvm::tirx::ForNode*> loops_;
};

}  // namespace tilelang_ascend_sched
