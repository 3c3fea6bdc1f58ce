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
      if (const auto copy = AsCopy(op)) {
        resources.ports |= CopyPorts(ParseScope(std::string(copy->from.scope())),
                                     ParseScope(std::string(copy->to.scope())), machine_);
      }
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

TaskResources ResourcesOf(const Stmt& stmt, const Machine& machine) {
  Collector collector(machine);
  collector(stmt);
  TaskResources resources = collector.resources;
  if ((resources.pipes & ~kScalar) == 0) resources.pipes |= kScalar;
  return resources;
}

}  // namespace tilelang_ascend_sched
