// Expressions and addresses.
#include <tvm/tirx/builtin.h>
#include <tvm/tirx/op.h>

#include "verify/decode.h"

namespace tilelang_ascend_sched::verify {

using namespace tvm::tirx;
using tvm::DataType;
using tvm::Downcast;
using tvm::IntImmNode;
using tvm::PrimExpr;

Expr Decoder::Make(ExprKind kind, Expr a, Expr b, Expr c) {
  program_.exprs.push_back({kind, a, b, c, 0});
  return static_cast<Expr>(program_.exprs.size()) - 1;
}

Expr Decoder::Constant(int64_t number) {
  program_.exprs.push_back({ExprKind::kConstant, kNone, kNone, kNone, number});
  return static_cast<Expr>(program_.exprs.size()) - 1;
}

Expr Decoder::SymbolExpr(const Value& value) {
  Expr sum = kNone;
  for (const Term& term : value.terms) {
    program_.exprs.push_back({ExprKind::kSymbol, kNone, kNone, kNone, term.symbol});
    const Expr symbol = Times(static_cast<Expr>(program_.exprs.size()) - 1, term.factor);
    sum = sum == kNone ? symbol : Add(sum, symbol);
  }
  return sum == kNone ? Constant(0) : sum;
}

bool Decoder::IsConstant(Expr expr, int64_t* number) const {
  const ExprNode& node = program_.exprs[expr];
  if (node.kind != ExprKind::kConstant) return false;
  *number = node.number;
  return true;
}

Expr Decoder::Add(Expr a, Expr b) {
  int64_t x, y;
  const bool known_a = IsConstant(a, &x), known_b = IsConstant(b, &y);
  if (known_a && known_b) return Constant(x + y);
  if (known_a && x == 0) return b;
  if (known_b && y == 0) return a;
  return Make(ExprKind::kAdd, a, b);
}

Expr Decoder::Multiply(Expr a, Expr b) {
  int64_t x, y;
  const bool known_a = IsConstant(a, &x), known_b = IsConstant(b, &y);
  if (known_a && known_b) return Constant(x * y);
  if (known_a && x == 1) return b;
  if (known_b && y == 1) return a;
  return Make(ExprKind::kMultiply, a, b);
}

Expr Decoder::DivideUp(Expr a, int64_t divisor) {
  int64_t x;
  if (IsConstant(a, &x)) return Constant((x + divisor - 1) / divisor);
  return Make(ExprKind::kFloorDivide, Add(a, Constant(divisor - 1)), Constant(divisor));
}

Expr Decoder::BytesOf(Expr elements, int bits) {
  if (bits % 8 == 0) return Times(elements, bits / 8);
  return DivideUp(Times(elements, bits), 8);
}

Slot Decoder::SlotOf(const VarNode* var, SlotKind kind) {
  auto [at, is_new] = slots_.try_emplace(var, static_cast<Slot>(program_.slots.size()));
  if (is_new) {
    program_.slots.push_back({var->name_hint, kind, loops_.empty() ? nullptr : loops_.back()});
  }
  return at->second;
}

Expr Decoder::Compile(const PrimExpr& expr) {
  if (const auto* number = expr.as<IntImmNode>()) return Constant(number->value);
  if (const auto* var = expr.as<VarNode>()) {
    auto bound = expressions_.find(var);
    if (bound != expressions_.end()) return bound->second;
    auto at = slots_.find(var);
    if (at == slots_.end()) return Make(ExprKind::kUnknown, kNone);
    const Expr slot = Make(ExprKind::kSlot, kNone);
    program_.exprs[slot].number = at->second;
    return slot;
  }
  if (const auto* cast = expr.as<CastNode>()) {
    const DataType from = cast->value.dtype(), to = cast->dtype;
    const bool integral = (from.is_int() || from.is_uint() || from.is_bool()) &&
                          (to.is_int() || to.is_uint() || to.is_bool());
    const Expr value = Compile(cast->value);
    if (integral && to.is_bool() && !from.is_bool()) {
      return Make(ExprKind::kNot, Make(ExprKind::kEqual, value, Constant(0)));
    }
    // A truth is 0 or 1 in every type.
    const bool fits = integral && (from.is_bool() || to.bits() >= 16);
    return fits ? value : Make(ExprKind::kUnknown, kNone);
  }
  auto binary = [&](ExprKind kind, const PrimExpr& a, const PrimExpr& b) {
    const Expr x = Compile(a), y = Compile(b);
    return Make(kind, x, y);
  };
  if (const auto* op = expr.as<AddNode>()) {
    const Expr a = Compile(op->a);
    return Add(a, Compile(op->b));
  }
  if (const auto* op = expr.as<SubNode>()) return binary(ExprKind::kSubtract, op->a, op->b);
  if (const auto* op = expr.as<MulNode>()) {
    const Expr a = Compile(op->a);
    return Multiply(a, Compile(op->b));
  }
  if (const auto* op = expr.as<FloorDivNode>()) {
    const auto* a = op->a.as<IntImmNode>();
    const auto* b = op->b.as<IntImmNode>();
    if (a && b && a->value >= 0 && b->value > 0) return Constant(a->value / b->value);
    return binary(ExprKind::kFloorDivide, op->a, op->b);
  }
  if (const auto* op = expr.as<FloorModNode>()) {
    return binary(ExprKind::kFloorModulo, op->a, op->b);
  }
  if (const auto* op = expr.as<DivNode>()) {
    if (!op->dtype.is_int() && !op->dtype.is_uint()) {
      binary(ExprKind::kTruncatedDivide, op->a, op->b);
      return Make(ExprKind::kUnknown, kNone);
    }
    return binary(ExprKind::kTruncatedDivide, op->a, op->b);
  }
  if (const auto* op = expr.as<ModNode>()) {
    return binary(ExprKind::kTruncatedModulo, op->a, op->b);
  }
  if (const auto* op = expr.as<MinNode>()) return binary(ExprKind::kMinimum, op->a, op->b);
  if (const auto* op = expr.as<MaxNode>()) return binary(ExprKind::kMaximum, op->a, op->b);
  auto comparable = [](const PrimExpr& a) {
    return a.dtype().is_int() || a.dtype().is_uint() || a.dtype().is_bool();
  };
  auto compare = [&](ExprKind kind, const PrimExpr& a, const PrimExpr& b) {
    const Expr test = binary(kind, a, b);
    return comparable(a) && comparable(b) ? test : Make(ExprKind::kUnknown, kNone);
  };
  if (const auto* op = expr.as<LTNode>()) return compare(ExprKind::kLess, op->a, op->b);
  if (const auto* op = expr.as<LENode>()) return compare(ExprKind::kLessEqual, op->a, op->b);
  if (const auto* op = expr.as<GTNode>()) return compare(ExprKind::kLess, op->b, op->a);
  if (const auto* op = expr.as<GENode>()) return compare(ExprKind::kLessEqual, op->b, op->a);
  if (const auto* op = expr.as<EQNode>()) return compare(ExprKind::kEqual, op->a, op->b);
  if (const auto* op = expr.as<NENode>()) {
    return Make(ExprKind::kNot, compare(ExprKind::kEqual, op->a, op->b));
  }
  if (const auto* op = expr.as<AndNode>()) return binary(ExprKind::kAnd, op->a, op->b);
  if (const auto* op = expr.as<OrNode>()) return binary(ExprKind::kOr, op->a, op->b);
  if (const auto* op = expr.as<NotNode>()) return Make(ExprKind::kNot, Compile(op->a));
  if (const auto* op = expr.as<SelectNode>()) {
    const Expr condition = Compile(op->condition), yes = Compile(op->true_value);
    return Make(ExprKind::kSelect, condition, yes, Compile(op->false_value));
  }
  if (const auto* load = expr.as<BufferLoadNode>()) return CompileLoad(load);
  if (const auto* call = expr.as<CallNode>()) return CompileCall(call);
  if (const auto* op = expr.as<BroadcastNode>()) return Compile(op->value);
  return Make(ExprKind::kUnknown, kNone);
}

Expr Decoder::CompileCall(const CallNode* call) {
  std::vector<Expr> args;
  if (call->op.same_as(builtin::address_of())) return Make(ExprKind::kUnknown, kNone);
  for (const PrimExpr& arg : call->args) {
    if (arg.as<StringImmNode>()) {
      args.push_back(Constant(0));
    } else {
      args.push_back(Compile(arg));
    }
  }
  if (call->op.same_as(builtin::if_then_else())) {
    return Make(ExprKind::kSelect, args[0], args[1], args[2]);
  }
  if (call->op.same_as(builtin::likely())) return args[0];
  if (call->op.same_as(builtin::shift_left())) {
    return Make(ExprKind::kShiftLeft, args[0], args[1]);
  }
  if (call->op.same_as(builtin::shift_right())) {
    return Make(ExprKind::kShiftRight, args[0], args[1]);
  }
  const auto* op = call->op.as<tvm::OpNode>();
  if (op != nullptr && op->name == "tl.ascend_read_gm_bypass_dcache") {
    Pointer pointer;
    if (Parse(call->args[0], &pointer)) {
      return ReadMemory(pointer, call->dtype.bytes(), "GM", call->dtype);
    }
  }
  return Make(ExprKind::kUnknown, kNone);
}

Expr Decoder::CompileLoad(const BufferLoadNode* load) {
  const std::string scope = load->buffer.scope();
  if (scope.rfind("local", 0) == 0) {
    const auto* index = load->indices.size() == 1 ? load->indices[0].as<IntImmNode>() : nullptr;
    auto at = slots_.find(load->buffer->data.get());
    if (index == nullptr || index->value != 0 || at == slots_.end()) {
      return Make(ExprKind::kUnknown, kNone);
    }
    const Expr slot = Make(ExprKind::kSlot, kNone);
    program_.exprs[slot].number = at->second;
    return slot;
  }
  Pointer pointer;
  if (!AddressOf(load, &pointer)) return Make(ExprKind::kUnknown, kNone);
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
Expr Decoder::ReadMemory(const Pointer& pointer, int64_t bytes, const std::string& name,
                         DataType dtype) {
  Instruction instruction{Action::kAccess, Pipe::kS};
  instruction.accesses.push_back(
      Rows(pointer, Constant(0), Constant(1), Constant(bytes), Constant(0), false));
  Source source;
  source.text = "scalar read of " + name;
  reads_.push_back(Issue(std::move(instruction), source));
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
  const Expr slot = Make(ExprKind::kSlot, kNone);
  program_.exprs[slot].number = fresh->slot;
  return slot;
}

bool Decoder::Locate(const Var& data, Pointer* pointer) const {
  auto tensor = tensors_.find(data.get());
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

bool Decoder::AddressOf(const BufferLoadNode* load, Pointer* pointer) {
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
  pointer->buffer = buffers_.Of(load);
  pointer->element_bits = load->buffer->dtype.bits() * load->buffer->dtype.lanes();
  pointer->begin = BytesOf(Compile(index), pointer->element_bits);
  pointer->extent = BytesOf(Constant(lanes), pointer->element_bits);
  return true;
}

bool Decoder::Parse(const PrimExpr& expr, Pointer* pointer) {
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
  pointer->buffer = buffers_.Of(call);
  pointer->begin = BytesOf(Compile(call->args[2]), pointer->element_bits);
  pointer->extent = BytesOf(Compile(call->args[3]), pointer->element_bits);
  return true;
}

}  // namespace tilelang_ascend_sched::verify
