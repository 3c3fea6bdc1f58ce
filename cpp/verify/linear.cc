#include "verify/linear.h"

#include <algorithm>
#include <numeric>

namespace tilelang_ascend_sched::verify {

namespace {

// Some variable in `expr`; kNone if there is none.
Slot SomeSlot(const Program& program, Expr expr) {
  if (expr == kNone) return kNone;
  const ExprNode& node = program.exprs[expr];
  if (node.kind == ExprKind::kSlot) return static_cast<Slot>(node.number);
  for (const Expr child : {node.a, node.b, node.c}) {
    const Slot slot = SomeSlot(program, child);
    if (slot != kNone) return slot;
  }
  return kNone;
}

}  // namespace

Expr BoundTo(const Program& program, Expr expr) {
  const SlotInfo& info = program.slots[program.exprs[expr].number];
  const bool bound = info.kind == SlotKind::kBound && info.definition != nullptr &&
                     info.definition->kind == NodeKind::kAssign;
  return bound ? info.definition->value : kNone;
}

bool LinearIn(const Program& program, Expr expr, Slot slot, int64_t* factor, int64_t* constant) {
  const ExprNode& node = program.exprs[expr];
  int64_t fa = 0, ca = 0, fb = 0, cb = 0;
  switch (node.kind) {
    case ExprKind::kConstant:
      *constant = node.number;
      return true;
    case ExprKind::kSlot:
      *factor = 1;
      return node.number == slot;
    case ExprKind::kAdd:
    case ExprKind::kSubtract:
    case ExprKind::kMultiply:
      if (!LinearIn(program, node.a, slot, &fa, &ca) ||
          !LinearIn(program, node.b, slot, &fb, &cb)) {
        return false;
      }
      break;
    default:
      return false;
  }
  if (node.kind == ExprKind::kMultiply) {
    *factor = fa * cb + fb * ca;
    *constant = ca * cb;
    return fa == 0 || fb == 0;
  }
  const int64_t sign = node.kind == ExprKind::kAdd ? 1 : -1;
  *factor = fa + sign * fb;
  *constant = ca + sign * cb;
  return true;
}

void VariablesIn(const Program& program, Expr expr, std::map<Slot, int64_t>* slots,
                 int64_t period) {
  const ExprNode& node = program.exprs[expr];
  if (node.kind == ExprKind::kSlot && node.number != kSubBlockSlot) {
    const Expr value = BoundTo(program, expr);
    if (value != kNone) return VariablesIn(program, value, slots, period);
    auto [at, is_new] = slots->try_emplace(static_cast<Slot>(node.number), period);
    if (!is_new) at->second = std::lcm(at->second, period);
    if (at->second > kLongestPeriod) at->second = 0;
  }
  int64_t divisor = 0;
  switch (node.kind) {
    case ExprKind::kAdd:
    case ExprKind::kSubtract:
    case ExprKind::kMultiply:
      break;
    case ExprKind::kFloorModulo:
    case ExprKind::kFloorDivide:
      if (program.exprs[node.b].kind == ExprKind::kConstant) {
        divisor = std::max<int64_t>(program.exprs[node.b].number, 0);
      }
      period = node.kind == ExprKind::kFloorModulo ? divisor
               : divisor > kLongestPeriod          ? 0
                                                   : divisor * period;
      if (period > kLongestPeriod) period = 0;
      break;
    default:
      period = 0;
  }
  for (const Expr child : {node.a, node.b, node.c}) {
    if (child != kNone) VariablesIn(program, child, slots, period);
  }
}

std::vector<Most> MostIn(const Program& program, Expr condition) {
  const ExprNode& node = program.exprs[condition];
  switch (node.kind) {
    case ExprKind::kAnd: {
      std::vector<Most> both = MostIn(program, node.a);
      for (const Most& most : MostIn(program, node.b)) both.push_back(most);
      return both;
    }
    case ExprKind::kSlot: {
      const Expr value = BoundTo(program, condition);
      return value == kNone ? std::vector<Most>() : MostIn(program, value);
    }
    case ExprKind::kLess:
    case ExprKind::kLessEqual:
    case ExprKind::kEqual:
      break;
    default:
      return {};
  }
  Slot slot = SomeSlot(program, node.a);
  if (slot == kNone) slot = SomeSlot(program, node.b);
  int64_t factor_a = 0, constant_a = 0, factor_b = 0, constant_b = 0;
  if (slot == kNone || program.slots[slot].kind != SlotKind::kLoop ||
      !LinearIn(program, node.a, slot, &factor_a, &constant_a) ||
      !LinearIn(program, node.b, slot, &factor_b, &constant_b)) {
    return {};
  }
  // `factor * slot <= most`; of an equality either sign will do.
  int64_t factor = factor_a - factor_b;
  int64_t most = constant_b - constant_a - (node.kind == ExprKind::kLess);
  if (node.kind == ExprKind::kEqual && factor < 0) factor = -factor, most = -most;
  if (factor <= 0) return {};
  return {{slot, FloorDiv(most, factor)}};
}

}  // namespace tilelang_ascend_sched::verify
