#include "analysis/touches_buffers.h"

#include <tvm/tirx/stmt_functor.h>

namespace tilelang_ascend_sched {

using namespace tvm::tirx;

bool TouchesBuffers(const Stmt& stmt) {
  bool touches = false;
  PreOrderVisit(stmt, [&touches](const tvm::ffi::ObjectRef& node) {
    touches = touches || node.as<BufferLoadNode>() || node.as<BufferStoreNode>() ||
              node.as<BufferRegionNode>();
    return !touches;
  });
  return touches;
}

bool TouchesBuffers(const tvm::PrimExpr& expr) { return TouchesBuffers(Evaluate(expr)); }

}  // namespace tilelang_ascend_sched
