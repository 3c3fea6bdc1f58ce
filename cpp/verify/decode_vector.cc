// Vector functions: one instruction of the V pipe that touches what all its threads or lanes touch.
#include "verify/decode_vector.h"

#include <tvm/tirx/builtin.h>
#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>

#include <algorithm>
#include <string>
#include <utility>

#include "verify/decode_node.h"
#include "verify/decode_operand.h"
#include "verify/vector_access.h"
#include "verify/vector_scope.h"

namespace tilelang_ascend_sched::verify {

using namespace tvm::tirx;
using tvm::IntImmNode;
using tvm::PrimExpr;

namespace {

std::string NameOf(const CallNode* call) {
  const auto* op = call->op.as<tvm::OpNode>();
  return op == nullptr ? "" : std::string(op->name);
}

class VectorFunction : public StmtExprVisitor {
 public:
  VectorFunction(const PointerStarts& moved, ExprDecoder* exprs)
      : exprs_(*exprs), scope_(*exprs), accesses_(moved, &scope_, exprs) {}

  const VectorAccesses& accesses() const { return accesses_; }

 private:
  void VisitStmt_(const AttrStmtNode* attr) final {
    if (attr->attr_key == tvm::tirx::attr::thread_extent) {
      const auto* axis = attr->node.as<IterVarNode>();
      const auto* extent = attr->value.as<IntImmNode>();
      if (axis != nullptr) scope_.Enter(axis->var, 0, extent == nullptr ? -1 : extent->value);
    }
    StmtExprVisitor::VisitStmt_(attr);
  }

  void VisitStmt_(const ForNode* loop) final {
    const auto* minimum = loop->min.as<IntImmNode>();
    const auto* extent = loop->extent.as<IntImmNode>();
    const int64_t most = scope_.LimitsOf(loop->extent)->max_value;
    const bool bounded = minimum != nullptr && most < kUnbounded;
    const bool exact = bounded && extent != nullptr;
    if (exact && extent->value <= 0) return;
    InnerVariable* inner =
        scope_.Enter(loop->loop_var, bounded ? minimum->value : 0, bounded ? most : -1);
    inner->exact = exact;
    if (bounded && !exact && !scope_.DependsOnInner(loop->extent)) {
      inner->exact = true;
      inner->exact_count = exprs_.Compile(loop->extent);
    }
    if (exact) {
      StmtExprVisitor::VisitStmt_(loop);
    } else {
      // Guards inside ask for turns, and the loop has only some of those.
      const PrimExpr turns = bounded ? loop->loop_var < loop->min + loop->extent : loop->extent > 0;
      scope_.Under(turns, true, [&] { StmtExprVisitor::VisitStmt_(loop); });
    }
  }

  void VisitStmt_(const WhileNode* loop) final {
    VisitExpr(loop->condition);
    scope_.Under(loop->condition, true, [&] { VisitStmt(loop->body); });
  }

  void VisitStmt_(const BindNode* bind) final {
    scope_.Bind(bind);
    StmtExprVisitor::VisitStmt_(bind);
  }

  void VisitExpr_(const AndNode* both) final {
    VisitExpr(both->a);
    scope_.Under(both->a, true, [&] { VisitExpr(both->b); });
  }

  void VisitExpr_(const OrNode* either) final {
    VisitExpr(either->a);
    scope_.Under(either->a, false, [&] { VisitExpr(either->b); });
  }

  void VisitStmt_(const IfThenElseNode* branch) final {
    const PrimExpr& condition = branch->condition;
    VisitExpr(condition);
    if (!Narrowed(branch)) {
      scope_.Under(condition, true, [&] { VisitStmt(branch->then_case); });
    }
    if (!branch->else_case.has_value()) return;
    scope_.Under(condition, false, [&] { VisitStmt(branch->else_case.value()); });
  }

  // `thread == 0` and `thread < 64` say which threads run the branch: visits it for these, and
  // returns false if the condition is another one.
  bool Narrowed(const IfThenElseNode* branch) {
    const auto* equal = branch->condition.as<EQNode>();
    const auto* less = branch->condition.as<LTNode>();
    if (equal == nullptr && less == nullptr) return false;
    const auto* var = (equal ? equal->a : less->a).as<VarNode>();
    const auto* limit = (equal ? equal->b : less->b).as<IntImmNode>();
    InnerVariable* inner = var == nullptr ? nullptr : scope_.Inner(var);
    if (inner == nullptr || limit == nullptr || inner->count <= 0 || !inner->exact ||
        inner->exact_count != kNone) {
      return false;
    }
    const InnerVariable saved = *inner;
    const int64_t before = std::clamp<int64_t>(limit->value - saved.minimum, 0, saved.count);
    inner->count = less ? before : before < saved.count && limit->value >= saved.minimum;
    if (equal) inner->minimum = limit->value;
    if (inner->count > 0) VisitStmt(branch->then_case);
    *inner = saved;
    return true;
  }

  void VisitStmt_(const BufferStoreNode* store) final {
    accesses_.Element(store, store->buffer, store->indices, true);
    StmtExprVisitor::VisitStmt_(store);
  }

  void VisitExpr_(const BufferLoadNode* load) final {
    accesses_.Element(load, load->buffer, load->indices, false);
    StmtExprVisitor::VisitExpr_(load);
  }

  void VisitExpr_(const CallNode* call) final {
    const bool atomic = accesses_.atomic;
    if (NameOf(call).find("atomic") != std::string::npos) accesses_.atomic = true;
    VisitCall(call);
    accesses_.atomic = atomic;
  }

  void VisitCall(const CallNode* call) {
    const std::string name = NameOf(call);
    const bool gathers = name == "tl.simd.vgather2" || name == "tl.simd.vgatherb";
    const bool scatters = name == "tl.simd.vscatter" || name == "tl.simd.vsstb";
    if (name == "tl.simd.vsts") {
      StoreVector(call);
    } else if (call->op.same_as(builtin::tvm_access_ptr())) {
      Access(call);
    } else if (call->op.same_as(builtin::if_then_else())) {
      VisitExpr(call->args[0]);
      scope_.Under(call->args[0], true, [&] { VisitExpr(call->args[1]); });
      scope_.Under(call->args[0], false, [&] { VisitExpr(call->args[2]); });
    } else if (call->op.same_as(builtin::address_of())) {
      const auto* load = call->args[0].as<BufferLoadNode>();
      if (load != nullptr) accesses_.Element(load, load->buffer, load->indices, true);
    } else if (gathers) {
      // Addresses in registers, strides, and pointers that move: anywhere in the buffer.
      Anywhere(call, 0, false, call->args.size() <= 2 || LanesOf(call->args[2]) != 0);
    } else if (scatters) {
      Anywhere(call, 1, true, call->args.size() <= 3 || LanesOf(call->args[3]) != 0);
    } else if (name.rfind("tl.simd.vld", 0) == 0 && call->args[0].as<BufferLoadNode>()) {
      Anywhere(call, 0, false, true);
    } else {
      StmtExprVisitor::VisitExpr_(call);
    }
  }

  // An access by way of a pointer, which says itself what it is for.
  void Access(const CallNode* pointer) {
    const int64_t elements = NumberOf(pointer->args[3]).value_or(-1);
    accesses_.Elements(pointer, elements, IsWritable(pointer), elements);
  }

  // Operand `address` says where the access starts from; `some`: some lane does it for sure.
  void Anywhere(const CallNode* call, size_t address, bool writes, bool some) {
    accesses_.Anywhere(call->args[address], writes, some);
    for (size_t i = 0; i < call->args.size(); ++i) {
      if (i != address) VisitExpr(call->args[i]);
    }
  }

  // How many lanes, from the first on, a mask lets through: all if -1, maybe none if 0.
  int64_t LanesOf(const PrimExpr& mask) const {
    const PrimExpr made = scope_.Resolved(mask);
    const auto* call = made.as<CallNode>();
    if (call == nullptr || NameOf(call) != "tl.simd.pset" || call->args.size() < 2) return 0;
    const auto* pattern = call->args[1].as<StringImmNode>();
    const std::string name = pattern == nullptr ? "" : std::string(pattern->value);
    if (name == "PAT_ALL") return -1;
    return name.rfind("PAT_VL", 0) == 0 ? std::stoll(name.substr(6)) : 0;
  }

  // A store under a lane mask writes as many lanes as the mask's pattern says.
  void StoreVector(const CallNode* call) {
    const int64_t masked = LanesOf(call->args[2]);
    const auto* pointer = call->args[0].as<CallNode>();
    if (pointer == nullptr || !pointer->op.same_as(builtin::tvm_access_ptr())) {
      return Anywhere(call, 0, true, masked != 0);
    }
    int64_t lanes = NumberOf(pointer->args[3]).value_or(-1);
    if (masked > 0) lanes = std::min(lanes, masked);
    accesses_.Elements(pointer, lanes, true, masked == 0 && lanes != 1 ? 0 : lanes);
    for (size_t i = 1; i < call->args.size(); ++i) VisitExpr(call->args[i]);
  }

  ExprDecoder& exprs_;
  VectorScope scope_;
  VectorAccesses accesses_;
};

}  // namespace

PointerStarts FindPointerStarts(const Stmt& kernel) {
  PointerStarts starts;
  PostOrderVisit(kernel, [&](const tvm::ffi::ObjectRef& node) {
    const auto* store = node.as<BufferStoreNode>();
    if (store == nullptr || !store->value.dtype().is_handle()) return;
    const auto* call = store->value.as<CallNode>();
    if (call != nullptr && NameOf(call).rfind("tl.simd.", 0) == 0) return;
    starts[store->buffer->data.get()].push_back(store->value);
  });
  return starts;
}

Node* DecodeVector(const Stmt& body, const Source& source, const PointerStarts& moved,
                   ExprDecoder* exprs) {
  VectorFunction function(moved, exprs);
  function(body);
  const std::string& why = function.accesses().not_modelled;
  if (!why.empty()) return NotModelled(exprs->program(), why, source);
  Instruction instruction{Action::kAccess, Pipe::kV};
  instruction.accesses = function.accesses().found;
  return Issue(exprs->program(), std::move(instruction), source);
}

}  // namespace tilelang_ascend_sched::verify
