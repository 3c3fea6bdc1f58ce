#include "passes/restore_while_loops.h"

#include <tvm/arith/analyzer.h>
#include <tvm/ffi/reflection/registry.h>
#include <tvm/tirx/analysis.h>
#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>
#include <tvm/tirx/transform.h>

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::DataType;
using tvm::Downcast;
using tvm::IntImm;
using tvm::PrimExpr;

namespace {

constexpr const char* kSyntheticWhile = "synthetic_while";

// Simplifies every expression on its own. The loop variable gets no range: the bounded loop's
// extent is a stand-in, so `w % extent` must stay what it is.
class SimplifyExpressions : public StmtExprMutator {
 private:
  PrimExpr VisitExpr(const PrimExpr& expr) final {
    return analyzer_.Simplify(StmtExprMutator::VisitExpr(expr));
  }

  tvm::arith::Analyzer analyzer_;
};

bool Reads(const Stmt& stmt, const Var& var) {
  return UsesVar(stmt, [&var](const VarNode* other) { return other == var.get(); });
}

Stmt Forever(Stmt body) { return While(IntImm(DataType::Bool(), 1), std::move(body)); }

// `counter = min - 1; while (true) { counter = counter + 1; body[var := counter] }`. Counting comes
// first, so that a `continue` in the body cannot skip it.
Stmt ForeverCounting(const For& loop, Stmt body) {
  const PrimExpr at = IntImm(DataType::Int(32), 0);
  const DataType dtype = loop->loop_var.dtype();
  Buffer counter = decl_buffer({IntImm(DataType::Int(32), 1)}, dtype,
                               loop->loop_var->name_hint + "_counter", "local.var");
  PrimExpr value = BufferLoad(counter, {at});
  PrimExpr one = tvm::tirx::make_const(dtype, 1);
  body = Substitute(std::move(body), tvm::ffi::Map<Var, PrimExpr>{{loop->loop_var, value}});
  return SeqStmt({AllocBuffer(counter), BufferStore(counter, loop->min - one, {at}),
                  Forever(SeqStmt({BufferStore(counter, value + one, {at}), std::move(body)}))});
}

class WhileRestorer : public StmtMutator {
 private:
  Stmt VisitStmt_(const ForNode* op) final {
    For loop = Downcast<For>(StmtMutator::VisitStmt_(op));
    if (loop->annotations.count(kSyntheticWhile) == 0) return loop;
    if (!Reads(loop->body, loop->loop_var)) return Forever(loop->body);
    // Strides of rings inside cancel the variable more often than not.
    Stmt body = SimplifyExpressions()(loop->body);
    if (!Reads(body, loop->loop_var)) return Forever(std::move(body));
    return ForeverCounting(loop, std::move(body));
  }
};

}  // namespace

tvm::transform::Pass RestoreWhileLoops() {
  auto run = [](PrimFunc kernel, const tvm::IRModule&, const tvm::transform::PassContext&) {
    Stmt body = WhileRestorer()(kernel->body);
    if (!body.same_as(kernel->body)) kernel.CopyOnWrite()->body = std::move(body);
    return kernel;
  };
  return transform::CreatePrimFuncPass(run, 0, "tl.RestoreWhileLoops", {});
}

TVM_FFI_STATIC_INIT_BLOCK() {
  tvm::ffi::reflection::GlobalDef().def("tl.ascend_sched.transform.RestoreWhileLoops",
                                        RestoreWhileLoops);
}

}  // namespace tilelang_ascend_sched
