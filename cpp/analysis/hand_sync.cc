#include "analysis/hand_sync.h"

#include <ascend/op/builtin.h>
#include <tvm/ir/cast.h>
#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>

#include <optional>
#include <string>

#include "analysis/task_resources.h"
#include "ir/task_tree.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::PrimExpr;
using tvm::ffi::Array;
using tvm::tl::ascend_get_buf;
using tvm::tl::ascend_pipe_barrier;
using tvm::tl::ascend_rls_buf;
using tvm::tl::ascend_set_flag;
using tvm::tl::ascend_wait_flag;

namespace {

// Above all ids that InsertSync gives; RewriteFlagToBuf brings both into the machine's range.
constexpr int kFirstHandFlag = 1 << 16;

enum class Kind { kLock, kWait, kWork, kBarrier, kUnlock, kSet };

struct Part {
  Kind kind;
  PipeMask pipe;
};

PipeMask PipeOf(const std::string& name) { return ParsePipe(name).value_or(0); }

const CallNode* CallOf(const Stmt& stmt) {
  const auto* evaluate = stmt.as<EvaluateNode>();
  return evaluate == nullptr ? nullptr : evaluate->value.as<CallNode>();
}

// What a statement can be in a run; nothing if it ends any run.
std::optional<Part> AsPart(const Stmt& stmt, const Machine& machine) {
  const CallNode* call = CallOf(stmt);
  const auto* name =
      call == nullptr || call->args.empty() ? nullptr : call->args[0].as<StringImmNode>();
  if (name != nullptr) {
    const std::string text = name->value;
    if (call->op.same_as(ascend_pipe_barrier())) {
      if (PipeOf(text) == kAllPipes) return std::nullopt;
      return Part{Kind::kBarrier, PipeOf(text)};
    }
    if (call->op.same_as(ascend_get_buf())) return Part{Kind::kLock, PipeOf(text)};
    if (call->op.same_as(ascend_rls_buf())) return Part{Kind::kUnlock, PipeOf(text)};
    const size_t split = text.find('_');
    if (call->op.same_as(ascend_set_flag())) return Part{Kind::kSet, PipeOf(text.substr(0, split))};
    if (call->op.same_as(ascend_wait_flag()) && split != std::string::npos) {
      return Part{Kind::kWait, PipeOf(text.substr(split + 1))};
    }
  }
  // Marked tasks, branches and loops are divided by rules of their own; a binding has to stay where
  // all that follows can see it.
  if (!stmt.as<EvaluateNode>() && !stmt.as<BufferStoreNode>() && !stmt.as<SBlockNode>()) {
    return std::nullopt;
  }
  return Part{Kind::kWork, ResourcesOf(stmt, machine).pipes};
}

// One run in the making.
class Run {
 public:
  // True if `part` goes on with the run.
  bool Accepts(const Part& part) const {
    if (stmts_.empty()) return true;
    if (part.pipe != pipe_ || part.pipe == 0 || ended_) return false;
    if (locks_held_ > 0 || part.kind == Kind::kBarrier) return true;
    if (after_barrier_ && part.kind == Kind::kWork) return true;
    return Closes(part) == has_work_;
  }

  void Add(const Stmt& stmt, const Part& part) {
    pipe_ = part.pipe;
    stmts_.push_back(stmt);
    has_work_ = has_work_ || part.kind == Kind::kWork;
    after_barrier_ = part.kind == Kind::kBarrier;
    ended_ = Closes(part) && !has_work_;
    has_sync_ = has_sync_ || part.kind != Kind::kWork;
    if (part.kind == Kind::kLock) ++locks_held_;
    if (part.kind == Kind::kUnlock) --locks_held_;
  }

  void FlushTo(Array<Stmt>* out) {
    if (has_work_ && has_sync_) {
      out->push_back(MakeTask(SeqStmt(stmts_, stmts_[0]->span)).marker);
    } else {
      for (const Stmt& stmt : stmts_) out->push_back(stmt);
    }
    *this = Run();
  }

 private:
  static bool Closes(const Part& part) {
    return part.kind == Kind::kUnlock || part.kind == Kind::kSet;
  }

  Array<Stmt> stmts_;
  PipeMask pipe_ = 0;
  int locks_held_ = 0;
  bool has_work_ = false;
  bool after_barrier_ = false;
  bool has_sync_ = false;
  bool ended_ = false;  // began with what should end it
};

class FlagMover : public StmtExprMutator {
 private:
  PrimExpr VisitExpr_(const CallNode* op) final {
    if (!op->op.same_as(ascend_set_flag()) && !op->op.same_as(ascend_wait_flag())) {
      return StmtExprMutator::VisitExpr_(op);
    }
    Call call = tvm::ffi::GetRef<Call>(op);
    const PrimExpr& id = op->args[1];
    call.CopyOnWrite()->args.Set(1, id + make_const(id.dtype(), kFirstHandFlag));
    return call;
  }
};

}  // namespace

Stmt MoveHandFlags(const Stmt& body) { return FlagMover()(body); }

Array<Stmt> JoinHandSync(const Array<Stmt>& stmts, const Machine& machine) {
  Array<Stmt> joined;
  Run run;
  for (const Stmt& stmt : stmts) {
    const std::optional<Part> part = AsPart(stmt, machine);
    if (!part.has_value()) {
      run.FlushTo(&joined);
      joined.push_back(stmt);
      continue;
    }
    if (!run.Accepts(*part)) run.FlushTo(&joined);
    run.Add(stmt, *part);
  }
  run.FlushTo(&joined);
  return joined;
}

}  // namespace tilelang_ascend_sched
