#include "ir/task_tree.h"

#include <tvm/ir/cast.h>
#include <tvm/tirx/op.h>

#include <limits>
#include <utility>

#include "report/error.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::DataType;
using tvm::Downcast;
using tvm::IntImm;
using tvm::IntImmNode;
using tvm::PrimExpr;
using tvm::ffi::Any;
using tvm::ffi::Map;
using tvm::ffi::String;

namespace {

constexpr const char* kWhere = "schedule units";

using Metadata = Map<String, Any>;

// Tasks that no pass has given marks yet may carry a number instead of a map.
Metadata MetadataOf(const AttrStmt& marker) {
  if (auto map = marker->node.as<Metadata>()) return *map;
  return {};
}

std::optional<int64_t> IntegerMark(const Metadata& metadata, const char* key) {
  auto value = metadata.Get(key);
  if (!value.has_value()) return std::nullopt;
  const PrimExpr expr = value->cast<PrimExpr>();
  const auto* integer = expr.as<IntImmNode>();
  if (integer == nullptr) {
    Fail(kWhere, Text("`", key, "` must be a constant integer, but is `", expr, "`"));
  }
  return integer->value;
}

int64_t CheckRange(const char* key, int64_t value, int64_t low, int64_t high) {
  if (value < low || value > high) {
    Fail(kWhere, Text("`", key, "` is ", value, ", which is not within ", low, "..", high));
  }
  return value;
}

AttrStmt WithBody(const AttrStmt& marker, Stmt body) {
  return AttrStmt(marker->node, marker->attr_key, marker->value, std::move(body), marker->span);
}

AttrStmt WithNode(const AttrStmt& marker, Any node) {
  return AttrStmt(std::move(node), marker->attr_key, marker->value, marker->body, marker->span);
}

AttrStmt MakeMarker(const char* key, Metadata metadata, Stmt body) {
  const tvm::Span span = body->span;
  return AttrStmt(metadata, key, IntImm(DataType::Int(32), 1), std::move(body), span);
}

bool IsTaskMarker(const AttrStmtNode* op) {
  return op->attr_key == attrs::kTask || op->attr_key == attrs::kPerCoreTask;
}

bool IsUnit(const Stmt& stmt) {
  const auto* marker = stmt.as<AttrStmtNode>();
  return marker != nullptr && marker->attr_key == attrs::kScheduleUnit;
}

bool IsScheduled(const ForNode* op) {
  return op->kind == ForKind::kSerial || op->kind == ForKind::kUnrolled;
}

// Takes the guards off the front of `body`.
std::vector<Guard> TakeGuards(Stmt* body) {
  std::vector<Guard> guards;
  while (true) {
    if (auto branch = body->as<IfThenElse>()) {
      if (branch->get()->else_case.has_value()) {
        Fail(kWhere, Text("a guard cannot have an `else`: ", *body));
      }
      guards.push_back({*branch});
      *body = branch->get()->then_case;
    } else if (auto attribute = body->as<AttrStmt>();
               attribute.has_value() && IsGuardAttribute(attribute->get())) {
      guards.push_back({*attribute});
      *body = attribute->get()->body;
    } else {
      return guards;
    }
  }
}

Unit DecodeUnit(const AttrStmt& marker) {
  Unit unit;
  unit.marker = marker;
  const auto stage = IntegerMark(MetadataOf(marker), attrs::kUnitStage);
  if (!stage.has_value()) Fail(kWhere, Text("a unit has no `stage`: ", marker));
  unit.stage = static_cast<int>(
      CheckRange(attrs::kUnitStage, *stage, kUnsetStage, std::numeric_limits<int>::max()));
  Stmt body = marker->body;
  unit.guards = TakeGuards(&body);
  if (auto task = body.as<AttrStmt>(); task.has_value() && IsTaskMarker(task->get())) {
    unit.what = Task{*task};
  } else if (auto loop = body.as<For>(); loop.has_value() && IsScheduled(loop->get())) {
    unit.what = Loop{*loop, DecodeUnits(loop->get()->body)};
  } else {
    Fail(kWhere,
         Text("a unit must hold one task or one serial or unrolled loop, but holds ", body));
  }
  return unit;
}

Stmt EncodeUnit(const Unit& unit) {
  Stmt body;
  if (const Task* task = unit.task()) {
    body = task->marker;
  } else {
    For loop = unit.loop()->loop;
    loop.CopyOnWrite()->body = EncodeUnits(unit.loop()->body);
    body = std::move(loop);
  }
  for (auto guard = unit.guards.rbegin(); guard != unit.guards.rend(); ++guard) {
    if (const auto* branch = std::get_if<IfThenElse>(&guard->stmt)) {
      body = IfThenElse((*branch)->condition, std::move(body), std::nullopt, (*branch)->span);
    } else {
      body = WithBody(std::get<AttrStmt>(guard->stmt), std::move(body));
    }
  }
  Metadata metadata = MetadataOf(unit.marker);
  metadata.Set(attrs::kUnitStage, IntImm(DataType::Int(32), unit.stage));
  return WithNode(WithBody(unit.marker, std::move(body)), metadata);
}

Unit MakeUnitAround(std::variant<Task, Loop> what, Stmt body) {
  Unit unit;
  unit.marker = MakeMarker(attrs::kScheduleUnit, {}, std::move(body));
  unit.what = std::move(what);
  return unit;
}

}  // namespace

PrimExpr Guard::condition() const {
  const auto* branch = std::get_if<IfThenElse>(&stmt);
  return branch == nullptr ? PrimExpr() : (*branch)->condition;
}

TaskMarks Task::marks() const {
  const Metadata metadata = MetadataOf(marker);
  TaskMarks marks;
  marks.latency = IntegerMark(metadata, attrs::kLatency);
  if (marks.latency.value_or(0) < 0) {
    Fail(kWhere, Text("T.Task latency must be non-negative, but is ", *marks.latency));
  }
  marks.interval = IntegerMark(metadata, attrs::kInterval);
  if (marks.interval.value_or(1) <= 0) {
    Fail(kWhere, Text("T.Task ii must be positive, but is ", *marks.interval));
  }
  if (auto cores = IntegerMark(metadata, attrs::kCoreMask)) {
    marks.cores = static_cast<CoreMask>(CheckRange(attrs::kCoreMask, *cores, 1, kAnyCore));
  }
  return marks;
}

Task Task::WithMarks(const TaskMarks& marks) const {
  Metadata metadata = MetadataOf(marker);
  auto set = [&metadata](const char* key, int64_t value) {
    metadata.Set(key, IntImm(DataType::Int(64), value));
  };
  if (marks.latency.has_value()) set(attrs::kLatency, *marks.latency);
  if (marks.interval.has_value()) set(attrs::kInterval, *marks.interval);
  if (marks.cores.has_value()) set(attrs::kCoreMask, *marks.cores);
  return {WithNode(marker, metadata)};
}

Unit MakeUnit(Task task) {
  Stmt body = task.marker;
  return MakeUnitAround(std::move(task), std::move(body));
}

Unit MakeUnit(Loop loop) {
  Stmt body = loop.loop;
  return MakeUnitAround(std::move(loop), std::move(body));
}

Task MakeTask(Stmt body) { return {MakeMarker(attrs::kTask, {}, std::move(body))}; }

bool IsGuardAttribute(const AttrStmtNode* op) {
  return op->attr_key == attr::tilelang_assume || op->attr_key == attrs::kAssumeRuntimeCheck;
}

bool HasUnits(const Stmt& body) {
  const auto* sequence = body.as<SeqStmtNode>();
  return IsUnit(sequence == nullptr ? body : sequence->seq[0]);
}

std::vector<Unit> DecodeUnits(const Stmt& body) {
  std::vector<Unit> units;
  auto add = [&units](const Stmt& stmt) {
    if (!IsUnit(stmt)) {
      Fail(kWhere,
           Text("found a statement outside of all units; MaterializeScheduleUnits has to run "
                "first: ",
                stmt));
    }
    units.push_back(DecodeUnit(stmt.as<AttrStmt>().value()));
  };
  if (const auto* sequence = body.as<SeqStmtNode>()) {
    for (const Stmt& stmt : sequence->seq) add(stmt);
  } else {
    add(body);
  }
  return units;
}

Stmt EncodeUnits(const std::vector<Unit>& units) {
  tvm::ffi::Array<Stmt> stmts;
  for (const Unit& unit : units) stmts.push_back(EncodeUnit(unit));
  return SeqStmt::Flatten(stmts);
}

}  // namespace tilelang_ascend_sched
