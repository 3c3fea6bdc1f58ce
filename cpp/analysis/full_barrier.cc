#include "analysis/full_barrier.h"

#include <ascend/op/builtin.h>
#include <tvm/ir/expr.h>

#include <initializer_list>
#include <string>

#include "analysis/fence.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::DataType;
using tvm::IntImm;
using tvm::ffi::Array;

namespace {

// Flags count modulo the number that there are, and none that a user writes is negative: an id must
// not stand for both cores.
constexpr int kAivFlag = -1;
constexpr int kAicFlag = -2;

Stmt Pinned(const Stmt& barrier, std::initializer_list<const char*> pipes, int flag) {
  const DataType i32 = DataType::Int(32);
  Array<Stmt> orders;
  for (const char* pipe : pipes) {
    const Array<tvm::PrimExpr> args{IntImm(i32, 0), StringImm(pipe), IntImm(i32, flag)};
    orders.push_back(Evaluate(Call(DataType::Void(), tvm::tl::ascend_cross_core_set_flag(), args)));
  }
  return SeqStmt({barrier, Never(SeqStmt(orders, barrier->span))}, barrier->span);
}

}  // namespace

bool IsFullBarrier(const Stmt& stmt) {
  const auto* evaluate = stmt.as<EvaluateNode>();
  const auto* call = evaluate == nullptr ? nullptr : evaluate->value.as<CallNode>();
  if (call == nullptr || !call->op.same_as(tvm::tl::ascend_pipe_barrier())) return false;
  const auto* name = call->args.empty() ? nullptr : call->args[0].as<StringImmNode>();
  return name != nullptr && ParsePipe(std::string(name->value)) == kAllPipes;
}

Array<Stmt> PinBarrier(const Stmt& barrier, CoreMask cores) {
  Array<Stmt> pinned;
  if ((cores & kAic) != 0) {
    pinned.push_back(
        Pinned(barrier, {"PIPE_M", "PIPE_MTE1", "PIPE_MTE2", "PIPE_FIX", "PIPE_S"}, kAicFlag));
  }
  if ((cores & kAiv) != 0) {
    pinned.push_back(Pinned(barrier, {"PIPE_V", "PIPE_MTE2", "PIPE_MTE3", "PIPE_S"}, kAivFlag));
  }
  return pinned;
}

}  // namespace tilelang_ascend_sched
