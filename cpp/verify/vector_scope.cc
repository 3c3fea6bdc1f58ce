#include "verify/vector_scope.h"

#include <tvm/tirx/stmt_functor.h>

namespace tilelang_ascend_sched::verify {

using namespace tvm::tirx;
using tvm::PrimExpr;

InnerVariable* VectorScope::Inner(const VarNode* var) {
  const auto at = inner_.find(var);
  return at == inner_.end() ? nullptr : &at->second;
}

const PrimExpr* VectorScope::BoundTo(const VarNode* var) const {
  const auto at = bound_.find(var);
  return at == bound_.end() ? nullptr : &at->second;
}

PrimExpr VectorScope::Resolved(const PrimExpr& expr) const {
  return Substitute(expr, [this](const Var& var) -> tvm::ffi::Optional<PrimExpr> {
    const PrimExpr* value = BoundTo(var.get());
    if (value == nullptr) return std::nullopt;
    return Resolved(*value);
  });
}

bool VectorScope::DependsOnInner(const PrimExpr& expr) const {
  bool depends = false;
  PostOrderVisit(expr, [&](const tvm::ffi::ObjectRef& node) {
    if (const auto* var = node.as<VarNode>()) {
      depends = depends || inner_.count(var) != 0 || bound_.count(var) != 0;
    } else if (const auto* load = node.as<BufferLoadNode>()) {
      depends = depends || !exprs_.HasSlot(load->buffer->data.get());
    }
  });
  return depends;
}

tvm::arith::ConstIntBound VectorScope::LimitsOf(const PrimExpr& expr) {
  for (const auto& [var, inner] : inner_) {
    if (inner.count <= 0) continue;
    const auto range = tvm::Range::FromMinExtent(tvm::IntImm(var->dtype, inner.minimum),
                                                 tvm::IntImm(var->dtype, inner.count));
    analyzer_.Bind(tvm::ffi::GetRef<Var>(var), range, true);
  }
  return analyzer_.const_int_bound(expr);
}

}  // namespace tilelang_ascend_sched::verify
