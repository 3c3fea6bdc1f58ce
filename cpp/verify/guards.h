#pragma once

#include <tvm/tirx/expr.h>

#include <functional>
#include <map>
#include <vector>

#include "verify/program.h"

namespace tilelang_ascend_sched::verify {

// A thread's or lane's number, or the variable of a loop inside a vector function.
struct InnerVariable {
  int64_t minimum;
  int64_t count;  // -1: not bounded
  bool exact = true;
  Expr exact_count = kNone;
};
using InnerVariables = std::map<const tvm::tirx::VarNode*, InnerVariable>;

// One thread and turn, of those that guards let through as far as numbers tell.
struct Witness {
  bool never = false;  // the guards let none through
  bool found = false;
  tvm::ffi::Map<tvm::tirx::Var, tvm::PrimExpr> numbers;
  std::vector<tvm::PrimExpr> conditions;  // of numbers from outside of the function, with `numbers`
};

// The conditions around the present statement of a vector function. One on numbers is looked into;
// one on data, in memory or in a register, is met by some data.
class Guards {
 public:
  // `outside` tells which scalar variables keep their value in the function.
  Guards(const InnerVariables& inner, std::function<bool(const tvm::tirx::VarNode*)> outside)
      : inner_(inner), outside_(std::move(outside)) {}

  // A condition that holds, or does not, from now on: until `Cut` to the size before.
  void Push(const tvm::PrimExpr& condition, bool holds);
  void Cut(size_t size) { guards_.erase(guards_.begin() + size, guards_.end()); }
  size_t size() const { return guards_.size(); }
  const std::vector<tvm::PrimExpr>& all() const { return guards_; }

  Witness Find() const;

 private:
  bool IsData(const tvm::PrimExpr& expr) const;

  const InnerVariables& inner_;
  std::function<bool(const tvm::tirx::VarNode*)> outside_;
  std::vector<tvm::PrimExpr> guards_;
};

}  // namespace tilelang_ascend_sched::verify
