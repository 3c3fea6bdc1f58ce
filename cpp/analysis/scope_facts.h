#pragma once

#include <tvm/arith/analyzer.h>
#include <tvm/tirx/stmt_functor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tilelang_ascend_sched {

// Both ends included.
struct IntRange {
  int64_t min;
  int64_t max;
};

// Walks statements in program order and knows, at each of them, what its surroundings promise:
// ranges of enclosing loops and launch indices, bindings before it, guards around it, and
// `T.assume`. A subclass that overrides one of the visits below calls the one of this class for
// what is inside.
class ScopeFacts : public tvm::tirx::StmtExprVisitor {
 protected:
  // The range of an integer expression at the statement being visited; nothing if either end is
  // open.
  std::optional<IntRange> RangeOf(const tvm::PrimExpr& expr) const;

  // The enclosing loops, outermost first.
  const std::vector<const tvm::tirx::ForNode*>& loops() const { return loops_; }

  using StmtExprVisitor::VisitStmt_;
  void VisitStmt_(const tvm::tirx::ForNode* op) override;
  void VisitStmt_(const tvm::tirx::WhileNode* op) override;
  void VisitStmt_(const tvm::tirx::IfThenElseNode* op) override;
  void VisitStmt_(const tvm::tirx::AttrStmtNode* op) override;
  void VisitStmt_(const tvm::tirx::SBlockNode* op) override;
  void VisitStmt_(const tvm::tirx::BindNode* op) override;
  void VisitStmt_(const tvm::tirx::EvaluateNode* op) override;

 private:
  struct Ranged {
    tvm::tirx::Var var;
    tvm::Range range;
  };
  struct Bound {
    tvm::tirx::Var var;
    tvm::PrimExpr value;
  };
  struct Holds {
    tvm::PrimExpr condition;
    bool assumed;
  };
  using Fact = std::variant<Ranged, Bound, Holds>;

  // Visits with what `fact` adds, then forgets it and everything learnt inside.
  template <typename Visit>
  void InScope(std::optional<Fact> fact, Visit visit);

  std::optional<Fact> Guard(const tvm::PrimExpr& condition, bool taken) const;

  std::vector<Fact> facts_;
  std::vector<const tvm::tirx::ForNode*> loops_;
};

}  // namespace tilelang_ascend_sched
