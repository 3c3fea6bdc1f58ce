#include "ir/kernels.h"

#include <tvm/tirx/stmt_functor.h>

#include "ir/attrs.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;

namespace {

class KernelMutator : public StmtMutator {
 public:
  explicit KernelMutator(const std::function<SBlock(SBlock)>& rewrite) : rewrite_(rewrite) {}

 private:
  Stmt VisitStmt_(const SBlockNode* op) final {
    if (op->name_hint != attrs::kRootBlock) return StmtMutator::VisitStmt_(op);
    return rewrite_(tvm::ffi::GetRef<SBlock>(op));
  }

  const std::function<SBlock(SBlock)>& rewrite_;
};

}  // namespace

PrimFunc RewriteKernels(PrimFunc function, const std::function<SBlock(SBlock)>& rewrite) {
  Stmt body = KernelMutator(rewrite)(function->body);
  if (!body.same_as(function->body)) function.CopyOnWrite()->body = std::move(body);
  return function;
}

}  // namespace tilelang_ascend_sched
