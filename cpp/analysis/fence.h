#pragma once

#include <tvm/tirx/stmt.h>

namespace tilelang_ascend_sched {

// `stmt` where control never comes. Passes that decide by what stands in the code still see it;
// simplification after the last of them takes it out.
tvm::tirx::Stmt Never(tvm::tirx::Stmt stmt);

// A statement that scheduling moves nothing across, and that does nothing: leaving the loop, which
// all tasks of a list keep their order with, where control never comes.
tvm::tirx::Stmt Fence(const tvm::Span& span);

}  // namespace tilelang_ascend_sched
