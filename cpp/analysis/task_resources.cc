#include "analysis/task_resources.h"

#include <tvm/tirx/stmt_functor.h>

#include "analysis/call_pipes.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;

namespace {

class Collector : public StmtExprVisitor {
 public:
  explicit Collector(const Machine& machine) : machine_(machine) {}

  TaskResources resources;

 private:
  void VisitExpr_(const CallNode* op) final {
    if (!in_block_) {
      resources.pipes |= CallPipes(op, machine_);
      resources.ports |= CallPorts(op, machine_);
    }
    resources.writes_core_state = resources.writes_core_state || WritesCoreState(op);
    StmtExprVisitor::VisitExpr_(op);
  }

  void VisitStmt_(const SBlockNode* op) final {
    if (!in_block_) resources.pipes |= BlockPipes(op);
    const bool outside = in_block_;
    in_block_ = true;
    StmtExprVisitor::VisitStmt_(op);
    in_block_ = outside;
  }

  const Machine& machine_;
  bool in_block_ = false;
};

}  // namespace

CoreMask CoresWith(const TaskResources& resources) {
  CoreMask cores = 0;
  if ((resources.pipes & (kMTE1 | kCube | kFixpipe)) != 0) cores |= kAic;
  if ((resources.pipes & (kMTE3 | kVector)) != 0) cores |= kAiv;
  if ((resources.ports & kAicPort) != 0) cores |= kAic;
  if ((resources.ports & kAivPort) != 0) cores |= kAiv;
  return cores;
}

TaskResources ResourcesOf(const Stmt& stmt, const Machine& machine) {
  Collector collector(machine);
  collector(stmt);
  TaskResources resources = collector.resources;
  if ((resources.pipes & ~kScalar) == 0) resources.pipes |= kScalar;
  return resources;
}

}  // namespace tilelang_ascend_sched
