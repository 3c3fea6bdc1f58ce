#pragma once

#include <tvm/tirx/buffer.h>

#include <cstdint>
#include <optional>

namespace tilelang_ascend_sched {

// The bytes of one version of a buffer; nothing if its shape is not constant.
std::optional<int64_t> BufferBytes(const tvm::tirx::Buffer& buffer);

}  // namespace tilelang_ascend_sched
