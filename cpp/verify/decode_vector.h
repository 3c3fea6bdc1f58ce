#pragma once

#include <tvm/tirx/stmt.h>

#include <unordered_map>
#include <vector>

#include "verify/decode_expr.h"

namespace tilelang_ascend_sched::verify {

// What variable pointers are set to, but for moves of themselves: vector code moves them.
using PointerStarts = std::unordered_map<const tvm::tirx::VarNode*, std::vector<tvm::PrimExpr>>;

PointerStarts FindPointerStarts(const tvm::tirx::Stmt& kernel);

// A vector function: one instruction of the V pipe that touches what any of its threads or lanes
// touches.
Node* DecodeVector(const tvm::tirx::Stmt& body, const Source& source, const PointerStarts& moved,
                   ExprDecoder* exprs);

}  // namespace tilelang_ascend_sched::verify
