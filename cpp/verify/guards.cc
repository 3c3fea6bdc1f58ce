#include "verify/guards.h"

#include <tvm/arith/analyzer.h>
#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>

#include <algorithm>

namespace tilelang_ascend_sched::verify {

using namespace tvm::tirx;
using tvm::PrimExpr;

namespace {

constexpr int64_t kMostTried = 4096;  // combinations of numbers

bool Loads(const PrimExpr& expr) {
  bool loads = false;
  PostOrderVisit(expr, [&](const tvm::ffi::ObjectRef& node) {
    loads = loads || node.as<BufferLoadNode>() != nullptr;
  });
  return loads;
}

void AddVariables(const PrimExpr& expr, std::vector<const VarNode*>* found) {
  PostOrderVisit(expr, [&](const tvm::ffi::ObjectRef& node) {
    const auto* var = node.as<VarNode>();
    if (var != nullptr && std::find(found->begin(), found->end(), var) == found->end()) {
      found->push_back(var);
    }
  });
}

}  // namespace

void Guards::Push(const PrimExpr& condition, bool holds) {
  const auto* both = condition.as<AndNode>();
  const auto* either = condition.as<OrNode>();
  if (const auto* negated = condition.as<NotNode>()) {
    Push(negated->a, !holds);
  } else if (both != nullptr && holds) {
    Push(both->a, true);
    Push(both->b, true);
  } else if (either != nullptr && !holds) {
    Push(either->a, false);
    Push(either->b, false);
  } else {
    guards_.push_back(holds ? condition : !condition);
  }
}

bool Guards::IsData(const PrimExpr& expr) const {
  bool data = false;
  PostOrderVisit(expr, [&](const tvm::ffi::ObjectRef& node) {
    if (const auto* load = node.as<BufferLoadNode>()) {
      data = data || !outside_(load->buffer->data.get());
    } else if (const auto* call = node.as<CallNode>()) {
      const auto* op = call->op.as<tvm::OpNode>();
      data = data || op == nullptr || std::string(op->name).rfind("tl.", 0) == 0;
    }
  });
  return data;
}

// The lowest numbers with which the guards on inner variables alone hold; what the guards on other
// numbers then ask is left to whoever knows these.
Witness Guards::Find() const {
  Witness witness;
  std::vector<PrimExpr> inner, mixed;
  std::vector<const VarNode*> tried;
  for (const PrimExpr& guard : guards_) {
    if (IsData(guard)) continue;
    std::vector<const VarNode*> variables;
    AddVariables(guard, &variables);
    // What is loaded here is a scalar variable from outside.
    const bool only_inner =
        !Loads(guard) && std::all_of(variables.begin(), variables.end(), [&](const VarNode* var) {
          const auto at = inner_.find(var);
          return at != inner_.end() && at->second.count > 0;
        });
    (only_inner ? inner : mixed).push_back(guard);
    if (only_inner) AddVariables(guard, &tried);
  }
  int64_t combinations = 1;
  for (const VarNode* var : tried) {
    combinations = std::min(combinations * inner_.at(var).count, kMostTried + 1);
  }
  for (const auto& [var, variable] : inner_) {
    if (variable.count > 0) {
      witness.numbers.Set(tvm::ffi::GetRef<Var>(var), tvm::IntImm(var->dtype, variable.minimum));
    }
  }
  tvm::arith::Analyzer analyzer;
  bool decided = true;
  for (int64_t i = 0; i < std::min(combinations, kMostTried) && !witness.found; ++i) {
    int64_t rest = i;
    for (const VarNode* var : tried) {
      const InnerVariable& variable = inner_.at(var);
      witness.numbers.Set(tvm::ffi::GetRef<Var>(var),
                          tvm::IntImm(var->dtype, variable.minimum + rest % variable.count));
      rest /= variable.count;
    }
    witness.found = std::all_of(inner.begin(), inner.end(), [&](const PrimExpr& guard) {
      const PrimExpr value = analyzer.Simplify(Substitute(guard, witness.numbers));
      decided = decided && (is_one(value) || is_zero(value));
      return is_one(value);
    });
  }
  witness.never = !witness.found && decided && combinations <= kMostTried;
  for (const PrimExpr& guard : mixed) {
    witness.conditions.push_back(Substitute(guard, witness.numbers));
  }
  return witness;
}

}  // namespace tilelang_ascend_sched::verify
