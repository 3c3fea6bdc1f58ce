#pragma once

#include <tvm/tirx/expr.h>

#include "hw/machine.h"

namespace tilelang_ascend_sched {

// True for tl.ascend_nd2nz_scatter(source, target, rows, columns, target type, source type).
bool IsScatter(const tvm::tirx::CallNode* call);

// Cycles of one scatter. Throws InternalError for sizes that are not constant and positive, and for
// types other than float, half and bfloat16_t or a conversion the device has no template for.
int64_t ScatterCycles(const tvm::tirx::CallNode* call, const VectorModel& vector);

}  // namespace tilelang_ascend_sched
