#pragma once

#include <tvm/tirx/expr.h>
#include <tvm/tirx/stmt.h>

#include <vector>

namespace tilelang_ascend_sched {

// What a tile operation does to one of its operands, as TileLang's own parsers tell.
struct OperandUse {
  tvm::tirx::BufferRegion region;
  bool write = false;
  tvm::PrimExpr condition{};  // under which it happens; not defined: always
  bool bounded = true;        // false if it may go on behind the region
};

// Empty for calls that are no tile operations, and for those that the parsers do not understand.
std::vector<OperandUse> OperandUses(const tvm::tirx::CallNode* call);

}  // namespace tilelang_ascend_sched
