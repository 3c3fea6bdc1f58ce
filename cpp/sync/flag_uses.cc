#include "sync/flag_uses.h"

#include <ascend/op/builtin.h>
#include <tvm/ir/cast.h>

#include <algorithm>

#include "ir/fact_visitor.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::Downcast;
using tvm::IntImmNode;
using tvm::tl::ascend_blockscaled_gemm_l1;
using tvm::tl::ascend_gemm_l1;
using tvm::tl::ascend_get_buf;
using tvm::tl::ascend_rls_buf;
using tvm::tl::ascend_set_flag;
using tvm::tl::ascend_wait_flag;

namespace {

// A loop of unknown length counts as a long one; counts beyond the ceiling are all alike.
constexpr int64_t kUnknownTrips = 1000;
constexpr int64_t kManyExecutions = int64_t{1} << 40;

// Where the L1 GEMM templates (tl_templates/ascend/gemm.h) are told which two locks to take turns
// with.
constexpr size_t kGemmLockArg = 10;
constexpr size_t kBlockscaledGemmLockArg = 14;
constexpr int64_t kGemmLocks = 2;

class Collector : public FactVisitor {
 public:
  FlagUses Collect(const Stmt& body) {
    VisitStmt(body);
    return std::move(uses_);
  }

 private:
  using FactVisitor::VisitStmt_;

  void VisitExpr_(const CallNode* op) final {
    if (op->op.same_as(ascend_set_flag()) || op->op.same_as(ascend_wait_flag())) {
      AddFlag(op);
    } else if (op->op.same_as(ascend_get_buf()) || op->op.same_as(ascend_rls_buf())) {
      uses_.locks.push_back({"lock and unlock calls", facts().RangeOf(op->args[1])});
    } else if (op->op.same_as(ascend_gemm_l1())) {
      AddGemmLocks(op, kGemmLockArg);
    } else if (op->op.same_as(ascend_blockscaled_gemm_l1())) {
      AddGemmLocks(op, kBlockscaledGemmLockArg);
    }
    FactVisitor::VisitExpr_(op);
  }

  void AddFlag(const CallNode* op) {
    FlagUse use{op, op->op.same_as(ascend_set_flag()), facts().RangeOf(op->args[1]), 1, ""};
    for (const ForNode* loop : loops()) {
      const auto* extent = loop->extent.as<IntImmNode>();
      const int64_t trips = extent ? std::max<int64_t>(extent->value, 1) : kUnknownTrips;
      use.executed =
          use.executed > kManyExecutions / trips ? kManyExecutions : use.executed * trips;
      use.loop = loop->loop_var->name_hint;
    }
    uses_.by_event[Downcast<StringImm>(op->args[0])->value].push_back(std::move(use));
  }

  void AddGemmLocks(const CallNode* op, size_t arg) {
    std::optional<IntRange> ids;
    if (arg < op->args.size()) ids = facts().RangeOf(op->args[arg]);
    if (ids.has_value()) ids->max += kGemmLocks - 1;
    uses_.locks.push_back({"L1 GEMM calls", ids});
  }

  FlagUses uses_;
};

}  // namespace

FlagUses CollectFlagUses(const Stmt& body) { return Collector().Collect(body); }

}  // namespace tilelang_ascend_sched
