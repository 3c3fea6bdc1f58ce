#include "ir/kernels.h"

#include <tvm/ir/cast.h>

#include <utility>

#include "ir/attrs.h"
#include "ir/fact_mutator.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;

namespace {

using Rewrite = std::function<Stmt(SBlock, const KernelPlace&)>;

class KernelMutator : public FactMutator {
 public:
  explicit KernelMutator(const Rewrite& rewrite) : rewrite_(rewrite) {}

 private:
  Stmt VisitStmt_(const AttrStmtNode* op) final {
    const std::optional<IterVar> outside = aiv_;
    if (auto launched = LaunchedAiv(op)) aiv_ = std::move(launched);
    Stmt result = FactMutator::VisitStmt_(op);
    aiv_ = outside;
    return result;
  }

  Stmt VisitStmt_(const SBlockRealizeNode* op) final {
    if (op->block->name_hint != attrs::kRootBlock) return FactMutator::VisitStmt_(op);
    return Realized(tvm::ffi::GetRef<SBlockRealize>(op), VisitStmt(op->block));
  }

  // A launch that `rewrite` put around the root goes around what realizes it.
  static Stmt Realized(SBlockRealize realize, const Stmt& rewritten) {
    if (const auto* launch = rewritten.as<AttrStmtNode>()) {
      return AttrStmt(launch->node, launch->attr_key, launch->value,
                      Realized(std::move(realize), launch->body), launch->span);
    }
    auto root = tvm::Downcast<SBlock>(rewritten);
    if (!root.same_as(realize->block)) realize.CopyOnWrite()->block = std::move(root);
    return realize;
  }

  Stmt VisitStmt_(const SBlockNode* op) final {
    if (op->name_hint != attrs::kRootBlock) return StmtMutator::VisitStmt_(op);
    return rewrite_(tvm::ffi::GetRef<SBlock>(op), {facts(), aiv_});
  }

  const Rewrite& rewrite_;
  std::optional<IterVar> aiv_;
};

}  // namespace

PrimFunc RewriteKernels(PrimFunc function, const Rewrite& rewrite) {
  Stmt body = KernelMutator(rewrite)(function->body);
  if (!body.same_as(function->body)) function.CopyOnWrite()->body = std::move(body);
  return function;
}

std::optional<IterVar> LaunchedAiv(const AttrStmtNode* attr) {
  if (attr->attr_key != tvm::tirx::attr::thread_extent) return std::nullopt;
  auto launched = tvm::Downcast<IterVar>(attr->node);
  if (launched->thread_tag != "cthread") return std::nullopt;
  return launched;
}

}  // namespace tilelang_ascend_sched
