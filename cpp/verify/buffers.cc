#include "verify/buffers.h"

#include <tvm/arith/analyzer.h>
#include <tvm/tirx/builtin.h>
#include <tvm/tirx/stmt_functor.h>

#include <optional>

namespace tilelang_ascend_sched::verify {

using namespace tvm::tirx;
using tvm::IntImmNode;
using tvm::PrimExpr;

namespace {

constexpr size_t kMost = 64;  // buffers that a check tells apart

struct Access {
  const tvm::ffi::Object* node;
  Var data;
  PrimExpr offset;  // in elements, of the first lane
  int64_t bits;     // of an element
};

PrimExpr FirstLane(const PrimExpr& index) {
  if (const auto* ramp = index.as<RampNode>()) return FirstLane(ramp->base);
  if (const auto* broadcast = index.as<BroadcastNode>()) return FirstLane(broadcast->value);
  if (const auto* add = index.as<AddNode>(); add != nullptr && !index.dtype().is_scalar()) {
    return FirstLane(add->a) + FirstLane(add->b);
  }
  return index;
}

// All accesses on chip, in the order of the code.
class Accesses : public StmtExprVisitor {
 public:
  std::vector<Access> found;
  std::unordered_map<const VarNode*, int64_t> bytes;  // of allocations

 private:
  static bool OnChip(const Var& data) {
    const auto* type = data->type_annotation.as<tvm::PointerTypeNode>();
    return type != nullptr && std::string(type->storage_scope).rfind("shared", 0) == 0;
  }

  void Add(const tvm::ffi::Object* node, const Var& data, const PrimExpr& offset,
           tvm::DataType dtype) {
    if (!OnChip(data)) return;
    found.push_back({node, data, FirstLane(offset), dtype.bits() * dtype.lanes()});
  }

  void VisitStmt_(const AllocBufferNode* alloc) final {
    int64_t size = alloc->buffer->dtype.bits() * alloc->buffer->dtype.lanes();
    for (const PrimExpr& extent : alloc->buffer->shape) {
      const auto* number = extent.as<IntImmNode>();
      size *= number == nullptr ? 0 : number->value;
    }
    bytes[alloc->buffer->data.get()] = (size + 7) / 8;
  }

  void VisitStmt_(const DeclBufferNode*) final {}

  void VisitStmt_(const BufferStoreNode* store) final {
    if (store->indices.size() == 1) {
      Add(store, store->buffer->data, store->indices[0], store->buffer->dtype);
    }
    StmtExprVisitor::VisitStmt_(store);
  }

  void VisitExpr_(const BufferLoadNode* load) final {
    if (load->indices.size() == 1) {
      Add(load, load->buffer->data, load->indices[0], load->buffer->dtype);
    }
    StmtExprVisitor::VisitExpr_(load);
  }

  void VisitExpr_(const CallNode* call) final {
    if (call->op.same_as(builtin::tvm_access_ptr())) {
      if (const auto* data = call->args[1].as<VarNode>()) {
        Add(call, tvm::ffi::GetRef<Var>(data), call->args[2], call->args[0].dtype());
      }
    }
    StmtExprVisitor::VisitExpr_(call);
  }
};

}  // namespace

Buffers FindBuffers(const PrimFunc& kernel, const PrimFunc& unpacked) {
  Accesses packed, before;
  packed(kernel->body);
  before(unpacked->body);
  Buffers buffers;
  if (packed.found.size() != before.found.size()) return {};
  tvm::arith::Analyzer analyzer;
  std::unordered_map<const VarNode*, int> numbers;
  for (size_t i = 0; i < packed.found.size(); ++i) {
    const Access& now = packed.found[i];
    const Access& old = before.found[i];
    if (now.bits != old.bits || now.offset.dtype() != old.offset.dtype()) return {};
    const PrimExpr difference = analyzer.Simplify(now.offset - old.offset);
    const auto* elements = difference.as<IntImmNode>();
    if (elements == nullptr || elements->value * now.bits % 8 != 0) return {};
    const int64_t begin = elements->value * now.bits / 8;
    auto [at, is_new] = numbers.try_emplace(old.data.get(), static_cast<int>(buffers.all.size()));
    if (is_new) {
      buffers.all.push_back({old.data->name_hint, begin, before.bytes[old.data.get()]});
    }
    if (buffers.all[at->second].begin != begin) return {};
    if (at->second < static_cast<int>(kMost)) buffers.of[now.node] = at->second;
  }
  return buffers;
}

}  // namespace tilelang_ascend_sched::verify
