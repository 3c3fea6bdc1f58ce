#include "analysis/fence.h"

#include <op/builtin.h>
#include <tvm/tirx/expr.h>

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::DataType;

Stmt Never(Stmt stmt) {
  const tvm::Span span = stmt->span;
  return IfThenElse(tvm::IntImm(DataType::Bool(), 0), std::move(stmt), std::nullopt, span);
}

Stmt Fence(const tvm::Span& span) {
  return Never(Evaluate(Call(DataType::Handle(), tvm::tl::loop_break(), {}, {}, span), span));
}

}  // namespace tilelang_ascend_sched
