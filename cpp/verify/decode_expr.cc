// Expressions: what they are made of, and those of TIR.
#include "verify/decode_expr.h"

#include <tvm/tirx/builtin.h>
#include <tvm/tirx/op.h>

namespace tilelang_ascend_sched::verify {

using namespace tvm::tirx;
using tvm::DataType;
using tvm::IntImmNode;
using tvm::PrimExpr;

namespace {

bool IsWhole(DataType dtype) { return dtype.is_int() || dtype.is_uint() || dtype.is_bool(); }

}  // namespace

Expr ExprDecoder::Make(ExprKind kind, Expr a, Expr b, Expr c) {
  program_.exprs.push_back({kind, a, b, c, 0});
  return static_cast<Expr>(program_.exprs.size()) - 1;
}

Expr ExprDecoder::Constant(int64_t number) {
  program_.exprs.push_back({ExprKind::kConstant, kNone, kNone, kNone, number});
  return static_cast<Expr>(program_.exprs.size()) - 1;
}

Expr ExprDecoder::Reading(Slot slot) {
  program_.exprs.push_back({ExprKind::kSlot, kNone, kNone, kNone, slot});
  return static_cast<Expr>(program_.exprs.size()) - 1;
}

Expr ExprDecoder::SymbolExpr(const Value& value) {
  Expr sum = Constant(value.constant);
  for (const Term& term : value.terms) {
    program_.exprs.push_back({ExprKind::kSymbol, kNone, kNone, kNone, term.symbol});
    sum = Add(sum, Times(static_cast<Expr>(program_.exprs.size()) - 1, term.factor));
  }
  return sum;
}

bool ExprDecoder::IsConstant(Expr expr, int64_t* number) const {
  const ExprNode& node = program_.exprs[expr];
  if (node.kind != ExprKind::kConstant) return false;
  *number = node.number;
  return true;
}

Expr ExprDecoder::Add(Expr a, Expr b) {
  int64_t x, y;
  const bool known_a = IsConstant(a, &x), known_b = IsConstant(b, &y);
  if (known_a && known_b) return Constant(x + y);
  if (known_a && x == 0) return b;
  if (known_b && y == 0) return a;
  return Make(ExprKind::kAdd, a, b);
}

Expr ExprDecoder::Multiply(Expr a, Expr b) {
  int64_t x, y;
  const bool known_a = IsConstant(a, &x), known_b = IsConstant(b, &y);
  if (known_a && known_b) return Constant(x * y);
  if (known_a && x == 1) return b;
  if (known_b && y == 1) return a;
  return Make(ExprKind::kMultiply, a, b);
}

Expr ExprDecoder::DivideUp(Expr a, int64_t divisor) {
  int64_t x;
  if (IsConstant(a, &x)) return Constant((x + divisor - 1) / divisor);
  return Make(ExprKind::kFloorDivide, Add(a, Constant(divisor - 1)), Constant(divisor));
}

Slot ExprDecoder::SlotOf(const VarNode* var, SlotKind kind) {
  auto [at, is_new] = slots_.try_emplace(var, static_cast<Slot>(program_.slots.size()));
  if (is_new) {
    program_.slots.push_back({var->name_hint, kind, loops_.empty() ? nullptr : loops_.back()});
  }
  return at->second;
}

Expr ExprDecoder::VisitExpr_(const VarNode* var) {
  const auto expr = expressions_.find(var);
  if (expr != expressions_.end()) return expr->second;
  const auto slot = slots_.find(var);
  return slot == slots_.end() ? Make(ExprKind::kUnknown) : Reading(slot->second);
}

Expr ExprDecoder::VisitExpr_(const CastNode* cast) {
  const DataType from = cast->value.dtype(), to = cast->dtype;
  const bool whole = IsWhole(from) && IsWhole(to);
  const Expr value = Compile(cast->value);
  if (whole && to.is_bool() && !from.is_bool()) {
    return Make(ExprKind::kNot, Make(ExprKind::kEqual, value, Constant(0)));
  }
  // A truth is 0 or 1 in every type.
  const bool fits = whole && (from.is_bool() || to.bits() >= 16);
  return fits ? value : Make(ExprKind::kUnknown, value);
}

Expr ExprDecoder::Binary(ExprKind kind, const PrimExpr& a, const PrimExpr& b) {
  const Expr left = Compile(a), right = Compile(b);
  return Make(kind, left, right);
}

Expr ExprDecoder::Compare(ExprKind kind, const PrimExpr& a, const PrimExpr& b) {
  const Expr test = Binary(kind, a, b);
  return IsWhole(a.dtype()) && IsWhole(b.dtype()) ? test : Make(ExprKind::kUnknown, test);
}

Expr ExprDecoder::VisitExpr_(const AddNode* op) {
  const Expr left = Compile(op->a), right = Compile(op->b);
  return Add(left, right);
}

Expr ExprDecoder::VisitExpr_(const MulNode* op) {
  const Expr left = Compile(op->a), right = Compile(op->b);
  return Multiply(left, right);
}

Expr ExprDecoder::VisitExpr_(const SubNode* op) {
  return Binary(ExprKind::kSubtract, op->a, op->b);
}

Expr ExprDecoder::VisitExpr_(const FloorDivNode* op) {
  const auto* a = op->a.as<IntImmNode>();
  const auto* b = op->b.as<IntImmNode>();
  if (a && b && a->value >= 0 && b->value > 0) return Constant(a->value / b->value);
  return Binary(ExprKind::kFloorDivide, op->a, op->b);
}

Expr ExprDecoder::VisitExpr_(const FloorModNode* op) {
  return Binary(ExprKind::kFloorModulo, op->a, op->b);
}

Expr ExprDecoder::VisitExpr_(const DivNode* op) {
  const Expr quotient = Binary(ExprKind::kTruncatedDivide, op->a, op->b);
  return IsWhole(op->dtype) ? quotient : Make(ExprKind::kUnknown, quotient);
}

Expr ExprDecoder::VisitExpr_(const ModNode* op) {
  return Binary(ExprKind::kTruncatedModulo, op->a, op->b);
}

Expr ExprDecoder::VisitExpr_(const MinNode* op) { return Binary(ExprKind::kMinimum, op->a, op->b); }

Expr ExprDecoder::VisitExpr_(const MaxNode* op) { return Binary(ExprKind::kMaximum, op->a, op->b); }

Expr ExprDecoder::VisitExpr_(const LTNode* op) { return Compare(ExprKind::kLess, op->a, op->b); }

Expr ExprDecoder::VisitExpr_(const GTNode* op) { return Compare(ExprKind::kLess, op->b, op->a); }

Expr ExprDecoder::VisitExpr_(const LENode* op) {
  return Compare(ExprKind::kLessEqual, op->a, op->b);
}

Expr ExprDecoder::VisitExpr_(const GENode* op) {
  return Compare(ExprKind::kLessEqual, op->b, op->a);
}

Expr ExprDecoder::VisitExpr_(const EQNode* op) { return Compare(ExprKind::kEqual, op->a, op->b); }

Expr ExprDecoder::VisitExpr_(const NENode* op) {
  return Make(ExprKind::kNot, Compare(ExprKind::kEqual, op->a, op->b));
}

bool ExprDecoder::HasUnknown(Expr expr) const {
  if (expr == kNone) return false;
  const ExprNode& node = program_.exprs[expr];
  return node.kind == ExprKind::kUnknown || HasUnknown(node.a) || HasUnknown(node.b) ||
         HasUnknown(node.c);
}

// An expression that is evaluated only where `condition` holds, or does not: so are its reads. An
// unknown condition may come out otherwise whenever it is asked, so what it lets through may
// happen.
Expr ExprDecoder::Side(const PrimExpr& expr, Expr condition, bool holds) {
  const size_t before = reads_.size();
  const Expr value = Compile(expr);
  const Expr counts = holds ? condition : Make(ExprKind::kNot, condition);
  for (size_t i = before; i < reads_.size(); ++i) {
    if (reads_[i]->kind != NodeKind::kInstruction) continue;
    reads_[i]->instruction.on_side = true;
    AccessPattern& read = reads_[i]->instruction.accesses.front();
    if (HasUnknown(counts)) {
      read.approximate = true;
    } else {
      const bool inner = read.condition != kNone;
      read.condition = inner ? Make(ExprKind::kAnd, counts, read.condition) : counts;
    }
  }
  return value;
}

Expr ExprDecoder::VisitExpr_(const AndNode* op) {
  const Expr first = Compile(op->a);
  return Make(ExprKind::kAnd, first, Side(op->b, first, true));
}

Expr ExprDecoder::VisitExpr_(const OrNode* op) {
  const Expr first = Compile(op->a);
  return Make(ExprKind::kOr, first, Side(op->b, first, false));
}

Expr ExprDecoder::Choose(const PrimExpr& condition, const PrimExpr& yes, const PrimExpr& no) {
  const Expr chosen = Compile(condition);
  const Expr a = Side(yes, chosen, true), b = Side(no, chosen, false);
  return Make(ExprKind::kSelect, chosen, a, b);
}

Expr ExprDecoder::VisitExpr_(const NotNode* op) { return Make(ExprKind::kNot, Compile(op->a)); }

Expr ExprDecoder::VisitExpr_(const SelectNode* op) {
  return Choose(op->condition, op->true_value, op->false_value);
}

Expr ExprDecoder::VisitExpr_(const CallNode* call) {
  if (call->op.same_as(builtin::address_of())) return Make(ExprKind::kUnknown);
  if (call->op.same_as(builtin::if_then_else())) {
    return Choose(call->args[0], call->args[1], call->args[2]);
  }
  std::vector<Expr> args;
  for (const PrimExpr& arg : call->args) {
    args.push_back(arg.as<StringImmNode>() ? Constant(0) : Compile(arg));
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
  Expr unknown = Make(ExprKind::kUnknown);
  for (const Expr arg : args) unknown = Make(ExprKind::kUnknown, unknown, arg);
  return unknown;
}

}  // namespace tilelang_ascend_sched::verify
