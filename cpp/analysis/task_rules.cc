#include "analysis/task_rules.h"

#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>

#include <string>
#include <utility>

#include "analysis/call_pipes.h"
#include "analysis/task_resources.h"
#include "analysis/touches_buffers.h"
#include "report/error.h"
#include "report/place.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;

namespace {

constexpr const char* kPass = "MaterializeScheduleUnits";

[[noreturn]] void Refuse(const std::string& rule, const Stmt& stmt) {
  Fail(kPass, Text(rule, ": ", Brief(stmt)));
}

bool IsOnePipe(PipeMask pipes) { return pipes != 0 && (pipes & (pipes - 1)) == 0; }

const CallNode* AsCrossCoreSync(const Stmt& stmt) {
  const auto* evaluate = stmt.as<EvaluateNode>();
  const auto* call = evaluate == nullptr ? nullptr : evaluate->value.as<CallNode>();
  return call != nullptr && IsCrossCoreSync(call) ? call : nullptr;
}

enum class TaskKind { kMarked, kUnmarked, kCandidate };

// What may not stand inside one task.
class InsideTask : public StmtExprVisitor {
 public:
  InsideTask(const Task& task, TaskKind kind)
      : task_(task), kind_(kind), sync_only_(AsCrossCoreSync(task.body()) != nullptr) {}

  void Check() { VisitStmt(task_.body()); }

 private:
  void VisitStmt_(const AttrStmtNode* op) final {
    const Stmt stmt = tvm::ffi::GetRef<Stmt>(op);
    if (op->attr_key == attrs::kTask) Refuse("Nested T.Task regions are not supported", stmt);
    if (op->attr_key == attrs::kPerCoreTask && kind_ != TaskKind::kUnmarked) {
      Refuse("T.PerCoreTask cannot be nested inside T.Task; put the T.Task inside", stmt);
    }
    if (op->attr_key == attrs::kStage) {
      Refuse(Text("T.Stage must wrap a complete scheduler task; it cannot appear inside ", inside_),
             stmt);
    }
    StmtExprVisitor::VisitStmt_(op);
  }

  void VisitStmt_(const SBlockNode* op) final {
    const std::string outside = std::exchange(inside_, NameOf(op));
    StmtExprVisitor::VisitStmt_(op);
    inside_ = outside;
  }

  void VisitStmt_(const ForNode* op) final {
    const std::string outside = inside_;
    if (op->kind == ForKind::kParallel) inside_ = "a parallel loop";
    StmtExprVisitor::VisitStmt_(op);
    inside_ = outside;
  }

  static std::string NameOf(const SBlockNode* block) {
    if (block->name_hint == "SIMT_VF") return "T.SimtVF";
    if (block->name_hint == "SIMD_VF") return "T.SimdVF";
    if (block->name_hint == "VECTOR") return "T.Vector";
    if (block->name_hint == "CUBE") return "T.Cube";
    return Text("the block ", block->name_hint);
  }

  void VisitStmt_(const IfThenElseNode* op) final {
    if (kind_ == TaskKind::kCandidate) {
      Refuse("Control flow selecting a T.Task candidate must be outside the T.Task scope",
             tvm::ffi::GetRef<Stmt>(op));
    }
    StmtExprVisitor::VisitStmt_(op);
  }

  void VisitExpr_(const CallNode* op) final {
    if (IsCrossCoreSync(op) && !sync_only_) {
      Refuse("Inter-core synchronization inside T.Task must be the task's only statement",
             task_.body());
    }
    StmtExprVisitor::VisitExpr_(op);
  }

  const Task& task_;
  const TaskKind kind_;
  const bool sync_only_;
  std::string inside_ = "T.Task";  // the innermost scope around
};

TaskResources CheckOneTask(const Task& task, const Machine& machine, TaskKind kind) {
  InsideTask(task, kind).Check();
  const TaskResources resources = ResourcesOf(task.body(), machine);
  PipeMask issuing = resources.pipes;
  if (resources.writes_core_state) issuing |= kScalar;
  if (!IsOnePipe(issuing)) {
    Refuse(Text("T.Task supports exactly one Ascend hardware pipe, but this uses ",
                PipeNames(issuing), "; split it into one task for each"),
           task.body());
  }
  if ((resources.ports & kAivPort) != 0 && (resources.ports & kAicPort) != 0) {
    Refuse(
        "T.Task requires one Ascend core affinity, but this copies between GM and UB (AIV) and "
        "between GM and L1 or L0C (AIC); split it into one task for each",
        task.body());
  }
  return resources;
}

// The code between the candidates of a T.PerCoreTask.
class PerCoreBody : public StmtVisitor {
 public:
  PerCoreBody(const Task& task, const Machine& machine, PipeMask pipe)
      : task_(task), machine_(machine), pipe_(pipe) {}

  void Check() {
    VisitStmt(task_.body());
    if (!works_) {
      Refuse("T.PerCoreTask must contain at least one dependency-bearing task", task_.marker);
    }
  }

 private:
  void VisitStmt_(const AttrStmtNode* op) final {
    if (op->attr_key == attrs::kTask) {
      CheckCandidate({tvm::ffi::GetRef<AttrStmt>(op)});
    } else if (IsGuardAttribute(op)) {
      StmtVisitor::VisitStmt_(op);
    } else {
      Refuse(Text("T.PerCoreTask cannot contain an attribute `", op->attr_key, "`"),
             tvm::ffi::GetRef<Stmt>(op));
    }
  }

  void CheckCandidate(const Task& candidate) {
    const TaskResources resources = CheckOneTask(candidate, machine_, TaskKind::kCandidate);
    if (!TouchesBuffers(candidate.body())) {
      if (!IsControl(candidate.body())) {
        Refuse(
            "T.PerCoreTask only permits scalar Bind, condition and loop control and inter-core "
            "synchronization in addition to operations on its pipe",
            candidate.body());
      }
      return;
    }
    if (resources.pipes != pipe_) {
      Refuse(Text("T.PerCoreTask candidate pipe ", PipeNames(resources.pipes),
                  " does not match its inferred pipe ", PipeNames(pipe_)),
             candidate.body());
    }
    works_ = true;
  }

  static bool IsControl(const Stmt& stmt) {
    if (stmt.as<BindNode>() || AsCrossCoreSync(stmt) != nullptr) return true;
    const auto* evaluate = stmt.as<EvaluateNode>();
    return evaluate != nullptr && is_zero(evaluate->value);
  }

  const Task& task_;
  const Machine& machine_;
  const PipeMask pipe_;
  bool works_ = false;
};

// Cross-core flags inside a T.PerCoreTask are raised and awaited by its own pipe.
void CheckSyncPipes(const Task& task, PipeMask pipe) {
  PostOrderVisit(task.body(), [&](const tvm::ffi::ObjectRef& node) {
    const auto* call = node.as<CallNode>();
    if (call == nullptr || !IsCrossCoreSync(call)) return;
    const auto* name = call->args[1].as<StringImmNode>();
    if (name != nullptr && ParsePipe(std::string(name->value)) == pipe) return;
    Refuse(Text("Inter-core synchronization inside T.PerCoreTask must use its inferred pipe PIPE_",
                PipeNames(pipe), ", not ", call->args[1]),
           task.marker);
  });
}

}  // namespace

void CheckTask(const Task& task, const Machine& machine, bool marked) {
  CheckOneTask(task, machine, marked ? TaskKind::kMarked : TaskKind::kUnmarked);
}

void CheckPerCoreTask(const Task& task, const Machine& machine) {
  const PipeMask pipe = ResourcesOf(task.body(), machine).pipes;
  if (!IsOnePipe(pipe)) {
    Refuse(Text("T.PerCoreTask requires exactly one inferred hardware pipe, but this uses ",
                PipeNames(pipe)),
           task.marker);
  }
  PerCoreBody(task, machine, pipe).Check();
  CheckSyncPipes(task, pipe);
}

}  // namespace tilelang_ascend_sched
