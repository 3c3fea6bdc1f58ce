#include "analysis/cost/cube_work.h"

#include <op/utils.h>
#include <tvm/ffi/error.h>
#include <tvm/tirx/op.h>

#include "analysis/extents.h"
#include "hw/transfer_cost.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::DataType;
using tvm::IntImmNode;
using tvm::Op;
using tvm::PrimExpr;
using tvm::tl::NormalizeToBufferRegion;

namespace {

// Operands of the tile operations, which block-scaled ones share.
constexpr int kA = 0;
constexpr int kB = 1;
constexpr int kC = 2;
constexpr int kTransposeA = 3;
constexpr int kM = 5;
constexpr int kN = 6;
constexpr int kK = 7;

bool IsBlockScaled(const CallNode* call) {
  static const Op block_scaled = Op::Get("tl.tileop.gemm_blockscaled");
  return call->op.same_as(block_scaled);
}

int64_t ConstantOf(const PrimExpr& expr) {
  const auto* constant = expr.as<IntImmNode>();
  if (constant == nullptr) {
    TVM_FFI_THROW(InternalError) << "a tile of T.gemm must have constant sizes, got " << expr;
  }
  return constant->value;
}

int64_t Narrowed(const PrimExpr& extent, int64_t tile, FactAnalyzer* facts) {
  const int64_t most = (*facts)->const_int_bound(extent)->max_value;
  if (most < 0 || most == tvm::arith::ConstIntBound::kPosInf) return tile;
  return std::min(tile, most);
}

bool IsFloat32(const CubeWork& work) { return work.input.is_float() && work.input.bits() == 32; }

int64_t Aligned(int64_t extent, int64_t group) { return CeilDiv(extent, group) * group; }

// Two a multiply-add, in whole groups as the core counts them.
int64_t OperationsOf(const CubeWork& work, const CubeModel& cube) {
  int64_t k_group = std::max<int64_t>(cube.row_bits / work.input.bits(), 1);
  if (IsFloat32(work)) k_group = work.hf32 ? cube.hf32_group : cube.float32_group;
  const int64_t m = Aligned(work.m, cube.tile);
  const int64_t n = Aligned(work.n, cube.tile);
  const int64_t k = Aligned(work.k, k_group);
  if (!work.block_scaled) return 2 * m * n * k;
  return 2 * std::min(m, n) * std::max({m, n, cube.mx_min_extent}) * k;
}

int64_t ThroughputOf(const CubeWork& work, const CubeModel& cube) {
  const DataType& input = work.input;
  if (work.block_scaled && input.is_float4_e2m1fn()) return cube.mx_float4;
  if (input.is_float16()) return cube.float16;
  if (input.is_bfloat16()) return cube.bfloat16;
  if (IsFloat32(work)) return work.hf32 ? cube.hf32 : cube.float32;
  if (input.is_float8() || (input.is_float() && input.bits() == 8)) return cube.float8;
  return cube.other;
}

int64_t CompletionOf(const CubeWork& work, const CubeModel& cube) {
  if (work.block_scaled) return cube.mx_latency;
  return IsFloat32(work) ? cube.float32_latency : cube.latency;
}

}  // namespace

bool IsMatrixMultiply(const CallNode* call) {
  static const Op plain = Op::Get("tl.tileop.gemm");
  return call->op.same_as(plain) || IsBlockScaled(call);
}

std::optional<CubeWork> CubeWorkOf(const CallNode* call, bool hf32, FactAnalyzer* facts) {
  if (!IsMatrixMultiply(call)) return std::nullopt;
  CubeWork work;
  work.m = ConstantOf(call->args[kM]);
  work.n = ConstantOf(call->args[kN]);
  work.k = ConstantOf(call->args[kK]);
  const BufferRegion a = NormalizeToBufferRegion(call->args[kA]);
  const BufferRegion b = NormalizeToBufferRegion(call->args[kB]);
  if (MemoryOf(a->buffer) == Scope::kL0A && MemoryOf(b->buffer) == Scope::kL0B) {
    const auto rows = a->region;
    const auto outputs = NormalizeToBufferRegion(call->args[kC])->region;
    const size_t k_axis = rows.size() - (is_one(call->args[kTransposeA]) ? 2 : 1);
    work.m = Narrowed(outputs[outputs.size() - 2]->extent, work.m, facts);
    work.n = Narrowed(outputs[outputs.size() - 1]->extent, work.n, facts);
    work.k = Narrowed(rows[k_axis]->extent, work.k, facts);
  }
  if (work.m <= 0 || work.n <= 0 || work.k <= 0) return std::nullopt;
  work.input = a->buffer->dtype;
  work.hf32 = hf32;
  work.block_scaled = IsBlockScaled(call);
  return work;
}

CubeCost CostOf(const std::vector<CubeWork>& work, const CubeModel& cube) {
  if (work.empty()) {
    // Counted once, not twice, for each multiply-add: so TileLang's model does.
    const int64_t tile = cube.tile * cube.tile * cube.tile;
    return {cube.latency + CeilDiv(tile, cube.float16), 1};
  }
  CubeCost cost{0, 1};
  int64_t completion = cube.latency;
  for (const CubeWork& multiply : work) {
    const int64_t busy = CeilDiv(OperationsOf(multiply, cube), ThroughputOf(multiply, cube));
    completion = std::max(completion, CompletionOf(multiply, cube));
    cost.latency += busy;
    cost.ii = std::max(cost.ii, busy);
  }
  cost.latency += completion;
  return cost;
}

}  // namespace tilelang_ascend_sched
