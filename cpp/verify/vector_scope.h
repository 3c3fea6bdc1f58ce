#pragma once

#include <tvm/arith/analyzer.h>
#include <tvm/tirx/stmt.h>

#include <unordered_map>

#include "verify/decode_expr.h"
#include "verify/guards.h"

namespace tilelang_ascend_sched::verify {

// What is known at the present statement of a vector function: its variables and the conditions
// around.
class VectorScope {
 public:
  explicit VectorScope(const ExprDecoder& exprs)
      : exprs_(exprs),
        guards_(inner_, [&exprs](const tvm::tirx::VarNode* data) { return exprs.HasSlot(data); }) {}

  // A thread's or lane's number, or a loop's variable: `count` numbers from `minimum` on.
  InnerVariable* Enter(const tvm::tirx::Var& var, int64_t minimum, int64_t count) {
    return &(inner_[var.get()] = {minimum, count});
  }
  // Null if it is none of these.
  InnerVariable* Inner(const tvm::tirx::VarNode* var);

  // A variable that is set once.
  void Bind(const tvm::tirx::BindNode* bind) { bound_[bind->var.get()] = bind->value; }
  // Null if it is none of these.
  const tvm::PrimExpr* BoundTo(const tvm::tirx::VarNode* var) const;

  // `expr` without variables that are bound inside of the function.
  tvm::PrimExpr Resolved(const tvm::PrimExpr& expr) const;
  // Whether `expr` differs between threads, or is not known outside the function.
  bool DependsOnInner(const tvm::PrimExpr& expr) const;
  // The least and the largest number that `expr` can be.
  tvm::arith::ConstIntBound LimitsOf(const tvm::PrimExpr& expr);

  const Guards& guards() const { return guards_; }

  // Runs `visit` where `condition` holds or does not.
  template <typename Visit>
  void Under(const tvm::PrimExpr& condition, bool holds, Visit visit) {
    const size_t outer = guards_.size();
    guards_.Push(Resolved(condition), holds);
    visit();
    guards_.Cut(outer);
  }

 private:
  const ExprDecoder& exprs_;
  tvm::arith::Analyzer analyzer_;
  InnerVariables inner_;
  std::unordered_map<const tvm::tirx::VarNode*, tvm::PrimExpr> bound_;
  Guards guards_;
};

}  // namespace tilelang_ascend_sched::verify
