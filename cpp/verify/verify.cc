#include <tvm/ffi/reflection/registry.h>

#include "verify/check.h"

namespace tilelang_ascend_sched::verify {

TVM_FFI_STATIC_INIT_BLOCK() {
  tvm::ffi::reflection::GlobalDef().def(
      "tl.ascend_sched.verify",
      [](const tvm::tirx::PrimFunc& kernel, const tvm::ffi::Optional<tvm::tirx::PrimFunc>& unpacked,
         const tvm::ffi::Optional<tvm::IRModule>& hinted,
         bool skips) { return tvm::ffi::String(ToJson(Check(kernel, unpacked, hinted, skips))); });
}

}  // namespace tilelang_ascend_sched::verify
