// What uses of expressions make of the variables in them.
#include <algorithm>
#include <numeric>

#include "verify/linear.h"
#include "verify/periods.h"

namespace tilelang_ascend_sched::verify {

bool Periods::Same(Expr a, Expr b) const {
  if (a == b) return true;
  if (a == kNone || b == kNone) return false;
  const ExprNode& x = program_.exprs[a];
  const ExprNode& y = program_.exprs[b];
  return x.kind == y.kind && x.kind != ExprKind::kUnknown && x.number == y.number &&
         Same(x.a, y.a) && Same(x.b, y.b) && Same(x.c, y.c);
}

bool Periods::Grows(Expr expr, Slot slot) const {
  const ExprNode& node = program_.exprs[expr];
  auto positive = [&](Expr factor) {
    return program_.exprs[factor].kind == ExprKind::kConstant && program_.exprs[factor].number > 0;
  };
  switch (node.kind) {
    case ExprKind::kConstant:
    case ExprKind::kSymbol:
      return true;
    case ExprKind::kSlot:
      return node.number == slot || node.number == kSubBlockSlot;
    case ExprKind::kAdd:
    case ExprKind::kMinimum:
    case ExprKind::kMaximum:
      return Grows(node.a, slot) && Grows(node.b, slot);
    case ExprKind::kMultiply:
      return (Grows(node.a, slot) && positive(node.b)) || (positive(node.a) && Grows(node.b, slot));
    case ExprKind::kFloorDivide:
      return Grows(node.a, slot) && positive(node.b);
    default:
      return false;
  }
}

bool Periods::Ascends(int tensor, const Node* loop) const {
  return loop->kind == NodeKind::kFor && one_address_[tensor] &&
         references_[tensor].expr != kNone && Grows(references_[tensor].expr, loop->slot);
}

// The variables in `expr`, and whether anything in it is not known before run time.
void Periods::Collect(Expr expr, std::vector<Slot>* slots, bool* symbolic) const {
  const ExprNode& node = program_.exprs[expr];
  if (node.kind == ExprKind::kSlot) {
    slots->push_back(static_cast<Slot>(node.number));
    if (symbolic_[node.number]) *symbolic = true;
  }
  if (node.kind == ExprKind::kSymbol || node.kind == ExprKind::kLoad ||
      node.kind == ExprKind::kUnknown) {
    *symbolic = true;
  }
  for (const Expr child : {node.a, node.b, node.c}) {
    if (child != kNone) Collect(child, slots, symbolic);
  }
}

void Periods::Exact(Expr expr) {
  std::vector<Slot> slots;
  bool symbolic = false;
  Collect(expr, &slots, &symbolic);
  for (const Slot slot : slots) ExactIn(slot);
}

// Every value behaves differently; those that the guards around do not let through alike.
void Periods::ExactIn(Slot slot) {
  bool guarded = false;
  for (const Most& guard : guards_) {
    if (guard.slot != slot) continue;
    Note(slot, guard.value);
    guarded = true;
  }
  slots_[slot].exact = slots_[slot].exact || !guarded;
}

// Notes what a use of `expr` makes of the variables in it.
void Periods::Visit(Expr expr, Use use, int64_t scale) {
  const ExprNode& node = program_.exprs[expr];
  auto all = [&](auto note) {
    std::vector<Slot> slots;
    bool symbolic = false;
    Collect(expr, &slots, &symbolic);
    for (const Slot slot : slots) note(slots_[slot]);
  };
  switch (node.kind) {
    case ExprKind::kSlot:
      if (use == Use::kExact) Exact(expr);
      if (use == Use::kCondition) Note(static_cast<Slot>(node.number), 0);
      return;
    case ExprKind::kConstant:
    case ExprKind::kSymbol:
    case ExprKind::kUnknown:
    case ExprKind::kLoad:
      return;
    case ExprKind::kFloorModulo:
    case ExprKind::kFloorDivide: {
      const ExprNode& divisor = program_.exprs[node.b];
      const bool modulo = node.kind == ExprKind::kFloorModulo;
      // A remainder of a quotient repeats after the product of both divisors.
      const int64_t period = divisor.kind == ExprKind::kConstant ? divisor.number * scale : 0;
      if (period <= 0 || period > kLongestPeriod || (!modulo && use == Use::kExact)) {
        return Exact(expr);
      }
      Visit(node.a, Use::kAddress, period);
      all([period](Dependence& slot) {
        slot.moduli = std::min(std::lcm(slot.moduli, period), kLongestPeriod + 1);
        slot.period = std::lcm(slot.period, period);
        if (slot.period > kLongestPeriod) slot.exact = true, slot.period = 1;
      });
      if (!modulo && use == Use::kCondition) Exact(expr);
      return;
    }
    case ExprKind::kLess:
    case ExprKind::kLessEqual:
    case ExprKind::kEqual:
      return Compare(node.a, node.b);
    case ExprKind::kMultiply: {
      std::vector<Slot> left, right;
      bool symbolic = false;
      Collect(node.a, &left, &symbolic);
      Collect(node.b, &right, &symbolic);
      if (!left.empty() && !right.empty()) return Exact(expr);
      if (use == Use::kCondition) return CompareWithZero(expr);
      break;
    }
    case ExprKind::kAdd:
    case ExprKind::kSubtract:
      if (use == Use::kCondition) return CompareWithZero(expr);
      break;
    case ExprKind::kSelect:
      Visit(node.a, Use::kCondition);
      Visit(node.b, use, scale);
      return Visit(node.c, use, scale);
    case ExprKind::kAnd:
    case ExprKind::kOr:
    case ExprKind::kNot:
      use = Use::kCondition;
      break;
    case ExprKind::kMinimum:
    case ExprKind::kMaximum: {
      // Of a run-time input that is clamped, only the clamps are used as bounds of a region.
      std::vector<Slot> slots;
      bool symbolic = false;
      Collect(expr, &slots, &symbolic);
      if (symbolic && Clamped(expr).high < kUnbounded) use = Use::kAddress;
      if (use == Use::kCondition) return Exact(expr);
      if (!symbolic) Compare(node.a, node.b);
      break;
    }
    case ExprKind::kTruncatedDivide:
    case ExprKind::kTruncatedModulo:
    case ExprKind::kShiftLeft:
    case ExprKind::kShiftRight:
      return Exact(expr);
    default:
      break;
  }
  for (const Expr child : {node.a, node.b, node.c}) {
    if (child != kNone) Visit(child, use, scale);
  }
}

bool Periods::Divides(Expr expr) const {
  const ExprNode& node = program_.exprs[expr];
  if (node.kind == ExprKind::kFloorDivide || node.kind == ExprKind::kFloorModulo) return true;
  for (const Expr child : {node.a, node.b, node.c}) {
    if (child != kNone && Divides(child)) return true;
  }
  return false;
}

// Bounds of `expr` for any values of its variables and inputs.
Range Periods::Clamped(Expr expr) const {
  const ExprNode& node = program_.exprs[expr];
  const Range any = {-kUnbounded, kUnbounded};
  if (node.kind == ExprKind::kConstant) return {node.number, node.number};
  if (node.b == kNone || node.c != kNone) return any;
  const Range a = Clamped(node.a), b = Clamped(node.b);
  switch (node.kind) {
    case ExprKind::kMinimum:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case ExprKind::kMaximum:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case ExprKind::kAdd:
      return {std::max(a.low + b.low, -kUnbounded), std::min(a.high + b.high, kUnbounded)};
    case ExprKind::kSubtract:
      return {std::max(a.low - b.high, -kUnbounded), std::min(a.high - b.low, kUnbounded)};
    default:
      return any;
  }
}

// A comparison of one variable with a constant changes at one place; one with run-time inputs is
// decided anew at each turn.
void Periods::Compare(Expr a, Expr b) {
  std::vector<Slot> slots;
  bool symbolic = false;
  Collect(a, &slots, &symbolic);
  Collect(b, &slots, &symbolic);
  if (symbolic || (OnlyRemainders(a) && OnlyRemainders(b))) {
    Visit(a, Use::kAddress);
    Visit(b, Use::kAddress);
    return;
  }
  int64_t factor_a = 0, factor_b = 0, constant_a = 0, constant_b = 0;
  const bool one =
      !slots.empty() &&
      std::all_of(slots.begin(), slots.end(), [&](Slot slot) { return slot == slots.front(); }) &&
      LinearIn(program_, a, slots.front(), &factor_a, &constant_a) &&
      LinearIn(program_, b, slots.front(), &factor_b, &constant_b);
  if (!one) {
    for (const Slot slot : slots) ExactIn(slot);
    return;
  }
  const int64_t factor = factor_a - factor_b;
  if (factor != 0) Note(slots.front(), (constant_b - constant_a) / factor);
}

void Periods::CompareWithZero(Expr expr) {
  std::vector<Slot> slots;
  bool symbolic = false;
  Collect(expr, &slots, &symbolic);
  int64_t factor = 0, constant = 0;
  if (symbolic || OnlyRemainders(expr)) return Visit(expr, Use::kAddress);
  if (slots.size() == 1 && LinearIn(program_, expr, slots.front(), &factor, &constant) &&
      factor != 0) {
    return Note(slots.front(), -constant / factor);
  }
  for (const Slot slot : slots) ExactIn(slot);
}

// Something changes where the variable passes `place`.
void Periods::Note(Slot slot, int64_t place) {
  slots_[slot].low = std::min(slots_[slot].low, place - 1);
  slots_[slot].high = std::max(slots_[slot].high, place + 1);
}

// Whether variables stand under remainders by constants only.
bool Periods::OnlyRemainders(Expr expr) const {
  const ExprNode& node = program_.exprs[expr];
  if (node.kind == ExprKind::kSlot) return node.number == kSubBlockSlot;
  if (node.kind == ExprKind::kFloorModulo && program_.exprs[node.b].kind == ExprKind::kConstant) {
    return true;
  }
  for (const Expr child : {node.a, node.b, node.c}) {
    if (child != kNone && !OnlyRemainders(child)) return false;
  }
  return true;
}

}  // namespace tilelang_ascend_sched::verify
