#pragma once

#include <tvm/ffi/container/array.h>
#include <tvm/tirx/stmt.h>

namespace tilelang_ascend_sched {

// Ties locks and flags that the user wrote to the work that they guard, so that scheduling does not
// part them: each run of
//   - locks and waits of one pipe,
//   - one statement on that pipe, or several if a lock is held throughout,
//   - unlocks and sets of that pipe
// that follow each other directly becomes one `T.Task`. Synchronization that stands by no such
// statement stays as it is.
tvm::ffi::Array<tvm::tirx::Stmt> JoinHandSync(const tvm::ffi::Array<tvm::tirx::Stmt>& stmts);

}  // namespace tilelang_ascend_sched
