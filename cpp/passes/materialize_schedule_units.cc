#include "passes/materialize_schedule_units.h"

#include <tvm/ffi/reflection/registry.h>
#include <tvm/ir/cast.h>
#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>
#include <tvm/tirx/transform.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "analysis/asked_versions.h"
#include "analysis/core_sections.h"
#include "analysis/full_barrier.h"
#include "analysis/hand_sync.h"
#include "analysis/synced_sections.h"
#include "analysis/task_resources.h"
#include "analysis/task_rules.h"
#include "analysis/task_stages.h"
#include "analysis/touches_buffers.h"
#include "hw/load.h"
#include "ir/kernels.h"
#include "ir/task_tree.h"
#include "report/error.h"
#include "report/place.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::IntImmNode;
using tvm::PrimExpr;
using tvm::ffi::GetRef;

namespace {

constexpr const char* kPass = "MaterializeScheduleUnits";

using Units = std::vector<Unit>;

template <typename... Nodes>
bool IsAnyOf(const Stmt& stmt) {
  return (... || (stmt.as<Nodes>() != nullptr));
}

bool IsSequentialLoop(const ForNode* loop) {
  return loop->kind == ForKind::kSerial || loop->kind == ForKind::kUnrolled;
}

// Statements that are a task by themselves.
bool IsTaskByItself(const Stmt& stmt) {
  if (const auto* loop = stmt.as<ForNode>()) return !IsSequentialLoop(loop);
  return IsAnyOf<EvaluateNode, BufferStoreNode, BindNode, WhileNode, SBlockNode>(stmt);
}

// A marker that the language layer made may hold a number where tasks have their marks.
Task AsTask(const AttrStmtNode* marker) { return Task{GetRef<AttrStmt>(marker)}.WithMarks({}); }

// Marks each statement in a T.PerCoreTask that is a task by itself as a candidate.
class CandidateMarker : public StmtMutator {
 private:
  Stmt VisitStmt(const Stmt& stmt) final {
    if (const auto* attribute = stmt.as<AttrStmtNode>()) {
      if (attribute->attr_key == attrs::kTask) return AsTask(attribute).marker;
      if (attribute->attr_key == attrs::kPerCoreTask) {
        Fail(kPass, Text("Nested T.PerCoreTask regions are not supported: ", Brief(stmt)));
      }
      if (attribute->attr_key == attrs::kStage) {
        Fail(kPass, Text("T.Stage must wrap a complete scheduler task; it cannot appear inside "
                         "T.PerCoreTask: ",
                         Brief(stmt)));
      }
    }
    if (!IsTaskByItself(stmt)) return StmtMutator::VisitStmt(stmt);
    if (stmt.as<BindNode>() && TouchesBuffers(stmt)) {
      Fail(kPass,
           Text("An unmarked scalar Bind inside T.PerCoreTask may not access buffers; put it "
                "into a T.Task: ",
                Brief(stmt)));
    }
    return MakeTask(stmt).marker;
  }
};

void Append(Units* units, Units more) {
  units->insert(units->end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

void FillIfEmpty(Units* units) {
  if (units->empty()) units->push_back(MakeUnit(MakeTask(Evaluate(0))));
}

Units Guarded(Units units, const Guard& guard) {
  for (Unit& unit : units) {
    std::vector<Guard> guards{guard};
    guards.insert(guards.end(), unit.guards.begin(), unit.guards.end());
    unit.guards = std::move(guards);
  }
  return units;
}

class Divider {
 public:
  explicit Divider(const Machine& machine) : machine_(machine) {}

  // The units of a kernel or of a loop's body, among which stages are given to all or none.
  // `loop` is nullptr for a kernel's.
  Units UnitsOfBody(const Stmt& body, const ForNode* loop) {
    Units units = UnitsInside(body);
    FillIfEmpty(&units);
    CheckStages(units, loop);
    const bool manual = std::any_of(units.begin(), units.end(),
                                    [](const Unit& unit) { return unit.stage != kUnsetStage; });
    for (Unit& unit : units) {
      if (manual && unit.stage == kUnsetStage) unit.stage = 0;
    }
    return units;
  }

 private:
  Units UnitsOfBranch(const IfThenElseNode* op) {
    auto guard = [op](PrimExpr condition) {
      return Guard{IfThenElse(std::move(condition), Evaluate(0), std::nullopt, op->span)};
    };
    Units units = Guarded(UnitsInside(op->then_case), guard(op->condition));
    if (op->else_case.has_value()) {
      Append(&units, Guarded(UnitsInside(op->else_case.value()), guard(Not(op->condition))));
    }
    return units;
  }

  Units UnitsInside(const Stmt& body) {
    bodies_.push_back(body);
    Units units = UnitsOf(body);
    bodies_.pop_back();
    return units;
  }

  Units UnitsOfStage(const AttrStmtNode* op) {
    const auto* stage = op->node.cast<PrimExpr>().as<IntImmNode>();
    if (stage == nullptr || stage->value < 0 || stage->value > std::numeric_limits<int>::max()) {
      Fail(kPass, Text("T.Stage requires a non-negative constant integer, got ",
                       op->node.cast<PrimExpr>(), ": ", Brief(op->body)));
    }
    Units units = UnitsOf(op->body);
    FillIfEmpty(&units);
    for (Unit& unit : units) {
      if (unit.stage != kUnsetStage) {
        Fail(kPass, Text("Nested T.Stage scopes are not supported: ", Brief(op->body)));
      }
      unit.stage = static_cast<int>(stage->value);
    }
    return units;
  }

  Units UnitsOfAttribute(const AttrStmtNode* op) {
    if (op->attr_key == attrs::kTask) return {TaskUnit(AsTask(op), /*marked=*/true)};
    if (op->attr_key == attrs::kPerCoreTask) {
      AttrStmt marker = GetRef<AttrStmt>(op);
      marker.CopyOnWrite()->body = CandidateMarker()(op->body);
      return {TaskUnit(AsTask(marker.get()), /*marked=*/true)};
    }
    if (op->attr_key == attrs::kStage) return UnitsOfStage(op);
    if (op->attr_key == attrs::kScheduleUnit) {
      Fail(kPass, "cannot run on an already-materialized schedule");
    }
    if (!IsGuardAttribute(op)) {
      Fail(kPass, Text("only supports known scheduling attributes in the body of a kernel; `",
                       op->attr_key, "` is none: ", Brief(op->body)));
    }
    Units units = UnitsOf(op->body);
    FillIfEmpty(&units);
    return Guarded(std::move(units), Guard{GetRef<AttrStmt>(op)});
  }

  Units UnitsOf(const Stmt& stmt) {
    if (IsFullBarrier(stmt)) return UnitsOfBarrier(stmt);
    if (IsTaskByItself(stmt)) return {TaskUnit(MakeTask(stmt), /*marked=*/false)};
    if (const auto* sequence = stmt.as<SeqStmtNode>()) {
      Units units;
      for (const Stmt& child : JoinHandSync(sequence->seq, machine_)) {
        Append(&units, UnitsOf(child));
      }
      return units;
    }
    if (const auto* loop = stmt.as<ForNode>()) {
      return {MakeUnit(Loop{GetRef<For>(loop), UnitsOfBody(loop->body, loop)})};
    }
    if (const auto* branch = stmt.as<IfThenElseNode>()) return UnitsOfBranch(branch);
    if (const auto* attribute = stmt.as<AttrStmtNode>()) return UnitsOfAttribute(attribute);
    Fail(kPass, Text("cannot schedule a statement of this kind: ", Brief(stmt)));
  }

  // A barrier holds on the cores that have work in the branch or loop around it, or else around
  // that: a branch may hang on what one core alone knows.
  Units UnitsOfBarrier(const Stmt& barrier) const {
    for (auto body = bodies_.rbegin(); body != bodies_.rend(); ++body) {
      CoreMask cores = CoresWith(ResourcesOf(*body, machine_));
      for (const std::string& core : CoresOf(*body)) cores |= core == "CUBE" ? kAic : kAiv;
      if (cores == 0) continue;
      Units units;
      for (const Stmt& pinned : PinBarrier(barrier, cores)) {
        units.push_back(MakeUnit(MakeTask(pinned)));
      }
      return units;
    }
    return {TaskUnit(MakeTask(barrier), /*marked=*/false)};
  }

  Unit TaskUnit(Task task, bool marked) const {
    task.per_core() ? CheckPerCoreTask(task, machine_) : CheckTask(task, machine_, marked);
    return MakeUnit(std::move(task));
  }

  const Machine& machine_;
  std::vector<Stmt> bodies_;  // of the loops and branches around, outermost first
};

Stmt Materialize(const SBlock& root, const KernelPlace& place) {
  const std::shared_ptr<const Machine> machine = CurrentMachine();
  CheckAskedVersions(root, *machine);
  Divider divider(*machine);
  auto [opened, aiv] = OpenSyncedSections(root, place.aiv);
  opened.CopyOnWrite()->body =
      EncodeUnits(divider.UnitsOfBody(MoveHandFlags(opened->body), nullptr));
  if (!aiv.has_value() || place.aiv.has_value()) return opened;
  return AttrStmt(*aiv, attr::thread_extent, (*aiv)->dom->extent, opened);
}

}  // namespace

tvm::transform::Pass MaterializeScheduleUnits() {
  auto run = [](PrimFunc function, const tvm::IRModule&, const tvm::transform::PassContext&) {
    return RewriteKernels(std::move(function), Materialize);
  };
  return transform::CreatePrimFuncPass(run, 0, "tl.MaterializeScheduleUnits", {});
}

TVM_FFI_STATIC_INIT_BLOCK() {
  tvm::ffi::reflection::GlobalDef().def("tl.ascend_sched.transform.MaterializeScheduleUnits",
                                        MaterializeScheduleUnits);
}

}  // namespace tilelang_ascend_sched
