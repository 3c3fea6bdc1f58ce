#pragma once

#include <tvm/ir/transform.h>

namespace tilelang_ascend_sched {

// The pass `tl.RestoreWhileLoops`: each serial loop that carries the annotation `synthetic_while`
// becomes `while (true)`; the loop's own exit test stands in its body already. The bounded loop's
// extent meant nothing, so its variable is dropped; where the body still reads it (an index of a
// ring that this loop turns) it lives on as a counter that grows by one each iteration.
tvm::transform::Pass RestoreWhileLoops();

}  // namespace tilelang_ascend_sched
