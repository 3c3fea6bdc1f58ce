#pragma once

#include <tvm/tirx/stmt.h>

namespace tilelang_ascend_sched {

// True if a part of `stmt` or `expr` reads, writes or names elements of a buffer.
bool TouchesBuffers(const tvm::tirx::Stmt& stmt);
bool TouchesBuffers(const tvm::PrimExpr& expr);

}  // namespace tilelang_ascend_sched
