#include "passes/estimate_latency.h"

#include <tvm/ffi/reflection/registry.h>
#include <tvm/tirx/op.h>
#include <tvm/tirx/transform.h>

#include "analysis/accesses.h"
#include "analysis/cost/phase_cost.h"
#include "analysis/cost/statement_cost.h"
#include "analysis/task_resources.h"
#include "hw/load.h"
#include "ir/fact_mutator.h"
#include "ir/kernels.h"
#include "ir/task_tree.h"
#include "report/error.h"
#include "report/note.h"
#include "report/place.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::ffi::Array;
using tvm::ffi::GetRef;
using tvm::ffi::String;

namespace {

constexpr const char* kPass = "EstimateLatency";

bool IsSinglePipe(PipeMask pipes) { return pipes != 0 && (pipes & (pipes - 1)) == 0; }

class Estimator : public FactMutator {
 public:
  Estimator(const Machine& machine, const std::string& kernel, const Stmt& body, const Facts& outer)
      : FactMutator(outer),
        machine_(machine),
        kernel_(kernel),
        costs_(machine, CallsInHf32Mode(body)) {}

  int tasks = 0;
  const std::vector<std::string>& unknown() const { return costs_.unknown(); }

 private:
  // A candidate of the per-core task that is being estimated.
  struct Candidate {
    const AttrStmtNode* marker;
    Cost cost;
    PipeMask pipes;
  };

  [[noreturn]] void Refuse(const Stmt& stmt, const std::string& message) const {
    Fail(kPass, Text("kernel ", kernel_, PlaceOf(stmt), ": ", message));
  }

  [[noreturn]] void RefuseUnmarked(const Stmt& stmt, const char* kind) const {
    Refuse(stmt, Text(kPass, " found an unmarked ", kind,
                      ". Run tl.transform.MaterializeScheduleUnits before ", kPass, "."));
  }

  using FactMutator::VisitStmt_;
  Stmt VisitStmt_(const AttrStmtNode* op) final {
    if (op->attr_key == attrs::kTask) return EstimateTask(op);
    if (op->attr_key == attrs::kPerCoreTask) return EstimatePerCoreTask(op);
    return FactMutator::VisitStmt_(op);
  }

  Stmt EstimateTask(const AttrStmtNode* op) {
    const Cost cost = Resolved(op, costs_.CostOf(op->body, facts()));
    if (in_per_core_task_) {
      const Accesses accesses = AccessesOf(op->body);
      if (!accesses.reads.empty() || !accesses.writes.empty()) {
        candidates_.push_back({op, cost, ResourcesOf(op->body, machine_).pipes});
      }
    }
    return Annotated(op, cost, op->body);
  }

  Stmt EstimatePerCoreTask(const AttrStmtNode* op) {
    const Stmt task = GetRef<Stmt>(op);
    if (in_per_core_task_) Refuse(task, "Nested T.PerCoreTask regions are not supported");
    in_per_core_task_ = true;
    Stmt body = VisitStmt(op->body);
    in_per_core_task_ = false;
    const std::vector<Candidate> candidates = std::exchange(candidates_, {});
    if (candidates.empty()) {
      Refuse(task,
             "T.PerCoreTask must contain at least one normalized T.Task candidate before "
             "EstimateLatency");
    }
    CheckPipes(op, candidates);
    CandidateCosts costs;
    for (const Candidate& candidate : candidates) costs[candidate.marker] = candidate.cost;
    const Cost cost = Resolved(op, CostOfPerCoreTask(op->body, costs, facts(), machine_));
    return Annotated(op, cost, std::move(body));
  }

  void CheckPipes(const AttrStmtNode* op, const std::vector<Candidate>& candidates) const {
    const PipeMask pipes = ResourcesOf(op->body, machine_).pipes;
    if (!IsSinglePipe(pipes)) {
      Refuse(GetRef<Stmt>(op), Text("T.PerCoreTask requires exactly one inferred hardware pipe, "
                                    "but its body uses mask=",
                                    pipes, " (", PipeNames(pipes), ")"));
    }
    for (const Candidate& candidate : candidates) {
      if (candidate.pipes == pipes) continue;
      Refuse(GetRef<Stmt>(candidate.marker),
             Text("T.PerCoreTask candidate pipe does not match its inferred pipe: inferred ",
                  PipeNames(pipes), ", candidate ", PipeNames(candidate.pipes)));
    }
  }

  // The cost with what T.Task says itself, which must leave a latency of at least the ii.
  Cost Resolved(const AttrStmtNode* marker, const Cost& estimate) const {
    const TaskMarks given = Task{GetRef<AttrStmt>(marker)}.marks();
    // A task that nothing is known of still takes a cycle, unless its author says otherwise.
    Cost cost{given.latency.value_or(std::max<int64_t>(estimate.latency, 1)),
              given.interval.value_or(std::max<int64_t>(estimate.ii, 1))};
    // Synchronization beside a short body adds to the ii alone; its author gave no figure to
    // change.
    if (!given.latency && !given.interval) cost.latency = std::max(cost.latency, cost.ii);
    if (cost.latency < cost.ii) {
      Refuse(GetRef<Stmt>(marker),
             Text("T.Task latency must be greater than or equal to ii, got latency=", cost.latency,
                  given.latency ? " (given)" : " (estimated)", " and ii=", cost.ii,
                  given.interval ? " (given)" : " (estimated)",
                  "; raise the latency or lower the ii"));
    }
    return cost;
  }

  Stmt Annotated(const AttrStmtNode* marker, const Cost& cost, Stmt body) {
    ++tasks;
    const AttrStmt rebuilt(marker->node, marker->attr_key, marker->value, std::move(body),
                           marker->span);
    return Task{rebuilt}.WithMarks({cost.latency, cost.ii, std::nullopt}).marker;
  }

  Stmt VisitStmt_(const ForNode* op) final {
    const bool serial = op->kind == ForKind::kSerial || op->kind == ForKind::kUnrolled;
    if (!serial) RefuseUnmarked(GetRef<Stmt>(op), "parallel loop");
    return FactMutator::VisitStmt_(op);
  }
  Stmt VisitStmt_(const EvaluateNode* op) final { RefuseUnmarked(GetRef<Stmt>(op), "Evaluate"); }
  Stmt VisitStmt_(const BufferStoreNode* op) final {
    RefuseUnmarked(GetRef<Stmt>(op), "BufferStore");
  }
  Stmt VisitStmt_(const BindNode* op) final { RefuseUnmarked(GetRef<Stmt>(op), "Bind"); }
  Stmt VisitStmt_(const WhileNode* op) final { RefuseUnmarked(GetRef<Stmt>(op), "While"); }
  Stmt VisitStmt_(const SBlockNode* op) final { RefuseUnmarked(GetRef<Stmt>(op), "block"); }

  const Machine& machine_;
  const std::string& kernel_;
  StatementCosts costs_;
  bool in_per_core_task_ = false;
  std::vector<Candidate> candidates_;
};

void TellUnknown(const PrimFunc& kernel, const Machine& machine,
                 const std::vector<std::string>& names) {
  if (names.empty()) return;
  std::string listed;
  Array<String> list;
  for (const std::string& name : names) {
    listed += (listed.empty() ? "" : ", ") + name;
    list.push_back(name);
  }
  Note(
      kPass, kernel, NoteKind::kDecision,
      Text("no cost figure for ", listed,
           ": each call counts as one cycle; add figures under vector.calls of a hardware file, or "
           "give the task a latency and ii with T.Task"),
      {{"operations", list}, {"hardware", machine.name}});
}

PrimFunc Rewrite(PrimFunc function) {
  const std::shared_ptr<const Machine> current = CurrentMachine();
  const Machine& machine = *current;
  const std::string name = KernelName(function);
  return RewriteKernels(function, [&](SBlock root, const KernelPlace& place) {
    Estimator estimator(machine, name, root->body, place.facts);
    Stmt body = estimator(root->body);
    if (estimator.tasks == 0) {
      Fail(kPass,
           Text("kernel ", name, ": ", kPass, " found no schedulable tasks inside tilelang_root"));
    }
    TellUnknown(function, machine, estimator.unknown());
    root.CopyOnWrite()->body = std::move(body);
    return root;
  });
}

}  // namespace

tvm::transform::Pass EstimateLatency() {
  auto run = [](PrimFunc function, const tvm::IRModule&, const tvm::transform::PassContext&) {
    return Rewrite(std::move(function));
  };
  return transform::CreatePrimFuncPass(run, 0, "tl.EstimateLatency", {});
}

TVM_FFI_STATIC_INIT_BLOCK() {
  tvm::ffi::reflection::GlobalDef().def("tl.ascend_sched.transform.EstimateLatency",
                                        EstimateLatency);
}

}  // namespace tilelang_ascend_sched
