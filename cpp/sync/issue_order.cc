#include "sync/issue_order.h"

#include <tvm/arith/analyzer.h>
#include <tvm/tirx/analysis.h>
#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::IntImmNode;
using tvm::PrimExpr;

namespace {

class IssueWalk : public StmtVisitor {
 public:
  using OpOf = std::function<std::optional<FlagOp>(const CallNode*)>;

  IssueWalk(const std::vector<int64_t>& sizes, const OpOf& op_of)
      : sizes_(sizes), op_of_(op_of), unanswered_(sizes.size(), 0), proven_(sizes.size(), true) {}

  std::vector<bool> Walk(const Stmt& body) {
    VisitStmt(body);
    return proven_;
  }

 private:
  void VisitStmt_(const EvaluateNode* op) final {
    const auto* call = op->value.as<CallNode>();
    std::optional<FlagOp> flag = call == nullptr ? std::nullopt : op_of_(call);
    if (!flag.has_value()) return;
    int64_t& sets = unanswered_[flag->run];
    if (flag->is_set) {
      // A flag is never set twice, so no more than the run's ids can be set.
      sets = std::min(sets + 1, sizes_[flag->run]);
    } else if (sets > 0) {
      --sets;
    } else {
      proven_[flag->run] = false;
    }
  }

  void VisitStmt_(const BindNode* op) final {
    if (first_iteration_.empty() || SideEffect(op->value) > CallEffectKind::kPure) return;
    first_iteration_.Set(op->var, Substitute(op->value, first_iteration_));
  }

  void VisitStmt_(const IfThenElseNode* op) final {
    const bool never = !first_iteration_.empty() &&
                       analyzer_.CanProve(!Substitute(op->condition, first_iteration_));
    const std::vector<int64_t> before = unanswered_;
    if (!never) VisitStmt(op->then_case);
    if (!op->else_case.has_value()) return;
    const std::vector<int64_t> after_then = std::exchange(unanswered_, before);
    VisitStmt(op->else_case.value());
    if (never) return;
    for (size_t run = 0; run < sizes_.size(); ++run) {
      unanswered_[run] = std::min(unanswered_[run], after_then[run]);
    }
  }

  void VisitStmt_(const ForNode* op) final {
    const auto* extent = op->extent.as<IntImmNode>();
    const int64_t trips = extent ? extent->value : std::numeric_limits<int64_t>::max();
    if (trips <= 0) return;
    const tvm::ffi::Map<Var, PrimExpr> outside = first_iteration_;
    first_iteration_.Set(op->loop_var, Substitute(op->min, outside));
    VisitStmt(op->body);
    first_iteration_ = outside;
    first_iteration_.erase(op->loop_var);
    UntilSettled(op->body, trips - 1);
    first_iteration_ = outside;
  }

  void VisitStmt_(const WhileNode* op) final {
    UntilSettled(op->body, std::numeric_limits<int64_t>::max());
  }

  // The counts are bounded and a larger count before the body never gives a smaller one after it,
  // so from one iteration to the next they go one way and come to rest.
  void UntilSettled(const Stmt& body, int64_t trips) {
    for (int64_t trip = 0; trip < trips; ++trip) {
      const std::vector<int64_t> before = unanswered_;
      VisitStmt(body);
      if (unanswered_ == before) return;
    }
  }

  const std::vector<int64_t>& sizes_;
  const OpOf& op_of_;
  std::vector<int64_t> unanswered_;
  std::vector<bool> proven_;
  // What the variables of the loops that are in their first iteration stand for.
  tvm::ffi::Map<Var, PrimExpr> first_iteration_;
  tvm::arith::Analyzer analyzer_;
};

}  // namespace

std::vector<bool> SetsComeFirst(
    const Stmt& body, const std::vector<int64_t>& sizes,
    const std::function<std::optional<FlagOp>(const CallNode*)>& op_of) {
  return IssueWalk(sizes, op_of).Walk(body);
}

}  // namespace tilelang_ascend_sched
