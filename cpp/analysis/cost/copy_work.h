#pragma once

#include <tvm/tirx/expr.h>

#include <optional>

#include "hw/transfer_cost.h"
#include "ir/facts.h"

namespace tilelang_ascend_sched {

// What a copy engine is asked to do by a tile copy or by the post copy of an ND -> NZ transform.
// Nothing for other calls, and for copies that no engine makes. A dual copy counts what arrives at
// one AIV, whether its regions name both halves or one, so RewriteDualCopy does not change it.
// Throws InternalError for a dual copy whose region is no matrix.
std::optional<CopyWork> CopyWorkOf(const tvm::tirx::CallNode* call, FactAnalyzer* facts);

}  // namespace tilelang_ascend_sched
