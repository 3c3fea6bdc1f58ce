#include "verify/vector_access.h"

#include <tvm/ffi/extra/structural_equal.h>
#include <tvm/ffi/extra/structural_hash.h>
#include <tvm/tirx/stmt_functor.h>

#include <algorithm>

#include "verify/vector_index.h"

namespace tilelang_ascend_sched::verify {

using namespace tvm::tirx;
using tvm::Downcast;
using tvm::IntImm;
using tvm::IntImmNode;
using tvm::PrimExpr;
using tvm::ffi::Any;
using tvm::ffi::Array;

namespace {

// The constants that are added up in an index.
int64_t ConstantPart(const PrimExpr& index) {
  if (const auto* add = index.as<AddNode>()) return ConstantPart(add->a) + ConstantPart(add->b);
  if (const auto* number = index.as<IntImmNode>()) return number->value;
  if (const auto* broadcast = index.as<BroadcastNode>()) return ConstantPart(broadcast->value);
  if (const auto* divide = index.as<FloorDivNode>()) {
    const auto* a = divide->a.as<IntImmNode>();
    const auto* b = divide->b.as<IntImmNode>();
    if (a && b) return a->value / b->value;
  }
  return 0;
}

}  // namespace

bool VectorAccesses::Conflicts(const Pointer& pointer) const {
  return pointer.space != Space::kGm || exprs_.program()->tensors[pointer.tensor].written;
}

bool VectorAccesses::IsNew(const Pointer& pointer, const Var& data, const PrimExpr& index,
                           int64_t extent, bool writes) {
  const tvm::DataType number = tvm::DataType::Int(64);
  Array<Any> key{data, index, IntImm(number, extent),
                 IntImm(number, writes + 2 * atomic + 4 * pointer.buffer)};
  for (const PrimExpr& guard : scope_.guards().all()) key.push_back(guard);
  std::vector<Array<Any>>& others = seen_[tvm::ffi::StructuralHash::Hash(key, true)];
  const bool seen = std::any_of(others.begin(), others.end(), [&](const Array<Any>& other) {
    return tvm::ffi::StructuralEqual::Equal(key, other, true);
  });
  if (!seen) others.push_back(key);
  return !seen;
}

void VectorAccesses::Element(const tvm::ffi::Object* node, const tvm::tirx::Buffer& buffer,
                             const Array<PrimExpr>& indices, bool writes) {
  Pointer pointer;
  if (indices.size() != 1 || !exprs_.Locate(buffer->data, &pointer)) return;
  if (!Conflicts(pointer)) return;
  pointer.element_bits = buffer->dtype.bits() * buffer->dtype.lanes();
  pointer.buffer = exprs_.BufferOf(node);
  if (!IsNew(pointer, buffer->data, indices[0], 1, writes)) return;
  Add(pointer, indices[0], 1, writes, 1, buffer);
}

void VectorAccesses::Elements(const CallNode* call, int64_t extent, bool writes, int64_t sure) {
  Pointer pointer;
  const Var data = Downcast<Var>(call->args[1]);
  if (!exprs_.Locate(data, &pointer) || !Conflicts(pointer)) return;
  const tvm::DataType dtype = call->args[0].dtype();
  pointer.element_bits = dtype.bits() * dtype.lanes();
  pointer.buffer = exprs_.BufferOf(call);
  if (!IsNew(pointer, data, call->args[2], extent, writes)) return;
  Add(pointer, call->args[2], extent, writes, sure, tvm::tirx::Buffer());
}

void VectorAccesses::Anywhere(const PrimExpr& base, bool writes, bool some) {
  std::vector<PrimExpr> starts = {base};
  if (const auto* load = base.as<BufferLoadNode>()) {
    const auto at = moved_.find(load->buffer->data.get());
    starts = at == moved_.end() ? std::vector<PrimExpr>() : at->second;
    if (starts.empty()) not_modelled = "a pointer that comes from nowhere";
  }
  Program* program = exprs_.program();
  for (const PrimExpr& start : starts) {
    Pointer pointer;
    if (!exprs_.Parse(start, &pointer)) {
      not_modelled = "a pointer that is computed";
      return;
    }
    if (!Conflicts(pointer)) continue;
    pointer.begin = exprs_.Constant(0);
    int64_t bytes =
        pointer.space == Space::kGm ? kUnbounded : program->chip.CapacityOf(pointer.space, true);
    if (pointer.buffer >= 0) {
      const verify::Buffer& buffer = program->buffers[pointer.buffer];
      pointer.begin = exprs_.Constant(buffer.begin);
      bytes = buffer.bytes.value_or(bytes);
    }
    program->computed_addresses = true;
    AccessPattern access = exprs_.OneRow(pointer, exprs_.Constant(bytes), writes);
    access.approximate = true;
    access.atomic = atomic;
    const Witness witness = scope_.guards().Find();
    if (witness.never) continue;
    access.somewhere = some && starts.size() == 1 && Happens(witness, &access);
    found.push_back(access);
  }
}

// Notes when an access happens for sure, for some data; false if that is not known.
bool VectorAccesses::Happens(const Witness& witness, AccessPattern* access) {
  if (!witness.found) return false;
  for (const PrimExpr& condition : witness.conditions) {
    if (scope_.DependsOnInner(condition)) return false;
  }
  for (const PrimExpr& condition : witness.conditions) {
    const Expr holds = exprs_.Compile(condition);
    access->happens_if = access->happens_if == kNone
                             ? holds
                             : exprs_.Make(ExprKind::kAnd, access->happens_if, holds);
  }
  return true;
}

// Where a region is only a bound: what of it is touched for sure.
void VectorAccesses::NoteSure(const PrimExpr& index, int64_t elements, int bits,
                              const Witness& witness, AccessPattern* access) {
  if (elements <= 0 || !Happens(witness, access)) return;
  access->somewhere = true;
  PrimExpr first = scope_.Resolved(index);
  if (const auto* ramp = first.as<RampNode>()) first = ramp->base;
  if (const auto* broadcast = first.as<BroadcastNode>()) first = broadcast->value;
  first = Substitute(first, witness.numbers);
  if (scope_.DependsOnInner(first)) return;
  access->sure_begin = exprs_.BytesOf(exprs_.Compile(first), bits);
  access->sure_bytes = std::max<int64_t>(elements * bits / 8, 1);
}

void VectorAccesses::Add(Pointer pointer, const PrimExpr& index, int64_t extent, bool writes,
                         int64_t sure, const tvm::tirx::Buffer& buffer) {
  const Witness witness = scope_.guards().Find();
  if (witness.never) return;
  const int bits = pointer.element_bits;
  Footprint all = FootprintOf(index, extent, &scope_, &exprs_);
  if (all.anywhere || extent < 0) {
    const auto* size = buffer.defined() ? buffer->shape[0].as<IntImmNode>() : nullptr;
    if (all.anywhere) all.begin = exprs_.Constant(size == nullptr ? 0 : ConstantPart(index));
    const bool gm = pointer.space == Space::kGm;
    const Chip& chip = exprs_.program()->chip;
    all.run = size != nullptr
                  ? size->value
                  : (gm ? kUnbounded : chip.CapacityOf(pointer.space, false)) * 8 / bits;
    all.rows = 1;
  }
  const bool approximate =
      all.approximate || all.anywhere || extent < 0 || sure != extent || scope_.guards().size() > 0;
  auto bytes = [&](int64_t elements) { return exprs_.Constant((elements * bits + 7) / 8); };
  pointer.begin = exprs_.BytesOf(all.begin, bits);
  AccessPattern access = exprs_.Rows(pointer, exprs_.Constant(0), exprs_.Constant(all.rows),
                                     bytes(all.run), bytes(all.stride), writes);
  if (!approximate && all.exact_rows != kNone) access.rows = all.exact_rows;
  if (!approximate && all.exact_run != kNone)
    access.row_bytes = exprs_.BytesOf(all.exact_run, bits);
  access.approximate = approximate;
  access.atomic = atomic;
  if (approximate) NoteSure(index, sure, bits, witness, &access);
  found.push_back(access);
}

}  // namespace tilelang_ascend_sched::verify
