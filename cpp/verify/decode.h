#pragma once

#include <tvm/tirx/function.h>

#include "verify/program.h"

namespace tilelang_ascend_sched::verify {

// Reads a device function as MergeUBAllocations and RewriteFlagToBuf leave it: on-chip addresses
// are physical, flag and lock ids final.
Program Decode(const tvm::tirx::PrimFunc& kernel, const Buffers& buffers, const Chip& chip);

}  // namespace tilelang_ascend_sched::verify
