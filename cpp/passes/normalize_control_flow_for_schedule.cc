#include "passes/normalize_control_flow_for_schedule.h"

#include <tvm/ffi/reflection/registry.h>
#include <tvm/tirx/transform.h>

#include <utility>

#include "analysis/control_flow.h"
#include "ir/kernels.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;

tvm::transform::Pass NormalizeControlFlowForSchedule() {
  auto run = [](PrimFunc function, const tvm::IRModule&, const tvm::transform::PassContext&) {
    return RewriteKernels(std::move(function), [](SBlock root, const KernelPlace&) {
      root.CopyOnWrite()->body = NormalizeControlFlow(root->body);
      return root;
    });
  };
  return transform::CreatePrimFuncPass(run, 0, "tl.NormalizeControlFlowForSchedule", {});
}

TVM_FFI_STATIC_INIT_BLOCK() {
  tvm::ffi::reflection::GlobalDef().def("tl.ascend_sched.transform.NormalizeControlFlowForSchedule",
                                        NormalizeControlFlowForSchedule);
}

}  // namespace tilelang_ascend_sched
