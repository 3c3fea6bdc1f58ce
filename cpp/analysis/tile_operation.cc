#include "analysis/tile_operation.h"

#include <ascend/op/copy.h>
#include <op/gemm.h>
#include <op/reduce.h>
#include <tvm/ffi/error.h>
#include <tvm/tirx/op.h>

#include "analysis/extents.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::PrimExpr;
using tvm::tl::TileOperator;

namespace {

// Bytes of one block of a copy into UB; a padded copy fills whole blocks.
constexpr int64_t kBlockBytes = 32;

TileOperator Parse(const CallNode* call) {
  if (call->op.as<tvm::OpNode>() == nullptr) return TileOperator();
  try {
    return tvm::tl::ParseOperator(tvm::ffi::GetRef<Call>(call));
  } catch (const tvm::ffi::Error&) {
    // Not for this analysis to judge: the operands' masks still count, and lowering will refuse it.
    return TileOperator();
  }
}

// A copy with `data_select` fills each row up to a whole block. Where rows end on a block already,
// nothing is filled.
bool FillsBehindRows(const TileOperator& operation) {
  const auto* copy = operation.as<tvm::tl::AscendCopyNode>();
  if (copy == nullptr || copy->data_select == 0 || copy->dst_range.empty()) return false;
  const int64_t* row = as_const_int(copy->dst_range.back()->extent);
  return row == nullptr || BytesOf(*row, copy->dst->dtype) % kBlockBytes != 0;
}

// When the old value of what is written is used too; not defined where that is not asked.
PrimExpr Accumulates(const TileOperator& operation) {
  if (const auto* gemm = operation.as<tvm::tl::GemmNode>()) return !gemm->clearAccum_;
  if (const auto* reduce = operation.as<tvm::tl::ReduceOpNode>()) {
    return tvm::Bool(!reduce->clear);
  }
  return PrimExpr();
}

}  // namespace

std::vector<OperandUse> OperandUses(const CallNode* call) {
  const TileOperator operation = Parse(call);
  if (!operation.defined()) return {};
  const PrimExpr accumulates = Accumulates(operation);
  const bool bounded = !FillsBehindRows(operation);
  const tvm::tl::AccessRegions regions = operation->GetAccessRegions();
  auto is_written = [&](const BufferRegion& region) {
    for (const BufferRegion& write : regions.writes) {
      if (write->buffer.same_as(region->buffer)) return true;
    }
    return false;
  };
  std::vector<OperandUse> uses;
  for (const BufferRegion& region : regions.reads) {
    if (!accumulates.defined() || !is_written(region)) uses.push_back({region});
  }
  for (const BufferRegion& region : regions.writes) {
    if (accumulates.defined() && !is_zero(accumulates)) {
      uses.push_back({region, false, is_one(accumulates) ? PrimExpr() : accumulates});
    }
    uses.push_back({region, true, PrimExpr(), bounded});
  }
  return uses;
}

}  // namespace tilelang_ascend_sched
