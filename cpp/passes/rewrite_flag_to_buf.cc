#include "passes/rewrite_flag_to_buf.h"

#include <ascend/op/builtin.h>
#include <tvm/arith/analyzer.h>
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/reflection/registry.h>
#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>
#include <tvm/tirx/transform.h>

#include <memory>
#include <unordered_map>

#include "analysis/core_sections.h"
#include "hw/load.h"
#include "report/error.h"
#include "report/note.h"
#include "sync/flag_plan.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::DataType;
using tvm::IntImm;
using tvm::PrimExpr;
using tvm::tl::ascend_get_buf;
using tvm::tl::ascend_rls_buf;
using tvm::tl::ascend_set_flag;

namespace {

constexpr const char* kPass = "RewriteFlagToBuf";

// What the machine calls non-blocking, in `get_buf` and `rls_buf`.
constexpr int kBlocking = 0;
constexpr int kNonBlocking = 1;

// The pipe of `event` that sets its flags, or the one that waits for them: MTE2_V is set by MTE2.
std::string Pipe(const std::string& event, bool is_set) {
  const size_t split = event.find('_');
  if (split == std::string::npos) {
    Fail(kPass, Text("`", event, "` is no event: expected the names of two pipes, as in MTE2_V"));
  }
  return "PIPE_" + (is_set ? event.substr(0, split) : event.substr(split + 1));
}

class Rewriter : public StmtMutator {
 public:
  // `core` empty: the plan holds for all code.
  Rewriter(const std::string& core, const FlagPlan& plan) : core_(core) {
    for (const PlannedRun& run : plan.runs) {
      for (const FlagUse& use : run.uses) run_of_[use.call] = &run;
    }
  }

 private:
  Stmt VisitStmt_(const SBlockNode* op) final {
    const char* core = SectionCore(op);
    if (!core_.empty() && core != nullptr && core != core_) return tvm::ffi::GetRef<Stmt>(op);
    return StmtMutator::VisitStmt_(op);
  }

  Stmt VisitStmt_(const EvaluateNode* op) final {
    auto found = run_of_.find(op->value.as<CallNode>());
    if (found == run_of_.end()) return tvm::ffi::GetRef<Stmt>(op);
    const PlannedRun& run = *found->second;
    Call call = tvm::Downcast<Call>(op->value);
    const PrimExpr old_id = run.folded ? IntImm(call->args[1].dtype(), run.ids.min) : call->args[1];
    PrimExpr id = analyzer_.Simplify(old_id + IntImm(old_id.dtype(), run.shift));
    if (run.kept) {
      call.CopyOnWrite()->args.Set(1, id);
      return Evaluate(call, op->span);
    }
    const bool is_set = call->op.same_as(ascend_set_flag());
    tvm::ffi::Array<PrimExpr> args{StringImm(Pipe(run.event, is_set)), id,
                                   IntImm(DataType::Int(32), is_set ? kNonBlocking : kBlocking)};
    auto statement = [&](const tvm::Op& lock_op) {
      return Evaluate(Call(call.dtype(), lock_op, args, {}, call->span), op->span);
    };
    return SeqStmt({statement(ascend_get_buf()), statement(ascend_rls_buf())}, op->span);
  }

  const std::string& core_;
  std::unordered_map<const CallNode*, const PlannedRun*> run_of_;
  tvm::arith::Analyzer analyzer_;
};

void Tell(const PrimFunc& kernel, const SyncModel& limits, const std::string& core,
          const PlannedRun& run) {
  const int64_t first_lock = run.ids.min + run.shift;
  const std::string locks = run.folded
                                ? Text("all use lock ", first_lock, ", in turn")
                                : Text("use locks ", first_lock, "..", run.ids.max + run.shift);
  Note(kPass, kernel, NoteKind::kDegraded,
       Text(run.event, " needs more than ", limits.flags_per_event, " flags: ids ", run.ids.min,
            "..", run.ids.max, " of ", DescribeLoop(run), " ", locks, " instead"),
       {{"event", run.event},
        {"core", core},
        {"loop", run.loop},
        {"first_id", run.ids.min},
        {"first_lock", first_lock},
        {"count", run.locks()}});
}

// The rewritten body of what `core` runs; of all code if `core` is empty.
Stmt RewriteCore(const PrimFunc& kernel, const SyncModel& limits, const std::string& core,
                 const Stmt& body, bool fold_rings) {
  const Stmt seen = core.empty() ? body : OnlyCore(body, core);
  const FlagPlan plan = PlanFlags(KernelName(kernel), seen, limits, fold_rings);
  if (plan.runs.empty()) return body;
  for (const PlannedRun& run : plan.runs) {
    if (!run.kept) Tell(kernel, limits, core, run);
  }
  return Rewriter(core, plan)(body);
}

bool HasFlagsOutsideSections(const Stmt& body) { return HasFlags(OnlyCore(body, "")); }

PrimFunc Rewrite(PrimFunc kernel, bool fold_rings) {
  if (!HasFlags(kernel->body)) return kernel;
  const std::shared_ptr<const Machine> machine = CurrentMachine();
  std::vector<std::string> cores{""};
  if (!HasFlagsOutsideSections(kernel->body)) cores = CoresOf(kernel->body);
  Stmt body = kernel->body;
  for (const std::string& core : cores)
    body = RewriteCore(kernel, machine->sync, core, body, fold_rings);
  if (!body.same_as(kernel->body)) kernel.CopyOnWrite()->body = std::move(body);
  return kernel;
}

}  // namespace

tvm::transform::Pass RewriteFlagToBuf(bool fold_rings) {
  auto run = [fold_rings](PrimFunc kernel, const tvm::IRModule&,
                          const tvm::transform::PassContext&) {
    return Rewrite(std::move(kernel), fold_rings);
  };
  return transform::CreatePrimFuncPass(run, 0, "tl.RewriteFlagToBuf", {});
}

TVM_FFI_STATIC_INIT_BLOCK() {
  tvm::ffi::reflection::GlobalDef()
      .def("tl.ascend_sched.transform.RewriteFlagToBuf", [] { return RewriteFlagToBuf(false); })
      .def("tl.ascend_sched.transform.RewriteFlagToBufFolding",
           [] { return RewriteFlagToBuf(true); });
}

}  // namespace tilelang_ascend_sched
