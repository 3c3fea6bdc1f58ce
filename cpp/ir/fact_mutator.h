#pragma once

#include <tvm/tirx/stmt_functor.h>

#include <utility>

#include "ir/facts.h"

namespace tilelang_ascend_sched {

// Rewrites statements in program order and knows the facts at each of them. A subclass that
// overrides one of the visits below calls the one of this class for what is inside.
class FactMutator : public tvm::tirx::StmtMutator {
 protected:
  FactMutator() = default;
  explicit FactMutator(Facts outer) : facts_(std::move(outer)) {}

  const Facts& facts() const { return facts_; }

  using StmtMutator::VisitStmt_;

  tvm::tirx::Stmt VisitStmt_(const tvm::tirx::SeqStmtNode* op) override;
  tvm::tirx::Stmt VisitStmt_(const tvm::tirx::ForNode* op) override;
  tvm::tirx::Stmt VisitStmt_(const tvm::tirx::WhileNode* op) override;
  tvm::tirx::Stmt VisitStmt_(const tvm::tirx::IfThenElseNode* op) override;
  tvm::tirx::Stmt VisitStmt_(const tvm::tirx::AttrStmtNode* op) override;

 private:
  // Visits `body` where `condition` holds.
  tvm::tirx::Stmt VisitGuarded(const tvm::PrimExpr& condition, const tvm::tirx::Stmt& body);

  Facts facts_;
};

}  // namespace tilelang_ascend_sched
