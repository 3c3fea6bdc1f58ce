#include "analysis/l1_gemm.h"

#include <ascend/op/builtin.h>
#include <op/gemm.h>
#include <op/gemm_blockscaled.h>
#include <tvm/tirx/op.h>

#include <algorithm>

#include "analysis/extents.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;

namespace {

// The lowering of `T.gemm` counts L0A and L0B as 64 KiB each in two slots (ascend/op/gemm/
// gemm_mad.py), and cuts K into equal pieces of whole groups of 256 bits.
constexpr int64_t kSlotBits = 32 * 1024 * 8;
constexpr int64_t kGroupBits = 256;

int64_t PieceOfK(int64_t m, int64_t n, int64_t k, int64_t bits) {
  const int64_t group = kGroupBits / bits;
  const int64_t most = std::min({kSlotBits / (m * bits), kSlotBits / (n * bits), k});
  int64_t piece = most / group * group;
  while (piece > group && k % piece != 0) piece -= group;
  return piece;
}

TemplateSlots Slots(int64_t m, int64_t n, int64_t piece, tvm::DataType dtype) {
  return {BytesOf(m * piece, dtype), BytesOf(n * piece, dtype)};
}

std::optional<TemplateSlots> OfTileOperation(const CallNode* call) {
  const tvm::tl::TileOperator operation = tvm::tl::ParseOperator(tvm::ffi::GetRef<Call>(call));
  const auto* gemm = operation.as<tvm::tl::GemmNode>();
  if (gemm == nullptr) return std::nullopt;
  if (MemoryOf(gemm->a_) != Scope::kL1 || MemoryOf(gemm->b_) != Scope::kL1) return std::nullopt;
  const tvm::DataType dtype = gemm->a_->dtype;
  const int64_t bits = dtype.bits();
  if (bits <= 0 || bits > kGroupBits || gemm->m_ <= 0 || gemm->n_ <= 0) return std::nullopt;
  return Slots(gemm->m_, gemm->n_, PieceOfK(gemm->m_, gemm->n_, gemm->k_, bits), dtype);
}

// `first` is the place of M among the arguments, which K, N and the piece of K follow.
std::optional<TemplateSlots> OfTemplateCall(const CallNode* call, size_t first) {
  const int64_t* m = as_const_int(call->args[first]);
  const int64_t* n = as_const_int(call->args[first + 2]);
  const int64_t* piece = as_const_int(call->args[first + 3]);
  // Sizes are template parameters. Were they not known, no two slots would be taken for equal.
  if (m == nullptr || n == nullptr || piece == nullptr) return TemplateSlots{};
  const auto* pointer = call->args[1].as<CallNode>();
  const auto* load =
      pointer && !pointer->args.empty() ? pointer->args[0].as<BufferLoadNode>() : nullptr;
  return load == nullptr ? TemplateSlots{} : Slots(*m, *n, *piece, load->dtype);
}

}  // namespace

std::optional<TemplateSlots> TemplateSlotsOf(const CallNode* call) {
  static const tvm::Op gemm = tvm::Op::Get("tl.tileop.gemm");
  static const tvm::Op scaled = tvm::Op::Get("tl.tileop.gemm_blockscaled");
  if (call->op.same_as(gemm) || call->op.same_as(scaled)) return OfTileOperation(call);
  if (call->op.same_as(tvm::tl::ascend_gemm_l1()) && call->args.size() > 6) {
    return OfTemplateCall(call, 3);
  }
  if (call->op.same_as(tvm::tl::ascend_blockscaled_gemm_l1()) && call->args.size() > 8) {
    return OfTemplateCall(call, 5);
  }
  return std::nullopt;
}

const char* TemplateBytes(Scope scope) {
  // Scales have no place of their own: the hardware keeps them by the address of their data.
  if (scope == Scope::kL0A || scope == Scope::kScaleA) return "L0A of templates";
  if (scope == Scope::kL0B || scope == Scope::kScaleB) return "L0B of templates";
  return nullptr;
}

}  // namespace tilelang_ascend_sched
