// Lets the tests decode and encode the task tree, and see the spans that structural equality passes
// over.

#include "ir/task_tree.h"

#include <tvm/ffi/container/array.h>
#include <tvm/ffi/reflection/registry.h>
#include <tvm/tirx/stmt_functor.h>

#include "ir/kernels.h"
#include "report/error.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::ffi::Array;
using tvm::ffi::String;

namespace {

// Lists the kind and span of each statement and expression, outer ones first.
class SpanLister : public StmtExprVisitor {
 public:
  Array<String> spans;

  void VisitStmt(const Stmt& stmt) final {
    List(stmt->GetTypeKey(), stmt->span);
    StmtExprVisitor::VisitStmt(stmt);
  }

  void VisitExpr(const tvm::PrimExpr& expr) final {
    List(expr->GetTypeKey(), expr->span);
    StmtExprVisitor::VisitExpr(expr);
  }

 private:
  void List(const std::string& kind, const tvm::Span& span) {
    if (!span.defined()) {
      spans.push_back(kind);
      return;
    }
    spans.push_back(Text(kind, " ", span->source_name->name, ":", span->line, ":", span->column,
                         "-", span->end_line, ":", span->end_column));
  }
};

PrimFunc Recode(PrimFunc function) {
  return RewriteKernels(std::move(function), [](SBlock root, const KernelPlace&) {
    if (HasUnits(root->body)) root.CopyOnWrite()->body = EncodeUnits(DecodeUnits(root->body));
    return root;
  });
}

Array<String> SpansOf(const PrimFunc& function) {
  SpanLister lister;
  lister(function->body);
  return lister.spans;
}

}  // namespace

TVM_FFI_STATIC_INIT_BLOCK() {
  tvm::ffi::reflection::GlobalDef()
      .def("tl.ascend_sched.testing.recode", Recode)
      .def("tl.ascend_sched.testing.spans", SpansOf);
}

}  // namespace tilelang_ascend_sched
