#pragma once

#include <tvm/tirx/function.h>
#include <tvm/tirx/stmt.h>

#include <functional>

namespace tilelang_ascend_sched {

// Replaces each kernel's root block (named `tilelang_root`; a function may launch several kernels)
// by what `rewrite` makes of it. A function without kernels comes back as it is.
tvm::tirx::PrimFunc RewriteKernels(
    tvm::tirx::PrimFunc function,
    const std::function<tvm::tirx::SBlock(tvm::tirx::SBlock root)>& rewrite);

}  // namespace tilelang_ascend_sched
