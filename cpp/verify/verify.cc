#include <tvm/ffi/reflection/registry.h>

#include "verify/check.h"

namespace tilelang_ascend_sched::verify {

TVM_FFI_STATIC_INIT_BLOCK() {
  tvm::ffi::reflection::GlobalDef().def(
      "tl.ascend_sched.verify",
      [](const tvm::tirx::PrimFunc& kernel, const tvm::ffi::Optional<tvm::tirx::PrimFunc>& unpacked,
         const tvm::ffi::Optional<tvm::IRModule>& hinted, bool skips,
         const tvm::ffi::Map<tvm::ffi::String, int64_t>& numbers,
         const tvm::ffi::Array<tvm::ffi::String>& in_order) {
        const Chip chip = Chip::Of(numbers, in_order);
        return tvm::ffi::String(ToJson(Check(kernel, unpacked, hinted, skips, chip)));
      });
}

}  // namespace tilelang_ascend_sched::verify
