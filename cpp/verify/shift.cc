#include "verify/shift.h"

#include <algorithm>

namespace tilelang_ascend_sched::verify {

namespace {

constexpr int kDeepest = 64;  // definitions of variables by variables

int64_t Clamp(__int128 number) {
  return static_cast<int64_t>(std::clamp<__int128>(number, -kUnbounded, kUnbounded));
}

}  // namespace

std::optional<int64_t> Shift::OfVariable(Slot slot) {
  if (moved_[slot]) return *moved_[slot];
  const Motion::OfSlot& motion = motion_.slots[slot];
  if (slot == kSubBlockSlot || motion.symbolic) return 0;
  if (motion.live) return motion.moved;
  // Set anew before it is read.
  const Node* definition = program_.slots[slot].definition;
  moved_[slot] = std::optional<int64_t>();
  if (definition == nullptr) return std::nullopt;
  std::optional<int64_t> moved = 0;
  if (definition->kind == NodeKind::kFor) moved = Of(definition->minimum);
  if (definition->kind == NodeKind::kAssign) moved = Of(definition->value);
  moved_[slot] = moved;
  return moved;
}

std::optional<int64_t> Shift::Of(Expr expr) {
  const ExprNode& node = program_.exprs[expr];
  auto same = [this](Expr child) { return child == kNone || Of(child) == 0; };
  switch (node.kind) {
    case ExprKind::kConstant:
    case ExprKind::kSymbol:
    case ExprKind::kUnknown:
      return 0;
    case ExprKind::kSlot:
      return OfVariable(static_cast<Slot>(node.number));
    case ExprKind::kAdd:
    case ExprKind::kSubtract: {
      const auto a = Of(node.a), b = Of(node.b);
      if (!a || !b) return std::nullopt;
      return node.kind == ExprKind::kAdd ? *a + *b : *a - *b;
    }
    case ExprKind::kMultiply: {
      const auto a = Of(node.a), b = Of(node.b);
      if (!a || !b) return std::nullopt;
      if (*a == 0 && *b == 0) return 0;
      const ExprNode &x = program_.exprs[node.a], &y = program_.exprs[node.b];
      if (x.kind == ExprKind::kConstant) return x.number * *b;
      if (y.kind == ExprKind::kConstant) return y.number * *a;
      return std::nullopt;
    }
    case ExprKind::kFloorDivide:
    case ExprKind::kFloorModulo: {
      const auto a = Of(node.a);
      if (!a || !same(node.b)) return std::nullopt;
      if (*a == 0) return 0;
      const ExprNode& divisor = program_.exprs[node.b];
      if (divisor.kind != ExprKind::kConstant || divisor.number <= 0) return std::nullopt;
      if (*a % divisor.number != 0) return std::nullopt;
      return node.kind == ExprKind::kFloorModulo ? 0 : *a / divisor.number;
    }
    case ExprKind::kLess:
      if (Compare(node.a, node.b, false, 1)) return 0;
      return std::nullopt;
    case ExprKind::kLessEqual:
      if (Compare(node.a, node.b, false, 0)) return 0;
      return std::nullopt;
    case ExprKind::kEqual:
      if (Compare(node.a, node.b, true, 0)) return 0;
      return std::nullopt;
    case ExprKind::kAnd:
    case ExprKind::kOr:
      if (Stays(node.a) && Stays(node.b)) return 0;
      return std::nullopt;
    case ExprKind::kNot:
      if (Stays(node.a)) return 0;
      return std::nullopt;
    case ExprKind::kSelect: {
      if (!Stays(node.a)) return std::nullopt;
      const auto b = Of(node.b), c = Of(node.c);
      return b && c && *b == *c ? b : std::nullopt;
    }
    case ExprKind::kMinimum:
    case ExprKind::kMaximum: {
      const auto a = Of(node.a), b = Of(node.b);
      if (a && b && *a == *b) return a;
      // One side may win all the time.
      if (!a || !b || !Compare(node.a, node.b, false, 0)) return std::nullopt;
      const Range x = Bounds(node.a), y = Bounds(node.b);
      const bool a_is_less = x.high <= y.low, b_is_less = y.high <= x.low;
      if (!a_is_less && !b_is_less) return std::nullopt;
      return a_is_less == (node.kind == ExprKind::kMinimum) ? a : b;
    }
    default:
      if (same(node.a) && same(node.b) && same(node.c)) return 0;
      return std::nullopt;
  }
}

// Whether `a - b + offset <= 0`, or `== 0`, comes out the same.
bool Shift::Compare(Expr a, Expr b, bool equality, int64_t offset) {
  const auto x = Of(a), y = Of(b);
  if (!x || !y) return false;
  if (*x == *y) return true;
  const Range p = Bounds(a), q = Bounds(b);
  return Keeps({Clamp(static_cast<__int128>(p.low) - q.high + offset),
                Clamp(static_cast<__int128>(p.high) - q.low + offset)},
               *x - *y, equality);
}

bool Shift::CompareWithZero(Expr expr) {
  const auto moved = Of(expr);
  return moved && (*moved == 0 || Keeps(Bounds(expr), *moved, true));
}

// A number between the ends of `difference` moves by `moved` in each period: how often does it stay
// on its side of zero?
bool Shift::Keeps(Range difference, int64_t moved, bool equality) {
  if (difference.low <= -kUnbounded || difference.high >= kUnbounded) return false;
  if (moved > 0) {
    if (difference.low > 0) return true;
    const int64_t left = equality ? -1 - difference.high : -difference.high;
    if (left < moved) return false;
    most_ = std::min(most_, left / moved);
    return true;
  }
  if (equality ? difference.high < 0 : difference.high <= 0) return true;
  const int64_t left = difference.low - 1;
  if (left < -moved) return false;
  most_ = std::min(most_, left / -moved);
  return true;
}

Range Shift::Bounds(Expr expr, int depth) const {
  const Range any = {-kUnbounded, kUnbounded};
  if (depth > kDeepest) return any;
  const ExprNode& node = program_.exprs[expr];
  auto of = [&](Expr child) { return Bounds(child, depth + 1); };
  switch (node.kind) {
    case ExprKind::kConstant:
      return {Clamp(node.number), Clamp(node.number)};
    case ExprKind::kSymbol: {
      Value value;
      value.terms.push_back({static_cast<Symbol>(node.number), 1});
      return program_.symbols.Bounds(value);
    }
    case ExprKind::kSlot: {
      if (node.number == kSubBlockSlot) return {0, 1};
      const Motion::OfSlot& motion = motion_.slots[node.number];
      if (motion.live) return motion.range;
      const Node* definition = program_.slots[node.number].definition;
      if (motion.symbolic || definition == nullptr) return any;
      if (definition->kind == NodeKind::kAssign) return of(definition->value);
      if (definition->kind != NodeKind::kFor) return definition->range;
      const Range first = of(definition->minimum), count = of(definition->value);
      return {first.low,
              Clamp(static_cast<__int128>(first.high) + std::max(count.high, int64_t{1}) - 1)};
    }
    case ExprKind::kAdd: {
      const Range a = of(node.a), b = of(node.b);
      return {Clamp(static_cast<__int128>(a.low) + b.low),
              Clamp(static_cast<__int128>(a.high) + b.high)};
    }
    case ExprKind::kSubtract: {
      const Range a = of(node.a), b = of(node.b);
      return {Clamp(static_cast<__int128>(a.low) - b.high),
              Clamp(static_cast<__int128>(a.high) - b.low)};
    }
    case ExprKind::kMultiply: {
      const Range a = of(node.a), b = of(node.b);
      const __int128 ends[] = {
          static_cast<__int128>(a.low) * b.low, static_cast<__int128>(a.low) * b.high,
          static_cast<__int128>(a.high) * b.low, static_cast<__int128>(a.high) * b.high};
      return {Clamp(*std::min_element(ends, ends + 4)), Clamp(*std::max_element(ends, ends + 4))};
    }
    case ExprKind::kFloorDivide:
    case ExprKind::kFloorModulo: {
      const ExprNode& divisor = program_.exprs[node.b];
      if (divisor.kind != ExprKind::kConstant || divisor.number <= 0) return any;
      if (node.kind == ExprKind::kFloorModulo) return {0, divisor.number - 1};
      const Range a = of(node.a);
      return {FloorDiv(a.low, divisor.number), FloorDiv(a.high, divisor.number)};
    }
    case ExprKind::kMinimum: {
      const Range a = of(node.a), b = of(node.b);
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    }
    case ExprKind::kMaximum: {
      const Range a = of(node.a), b = of(node.b);
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    }
    case ExprKind::kSelect: {
      const Range b = of(node.b), c = of(node.c);
      return {std::min(b.low, c.low), std::max(b.high, c.high)};
    }
    case ExprKind::kLess:
    case ExprKind::kLessEqual:
    case ExprKind::kEqual:
    case ExprKind::kAnd:
    case ExprKind::kOr:
    case ExprKind::kNot:
      return {0, 1};
    default:
      return any;
  }
}

}  // namespace tilelang_ascend_sched::verify
