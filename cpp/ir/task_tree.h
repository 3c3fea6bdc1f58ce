#pragma once

#include <tvm/tirx/stmt.h>

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "hw/pipe.h"
#include "ir/attrs.h"

namespace tilelang_ascend_sched {

// A kernel between MaterializeScheduleUnits and LowerScheduledTIR: a tree of schedule units. In the
// IR a unit is the attribute statement `tl.schedule_unit`, around guards, around a task or a loop.

// A condition under which a unit runs, or something assumed to hold for it: an `if` without `else`,
// or an attribute statement. What it guards is kept elsewhere; its own body means nothing.
struct Guard {
  std::variant<tvm::tirx::IfThenElse, tvm::tirx::AttrStmt> stmt;

  // The condition; not defined for an attribute.
  tvm::PrimExpr condition() const;
};

// What is known of a task's cost and place. Cycles.
struct TaskMarks {
  std::optional<int64_t> latency;
  std::optional<int64_t> interval;
  std::optional<CoreMask> cores;
};

// What the scheduler moves as one: the attribute statement `tl.ascend_task`, or
// `tl.ascend_per_core_task`, which holds one candidate task for each core that may run it.
struct Task {
  tvm::tirx::AttrStmt marker;

  bool per_core() const { return marker->attr_key == attrs::kPerCoreTask; }
  const tvm::tirx::Stmt& body() const { return marker->body; }

  // InternalError if a mark is no constant or out of its range.
  TaskMarks marks() const;
  // The task with those marks that are given, all others as they were.
  Task WithMarks(const TaskMarks& marks) const;
};

struct Unit;

// A serial or unrolled loop over units. The loop's own body means nothing.
struct Loop {
  tvm::tirx::For loop;
  std::vector<Unit> body;
};

struct Unit {
  tvm::tirx::AttrStmt
      marker;  // span, and metadata that other passes may add; its body means nothing
  int stage = kUnsetStage;
  std::vector<Guard> guards;  // outermost first
  std::variant<Task, Loop> what;

  const Task* task() const { return std::get_if<Task>(&what); }
  const Loop* loop() const { return std::get_if<Loop>(&what); }
  Loop* loop() { return std::get_if<Loop>(&what); }
};

// A new unit without stage or guards, with the source place of what it holds.
Unit MakeUnit(Task task);
Unit MakeUnit(Loop loop);

// A task around `body`, with its source place and no marks.
Task MakeTask(tvm::tirx::Stmt body);

// True for attribute statements that guard units: `T.assume` and its run-time check.
bool IsGuardAttribute(const tvm::tirx::AttrStmtNode* op);

// True if this body of a kernel's root block is made of units: before MaterializeScheduleUnits and
// after LowerScheduledTIR it is not.
bool HasUnits(const tvm::tirx::Stmt& body);

// The units in the body of a kernel's root block or of a scheduled loop. InternalError naming the
// statement if `body` is anything but units.
std::vector<Unit> DecodeUnits(const tvm::tirx::Stmt& body);

// The inverse of DecodeUnits: decoding and encoding gives a structurally equal body, with all
// spans.
tvm::tirx::Stmt EncodeUnits(const std::vector<Unit>& units);

}  // namespace tilelang_ascend_sched
