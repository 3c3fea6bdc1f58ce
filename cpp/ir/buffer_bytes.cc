#include "ir/buffer_bytes.h"

#include <tvm/tirx/op.h>

#include "hw/transfer_cost.h"

namespace tilelang_ascend_sched {

std::optional<int64_t> BufferBytes(const tvm::tirx::Buffer& buffer) {
  int64_t bits = buffer->dtype.bits() * buffer->dtype.lanes();
  for (const tvm::PrimExpr& extent : buffer->shape) {
    const int64_t* length = tvm::tirx::as_const_int(extent);
    if (length == nullptr || *length < 0) return std::nullopt;
    bits = SaturatingMultiply(bits, *length);
  }
  return CeilDiv(bits, 8);
}

}  // namespace tilelang_ascend_sched
