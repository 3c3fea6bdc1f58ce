#include "analysis/control_flow.h"

#include <op/builtin.h>
#include <tvm/ir/cast.h>
#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "analysis/touches_buffers.h"
#include "ir/attrs.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::DataType;
using tvm::Downcast;
using tvm::Integer;
using tvm::IntImm;
using tvm::PrimExpr;
using tvm::ffi::Array;
using tvm::ffi::GetRef;

namespace {

int64_t StandInExtent(const Stmt& body) {
  int64_t most_stages = 1;
  PostOrderVisit(body, [&most_stages](const tvm::ffi::ObjectRef& node) {
    const auto* loop = node.as<ForNode>();
    if (loop == nullptr) return;
    if (auto stages = loop->annotations.Get(attrs::kNumStages)) {
      most_stages = std::max<int64_t>(most_stages, stages->cast<IntImm>()->value);
    }
  });
  int64_t extent = 2;
  for (int64_t stages = 2; stages <= most_stages; ++stages) extent = std::lcm(extent, stages);
  return extent;
}

class ControlFlowNormalizer : public StmtMutator {
 private:
  Stmt VisitStmt_(const WhileNode* op) final {
    const Var index = Numbered("__while_w_", DataType::Int(32), &whiles_);
    Stmt body = VisitStmt(op->body);
    const int64_t extent = StandInExtent(body);
    if (!is_one(op->condition)) {
      Stmt leave = Evaluate(Call(DataType::Handle(), tvm::tl::loop_break(), {}, {}, op->span));
      Stmt guard = IfThenElse(!op->condition, std::move(leave), std::nullopt, op->span);
      body = SeqStmt::Flatten(Array<Stmt>{VisitStmt(guard), std::move(body)});
    }
    return For(index, IntImm(DataType::Int(32), 0), IntImm(DataType::Int(32), extent),
               ForKind::kSerial, std::move(body), std::nullopt,
               {{attrs::kSyntheticWhile, Integer(1)}}, std::nullopt, op->span);
  }

  Stmt VisitStmt_(const IfThenElseNode* op) final {
    IfThenElse branch = Downcast<IfThenElse>(StmtMutator::VisitStmt_(op));
    if (branch->condition.as<VarNode>()) return branch;
    const Var condition = Numbered("__cond_", DataType::Bool(), &conditions_);
    Stmt bind = Bind(condition, branch->condition, op->span);
    branch.CopyOnWrite()->condition = condition;
    return SeqStmt({std::move(bind), std::move(branch)});
  }

  Stmt VisitStmt_(const SeqStmtNode* op) final {
    Array<Stmt> stmts;
    bool same = true;
    for (const Stmt& stmt : op->seq) {
      stmts.push_back(VisitStmt(stmt));
      same = same && stmts.back().same_as(stmt);
    }
    return same ? GetRef<Stmt>(op) : SeqStmt::Flatten(stmts);
  }

  Stmt VisitStmt_(const ForNode* op) final {
    if (op->kind != ForKind::kSerial && op->kind != ForKind::kUnrolled) return GetRef<Stmt>(op);
    For loop = Downcast<For>(StmtMutator::VisitStmt_(op));
    Array<Stmt> stmts;
    auto bind = [&](const PrimExpr& bound) -> PrimExpr {
      if (!TouchesBuffers(bound)) return bound;
      const Var value = Numbered("__loop_bound_", bound.dtype(), &bounds_);
      stmts.push_back(Bind(value, bound, op->span));
      return value;
    };
    ForNode* edit = loop.CopyOnWrite();
    edit->min = bind(edit->min);
    edit->extent = bind(edit->extent);
    if (edit->step.has_value()) edit->step = bind(edit->step.value());
    stmts.push_back(loop);
    return SeqStmt::Flatten(stmts);
  }

  Stmt VisitStmt_(const SBlockNode* op) final { return GetRef<Stmt>(op); }

  static Var Numbered(const char* prefix, DataType dtype, int* count) {
    return Var(prefix + std::to_string((*count)++), dtype);
  }

  int whiles_ = 0;
  int conditions_ = 0;
  int bounds_ = 0;
};

}  // namespace

Stmt NormalizeControlFlow(const Stmt& body) { return ControlFlowNormalizer()(body); }

}  // namespace tilelang_ascend_sched
