#include "ir/fact_mutator.h"

#include <tvm/tirx/op.h>

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::ffi::Array;
using tvm::ffi::GetRef;

Stmt FactMutator::VisitStmt_(const SeqStmtNode* op) {
  const size_t outside = facts_.size();
  Array<Stmt> sequence;
  bool same = true;
  for (const Stmt& stmt : op->seq) {
    sequence.push_back(VisitStmt(stmt));
    same = same && sequence.back().same_as(stmt);
    facts_.AddAfter(stmt);
  }
  facts_.Truncate(outside);
  return same ? GetRef<Stmt>(op) : SeqStmt(std::move(sequence), op->span);
}

Stmt FactMutator::VisitStmt_(const ForNode* op) {
  const size_t outside = facts_.size();
  facts_.AddLoop(op);
  Stmt result = StmtMutator::VisitStmt_(op);
  facts_.Truncate(outside);
  return result;
}

Stmt FactMutator::VisitStmt_(const WhileNode* op) {
  const size_t outside = facts_.size();
  facts_.AddCondition(op->condition);
  Stmt result = StmtMutator::VisitStmt_(op);
  facts_.Truncate(outside);
  return result;
}

Stmt FactMutator::VisitStmt_(const IfThenElseNode* op) {
  const size_t outside = facts_.size();
  facts_.AddCondition(op->condition);
  Stmt then_case = VisitStmt(op->then_case);
  facts_.Truncate(outside);
  tvm::ffi::Optional<Stmt> else_case;
  if (op->else_case.has_value()) {
    facts_.AddCondition(!op->condition);
    else_case = VisitStmt(op->else_case.value());
    facts_.Truncate(outside);
  }
  if (then_case.same_as(op->then_case) && else_case.same_as(op->else_case)) return GetRef<Stmt>(op);
  return IfThenElse(op->condition, std::move(then_case), std::move(else_case), op->span);
}

Stmt FactMutator::VisitStmt_(const AttrStmtNode* op) {
  const size_t outside = facts_.size();
  facts_.AddAttribute(op);
  Stmt result = StmtMutator::VisitStmt_(op);
  facts_.Truncate(outside);
  return result;
}

}  // namespace tilelang_ascend_sched
