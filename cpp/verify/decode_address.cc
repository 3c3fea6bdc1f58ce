// Addresses, and scalar reads of memory.
#include <tvm/tirx/builtin.h>

#include <algorithm>
#include <optional>

#include "verify/decode_expr.h"
#include "verify/decode_node.h"

namespace tilelang_ascend_sched::verify {

using namespace tvm::tirx;
using tvm::DataType;
using tvm::Downcast;
using tvm::IntImmNode;
using tvm::PrimExpr;

Expr ExprDecoder::BytesOf(Expr elements, int bits) {
  if (bits % 8 == 0) return Times(elements, bits / 8);
  return DivideUp(Times(elements, bits), 8);
}

AccessPattern ExprDecoder::Rows(const Pointer& base, Expr offset, Expr rows, Expr row_bytes,
                                Expr stride, bool writes) {
  AccessPattern access{base.space};
  access.own_ub = base.own_ub;
  access.tensor = base.tensor;
  access.buffer = base.buffer;
  access.writes = writes;
  access.begin = Add(base.begin, offset);
  access.rows = rows;
  access.row_bytes = row_bytes;
  access.stride = stride;
  return access;
}

Expr ExprDecoder::VisitExpr_(const BufferLoadNode* load) {
  const std::string scope = load->buffer.scope();
  if (scope.rfind("local", 0) == 0) {
    const auto* index = load->indices.size() == 1 ? load->indices[0].as<IntImmNode>() : nullptr;
    const auto at = slots_.find(load->buffer->data.get());
    const bool known = index != nullptr && index->value == 0 && at != slots_.end();
    return known ? Reading(at->second) : Make(ExprKind::kUnknown);
  }
  Pointer pointer;
  if (!AddressOf(load, &pointer)) return Make(ExprKind::kUnknown);
  if (pointer.space == Space::kGm && pointer.tensor >= 0 &&
      !program_.tensors[pointer.tensor].written && load->dtype.is_scalar()) {
    const Expr value = Make(ExprKind::kLoad, pointer.begin);
    program_.exprs[value].number = pointer.tensor;
    return value;
  }
  return ReadMemory(pointer, load->dtype.bytes() * load->dtype.lanes(), load->buffer->name,
                    load->dtype);
}

// A scalar read of memory that changes: an access of the scalar pipe, and a number that nothing is
// known of but its type.
Expr ExprDecoder::ReadMemory(const Pointer& pointer, int64_t bytes, const std::string& name,
                             DataType dtype) {
  Instruction instruction{Action::kAccess, Pipe::kS};
  instruction.accesses.push_back(OneRow(pointer, Constant(bytes), false));
  Source source;
  source.text = "scalar read of " + name;
  reads_.push_back(Issue(&program_, std::move(instruction), source));
  Node* fresh = program_.Make(NodeKind::kFresh);
  fresh->slot = static_cast<Slot>(program_.slots.size());
  program_.slots.push_back(
      {name, SlotKind::kBound, loops_.empty() ? nullptr : loops_.back(), fresh});
  fresh->name = name;
  const int bits = std::min(dtype.bits(), 40);
  fresh->range = dtype.is_uint() || dtype.is_bool()
                     ? Range{0, (int64_t{1} << bits) - 1}
                     : Range{-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
  if (!dtype.is_int() && !dtype.is_uint() && !dtype.is_bool()) {
    fresh->range = {-kUnbounded, kUnbounded};
  }
  reads_.push_back(fresh);
  return Reading(fresh->slot);
}

bool ExprDecoder::Locate(const Var& data, Pointer* pointer) const {
  const auto tensor = tensors_.find(data.get());
  if (tensor != tensors_.end()) {
    pointer->space = Space::kGm;
    pointer->tensor = tensor->second;
    return true;
  }
  const std::optional<Space> space = SpaceOf(data);
  if (!space) return false;
  pointer->space = *space;
  pointer->own_ub = *space == Space::kUb0;
  return true;
}

bool ExprDecoder::AddressOf(const BufferLoadNode* load, Pointer* pointer) {
  if (load->indices.size() != 1 || !Locate(load->buffer->data, pointer)) return false;
  PrimExpr index = load->indices[0];
  int64_t lanes = 1;
  if (const auto* ramp = index.as<RampNode>()) {
    const auto* count = ramp->lanes.as<IntImmNode>();
    const auto* step = ramp->stride.as<IntImmNode>();
    if (count == nullptr || step == nullptr || step->value != 1) return false;
    lanes = count->value;
    index = ramp->base;
  } else if (!index.dtype().is_scalar()) {
    return false;
  }
  pointer->buffer = BufferOf(load);
  pointer->element_bits = load->buffer->dtype.bits() * load->buffer->dtype.lanes();
  pointer->begin = BytesOf(Compile(index), pointer->element_bits);
  pointer->extent = BytesOf(Constant(lanes), pointer->element_bits);
  return true;
}

bool ExprDecoder::Parse(const PrimExpr& expr, Pointer* pointer) {
  const auto* call = expr.as<CallNode>();
  if (call == nullptr) return false;
  if (call->op.same_as(builtin::address_of())) {
    const auto* load = call->args[0].as<BufferLoadNode>();
    return load != nullptr && AddressOf(load, pointer);
  }
  if (!call->op.same_as(builtin::tvm_access_ptr())) return false;
  if (!Locate(Downcast<Var>(call->args[1]), pointer)) return false;
  const DataType dtype = call->args[0].dtype();
  pointer->element_bits = dtype.bits() * dtype.lanes();
  pointer->buffer = BufferOf(call);
  pointer->begin = BytesOf(Compile(call->args[2]), pointer->element_bits);
  pointer->extent = BytesOf(Compile(call->args[3]), pointer->element_bits);
  return true;
}

}  // namespace tilelang_ascend_sched::verify
