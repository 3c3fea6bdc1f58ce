#pragma once

#include <tvm/ffi/container/array.h>
#include <tvm/tirx/stmt.h>

#include "hw/pipe.h"

namespace tilelang_ascend_sched {

// True for a barrier of all pipes that the user wrote.
bool IsFullBarrier(const tvm::tirx::Stmt& stmt);

// The barrier once for each of `cores`, as bodies of tasks that keep their place: scheduling moves
// nothing of that core across one, and nothing puts it on another core. By itself a barrier
// accesses nothing, so that it could stand anywhere, and on a core that it was not written for.
//
// Each stands before synchronization with the other core on all pipes of its own, which TileLang
// orders with the work of those pipes and puts on the core that has them; control never comes to
// it (see analysis/fence.h). Its flags are the last two of the other core's.
tvm::ffi::Array<tvm::tirx::Stmt> PinBarrier(const tvm::tirx::Stmt& barrier, CoreMask cores);

}  // namespace tilelang_ascend_sched
