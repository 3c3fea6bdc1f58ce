#pragma once

#include <tvm/tirx/stmt.h>

namespace tilelang_ascend_sched {

// Gives code that is to be scheduled three forms only, statements, `if`s on a variable, and counted
// loops.
//   - `while c: body` becomes a serial loop of a stand-in extent that leaves itself when `c` fails,
//     annotated `synthetic_while`; RestoreWhileLoops undoes this. The extent is a common multiple
//     of all numbers of stages asked for inside, so that the index of a ring inside depends on the
//     iterations of loops outside of the `while` only through multiples of its versions, and at
//     least 2, so that one iteration can be seen to follow another.
//   - the condition of an `if` is bound to a variable before it.
//   - a loop bound that reads memory is bound to a variable before the loop, where it is evaluated.
// The inside of a block or of a parallel loop is one task to the scheduler, and left alone.
tvm::tirx::Stmt NormalizeControlFlow(const tvm::tirx::Stmt& body);

}  // namespace tilelang_ascend_sched
