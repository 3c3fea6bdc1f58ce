#include "analysis/cost/hf32_mode.h"

#include <ascend/op/builtin.h>
#include <tvm/arith/analyzer.h>
#include <tvm/ffi/error.h>
#include <tvm/tirx/analysis.h>
#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>

#include "analysis/cost/cube_work.h"
#include "ir/facts.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::DataType;
using tvm::IntImm;
using tvm::IntImmNode;
using tvm::PrimExpr;

namespace {

bool SetsMode(const CallNode* call) { return call->op.same_as(tvm::tl::ascend_set_hf32_mode()); }

// What a call that sets the mode sets it to: 0 is off, 1 and 2 are roundings of hf32.
bool SwitchesOn(const CallNode* call) {
  const int64_t* mode = call->args.size() == 1 ? as_const_int(call->args[0]) : nullptr;
  if (mode != nullptr && *mode >= 0 && *mode <= 2) return *mode > 0;
  TVM_FFI_THROW(InternalError) << "HF32 mode must be a constant in {0, 1, 2}, got "
                               << tvm::ffi::GetRef<Call>(call);
  throw;
}

bool HasModeChange(const Stmt& stmt) {
  bool found = false;
  PostOrderVisit(stmt, [&found](const tvm::ffi::ObjectRef& node) {
    const auto* call = node.as<CallNode>();
    found = found || (call != nullptr && SetsMode(call));
  });
  return found;
}

// Carries "the mode is on" through the kernel as a condition over the kernel's variables, so that a
// switch and a multiply under equal guards are seen to belong together. Where it depends on
// something that cannot be told, it is a variable of its own.
class ModeTracker : public StmtExprVisitor {
 public:
  CallSet Result() {
    for (const CallNode* call : maybe_off_) on_.erase(call);
    return std::move(on_);
  }

 private:
  void VisitStmt_(const BindNode* op) final {
    VisitExpr(op->value);
    if (!op->var.dtype().is_scalar() || op->var.dtype().is_handle()) return;
    analyzer_.Bind(op->var, WithoutReads(op->value), /*allow_override=*/true);
  }

  void VisitStmt_(const IfThenElseNode* op) final {
    VisitExpr(op->condition);
    const PrimExpr guard = analyzer_.Simplify(WithoutReads(op->condition));
    const bool always = analyzer_.CanProve(guard);
    const bool never = !always && analyzer_.CanProve(!guard);
    const PrimExpr before = is_on_;
    if (!never) Branch(guard, op->then_case);
    const PrimExpr after_then = is_on_;
    is_on_ = before;
    if (!always && op->else_case.has_value()) Branch(!guard, op->else_case.value());
    if (always) is_on_ = after_then;
    if (!always && !never) is_on_ = analyzer_.Simplify(Select(guard, after_then, is_on_));
  }

  void Branch(const PrimExpr& guard, const Stmt& body) {
    tvm::With<tvm::arith::ConstraintContext> inside(&analyzer_, guard);
    is_on_ = analyzer_.Simplify(is_on_);
    VisitStmt(body);
  }

  void VisitExpr_(const CallNode* op) final {
    if (SetsMode(op)) {
      is_on_ = Known(SwitchesOn(op));
    } else if (IsMatrixMultiply(op)) {
      (analyzer_.CanProve(is_on_) ? on_ : maybe_off_).insert(op);
    }
    StmtExprVisitor::VisitExpr_(op);
  }

  void VisitStmt_(const ForNode* op) final {
    const PrimExpr one = make_const(op->extent.dtype(), 1);
    const bool once = analyzer_.CanProveEqual(op->extent, one);
    const bool never = !once && analyzer_.CanProve(op->extent < one);
    if (once) {
      VisitStmt(op->body);
    } else if (!never) {
      VisitLoop(op->body, analyzer_.CanProve(op->extent >= one));
    }
  }

  void VisitStmt_(const WhileNode* op) final {
    VisitExpr(op->condition);
    VisitLoop(op->body, false);
  }

  void VisitLoop(const Stmt& body, bool runs) {
    // The first iteration knows what came before; a later one begins as the one before it ended.
    const PrimExpr before = Settled(is_on_);
    is_on_ = before;
    VisitStmt(body);
    PrimExpr after = Settled(is_on_);
    const bool same = Told(before) && Told(after) && is_zero(before) == is_zero(after);
    if (!same) {
      is_on_ = Unknown();
      VisitStmt(body);
      after = Settled(is_on_);
    }
    is_on_ = runs || same ? after : Unknown();
  }

  void VisitStmt_(const SBlockNode* op) final { VisitStmt(op->body); }

  // What is known for sure: outside a loop's iteration its variables mean something else.
  PrimExpr Settled(const PrimExpr& state) {
    if (analyzer_.CanProve(state)) return Known(true);
    if (analyzer_.CanProve(!state)) return Known(false);
    return Unknown();
  }

  static bool Told(const PrimExpr& state) { return state.as<IntImmNode>() != nullptr; }
  static PrimExpr Known(bool on) { return IntImm(DataType::Bool(), on); }
  static PrimExpr Unknown() { return Var("hf32_mode", DataType::Bool()); }

  tvm::arith::Analyzer analyzer_;
  PrimExpr is_on_ = Known(false);
  CallSet on_;
  CallSet maybe_off_;
};

}  // namespace

CallSet CallsInHf32Mode(const Stmt& kernel) {
  if (!HasModeChange(kernel)) return {};
  ModeTracker tracker;
  tracker(kernel);
  return tracker.Result();
}

}  // namespace tilelang_ascend_sched
