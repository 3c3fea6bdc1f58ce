#pragma once

#include <tvm/ir/module.h>

#include "verify/program.h"

namespace tilelang_ascend_sched::verify {

// Gives every instruction that is not on a line of the user's the nearest such line on its core:
// `Source::near`. `written`: the kernels as the user wrote them; without them, only the line of a
// loop that is still there is told from one of a statement.
void FindPlaces(const tvm::ffi::Optional<tvm::IRModule>& written, Program* program);

}  // namespace tilelang_ascend_sched::verify
