#pragma once

#include <tvm/tirx/stmt.h>

#include "hw/machine.h"

namespace tilelang_ascend_sched {

// Checks the numbers of buffer versions that `T.annotate_buffer_versions` asks for: each 1 or more,
// and no buffer alone more than its memory has. InternalError naming the buffer and the limit.
void CheckAskedVersions(const tvm::tirx::SBlock& root, const Machine& machine);

}  // namespace tilelang_ascend_sched
