#pragma once

#include <tvm/ffi/container/array.h>
#include <tvm/tirx/stmt.h>

#include "hw/machine.h"

namespace tilelang_ascend_sched {

// Gives the flags that the user wrote ids of their own, where those that InsertSync will give
// cannot meet them.
tvm::tirx::Stmt MoveHandFlags(const tvm::tirx::Stmt& body);

// Ties synchronization that the user wrote to the work that it guards, so that scheduling does not
// part them: each run of
//   - locks and waits of one pipe,
//   - one statement on that pipe, or several if a lock is held throughout or barriers of the pipe
//     stand between them,
//   - unlocks and sets of that pipe
// that follow each other directly becomes one `T.Task`. A barrier of all pipes ends a run and stays
// a task of its own, as does synchronization that stands by no such statement.
tvm::ffi::Array<tvm::tirx::Stmt> JoinHandSync(const tvm::ffi::Array<tvm::tirx::Stmt>& stmts,
                                              const Machine& machine);

}  // namespace tilelang_ascend_sched
