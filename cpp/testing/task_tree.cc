// Lets the tests decode and encode the task tree.

#include "ir/task_tree.h"

#include <tvm/ffi/reflection/registry.h>

#include "ir/kernels.h"

namespace tilelang_ascend_sched {

TVM_FFI_STATIC_INIT_BLOCK() {
  tvm::ffi::reflection::GlobalDef().def(
      "tl.ascend_sched.testing.recode", [](tvm::tirx::PrimFunc function) {
        return RewriteKernels(std::move(function), [](tvm::tirx::SBlock root, const KernelPlace&) {
          root.CopyOnWrite()->body = EncodeUnits(DecodeUnits(root->body));
          return root;
        });
      });
}

}  // namespace tilelang_ascend_sched
