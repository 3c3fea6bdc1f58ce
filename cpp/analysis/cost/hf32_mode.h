#pragma once

#include <tvm/tirx/stmt.h>

#include <unordered_set>

namespace tilelang_ascend_sched {

using CallSet = std::unordered_set<const tvm::tirx::CallNode*>;

// The matrix multiplies of a kernel that surely run in hf32 mode: on every way control can take to
// one, the mode was switched on by `tl.ascend_set_hf32_mode` and not off again. It is off when a
// kernel begins. Throws InternalError for a mode that is no constant of 0, 1 or 2.
CallSet CallsInHf32Mode(const tvm::tirx::Stmt& kernel);

}  // namespace tilelang_ascend_sched
