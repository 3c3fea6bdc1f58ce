#pragma once

#include <tvm/tirx/function.h>
#include <tvm/tirx/stmt.h>

#include <functional>
#include <optional>

#include "ir/facts.h"

namespace tilelang_ascend_sched {

// What stands around a kernel's root block.
struct KernelPlace {
  Facts facts;
  std::optional<tvm::tirx::IterVar> aiv;  // the index of the AIV within the block, if launched
};

// Replaces each kernel's root block (named `tilelang_root`; a function may launch several kernels)
// by what `rewrite` makes of it: a block, or one inside launch attributes. A function without
// kernels comes back as it is.
tvm::tirx::PrimFunc RewriteKernels(
    tvm::tirx::PrimFunc function,
    const std::function<tvm::tirx::Stmt(tvm::tirx::SBlock root, const KernelPlace& place)>&
        rewrite);

// The index of the AIV that this attribute launches, if it does.
std::optional<tvm::tirx::IterVar> LaunchedAiv(const tvm::tirx::AttrStmtNode* attr);

}  // namespace tilelang_ascend_sched
