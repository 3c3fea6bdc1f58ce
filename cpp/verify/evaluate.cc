#include <algorithm>
#include <utility>

#include "verify/run.h"

namespace tilelang_ascend_sched::verify {

namespace {

std::optional<int64_t> Shifted(int64_t number, int64_t bits, bool left) {
  if (bits < 0 || bits >= 40) return std::nullopt;
  return left ? number * (int64_t{1} << bits) : FloorDiv(number, int64_t{1} << bits);
}

}  // namespace

// The value of an expression in which no run-time input stands; nothing if it has none.
std::optional<int64_t> Run::Number(int core, Expr expr) const {
  const ExprNode& node = program_.exprs[expr];
  switch (node.kind) {
    case ExprKind::kConstant:
      return node.number;
    case ExprKind::kSlot:
      return cores_[core].slots[node.number].constant;
    case ExprKind::kNot:
    case ExprKind::kSelect: {
      const auto a = Number(core, node.a);
      if (!a) return a;
      if (node.kind == ExprKind::kNot) return *a == 0;
      return Number(core, *a != 0 ? node.b : node.c);
    }
    default:
      break;
  }
  const auto a = Number(core, node.a), b = Number(core, node.b);
  if (!a || !b) return std::nullopt;
  const int64_t x = *a, y = *b;
  switch (node.kind) {
    case ExprKind::kAdd:
      return x + y;
    case ExprKind::kSubtract:
      return x - y;
    case ExprKind::kMultiply:
      return x * y;
    case ExprKind::kFloorDivide:
      return y == 0 ? std::nullopt : std::optional(FloorDiv(x, y));
    case ExprKind::kFloorModulo:
      return y == 0 ? std::nullopt : std::optional(x - FloorDiv(x, y) * y);
    case ExprKind::kTruncatedDivide:
      return y == 0 ? std::nullopt : std::optional(x / y);
    case ExprKind::kTruncatedModulo:
      return y == 0 ? std::nullopt : std::optional(x % y);
    case ExprKind::kMinimum:
      return std::min(x, y);
    case ExprKind::kMaximum:
      return std::max(x, y);
    case ExprKind::kLess:
      return x < y;
    case ExprKind::kLessEqual:
      return x <= y;
    case ExprKind::kEqual:
      return x == y;
    case ExprKind::kAnd:
      return x != 0 && y != 0;
    case ExprKind::kOr:
      return x != 0 || y != 0;
    case ExprKind::kShiftLeft:
    case ExprKind::kShiftRight:
      return Shifted(x, y, node.kind == ExprKind::kShiftLeft);
    default:
      return std::nullopt;
  }
}

// The value at this turn.
Value Run::Eval(int core, Expr expr) {
  if (search_.periods.symbolic(expr)) return path_.Now(EvalLoose(core, expr));
  const auto number = Number(core, expr);
  return number ? Value(*number) : Unknown("?");
}

Value Run::Unknown(const char* name) {
  if (inputs_ != nullptr) return 0;
  return search_.symbols->Fresh(name, {-kUnbounded, kUnbounded});
}

// The value, made of counters where states leave numbers open.
Value Run::EvalLoose(int core, Expr expr) {
  const ExprNode& node = program_.exprs[expr];
  Symbols& symbols = *search_.symbols;
  const bool symbolic = search_.periods.symbolic(expr);
  if (!symbolic && path_.counters().empty()) return Eval(core, expr);
  switch (node.kind) {
    case ExprKind::kConstant:
      return node.number;
    case ExprKind::kSlot:
      return cores_[core].loose[node.number];
    case ExprKind::kSymbol: {
      const Symbol symbol = static_cast<Symbol>(node.number);
      if (inputs_ != nullptr) {
        auto at = inputs_->find(symbol);
        if (at != inputs_->end()) return at->second;
      }
      return ValueOf(symbol);
    }
    case ExprKind::kLoad: {
      const int tensor = static_cast<int>(node.number);
      const Tensor& read = program_.tensors[tensor];
      const Value begin = path_.Told(EvalIndex(core, tensor, node.a));
      const Value value =
          symbols.Load(tensor, read.name, read.element_bytes, begin, {INT32_MIN, INT32_MAX});
      if (inputs_ == nullptr) return value;
      auto at = inputs_->find(value.terms[0].symbol);
      return at == inputs_->end() ? Value(0) : Value(at->second);
    }
    case ExprKind::kUnknown:
      return Unknown("?");
    case ExprKind::kLess:
    case ExprKind::kLessEqual:
    case ExprKind::kEqual:
    case ExprKind::kAnd:
    case ExprKind::kOr:
    case ExprKind::kNot:
      return Test(core, expr) ? 1 : 0;
    case ExprKind::kSelect:
      return EvalLoose(core, Test(core, node.a) ? node.b : node.c);
    case ExprKind::kAdd:
      return EvalLoose(core, node.a) + EvalLoose(core, node.b);
    case ExprKind::kSubtract:
      return EvalLoose(core, node.a) - EvalLoose(core, node.b);
    case ExprKind::kMinimum:
    case ExprKind::kMaximum: {
      const bool minimum = node.kind == ExprKind::kMinimum;
      if (symbolic) {
        const Value a = EvalLoose(core, node.a), b = EvalLoose(core, node.b);
        return minimum ? symbols.Minimum(a, b, &path_.facts())
                       : symbols.Maximum(a, b, &path_.facts());
      }
      // Which one it is is told.
      const auto a = Number(core, node.a), b = Number(core, node.b);
      if (!a || !b) return Unknown("?");
      return EvalLoose(core, minimum == (*a <= *b) ? node.a : node.b);
    }
    case ExprKind::kMultiply:
    case ExprKind::kFloorDivide:
      break;
    default:
      // Classes tell what remainders are.
      if (!symbolic) return Eval(core, expr);
  }
  const Value a = path_.Told(EvalLoose(core, node.a)), b = path_.Told(EvalLoose(core, node.b));
  switch (node.kind) {
    case ExprKind::kMultiply:
      return symbols.Multiply(a, b);
    case ExprKind::kFloorDivide:
      return symbols.FloorDivide(a, b);
    case ExprKind::kFloorModulo:
      return symbols.FloorModulo(a, b);
    case ExprKind::kTruncatedDivide:
    case ExprKind::kTruncatedModulo: {
      const bool divides = node.kind == ExprKind::kTruncatedDivide;
      if (a.known() && b.known() && b.constant != 0) {
        return divides ? a.constant / b.constant : a.constant % b.constant;
      }
      if (path_.Bounds(a).low < 0) return Unknown("quotient");
      return divides ? symbols.FloorDivide(a, b) : symbols.FloorModulo(a, b);
    }
    case ExprKind::kShiftLeft:
      if (b.known() && b.constant >= 0 && b.constant < 40) {
        return symbols.Multiply(a, Value(int64_t{1} << b.constant));
      }
      break;
    case ExprKind::kShiftRight:
      if (b.known() && b.constant >= 0 && b.constant < 40) {
        return symbols.FloorDivide(a, Value(int64_t{1} << b.constant));
      }
      break;
    default:
      break;
  }
  return Unknown("?");
}

// Which element of a tensor is read. Classes say nothing of that; states tell it only where
// something is known of elements.
Value Run::EvalIndex(int core, int tensor, Expr expr) {
  if (path_.counters().empty() || told_elements_.count(tensor) != 0) return EvalLoose(core, expr);
  const ExprNode& node = program_.exprs[expr];
  Symbols& symbols = *search_.symbols;
  auto of = [&](Expr child) { return EvalIndex(core, tensor, child); };
  switch (node.kind) {
    case ExprKind::kConstant:
    case ExprKind::kSlot:
    case ExprKind::kSymbol:
    case ExprKind::kLoad:
      return EvalLoose(core, expr);
    case ExprKind::kAdd:
      return of(node.a) + of(node.b);
    case ExprKind::kSubtract:
      return of(node.a) - of(node.b);
    case ExprKind::kMultiply:
      return symbols.Multiply(of(node.a), of(node.b));
    case ExprKind::kFloorDivide:
      return symbols.FloorDivide(of(node.a), of(node.b));
    case ExprKind::kFloorModulo:
      return symbols.FloorModulo(of(node.a), of(node.b));
    case ExprKind::kMinimum:
      return symbols.Minimum(of(node.a), of(node.b), &path_.facts());
    case ExprKind::kMaximum:
      return symbols.Maximum(of(node.a), of(node.b), &path_.facts());
    default:
      return Unknown("index");
  }
}

void Run::Assign(int core, Slot slot, Expr expr) {
  CoreState& state = cores_[core];
  if (search_.reads.Holds(slot)) state.needs[slot] = NeedOf(core, expr);
  state.loose[slot] = EvalLoose(core, expr);
  state.slots[slot] =
      search_.periods.symbolic(expr) ? path_.Now(state.loose[slot]) : Eval(core, expr);
}

// How many of the loops around the present statement `expr` can differ in.
int Run::DepthOf(int core, Expr expr) const {
  const ExprNode& node = program_.exprs[expr];
  if (node.kind == ExprKind::kUnknown) return cores_[core].loops;
  int depth = 0;
  if (node.kind == ExprKind::kSlot) {
    const SlotInfo& info = program_.slots[node.number];
    if (node.number == kSubBlockSlot) return 0;
    if (info.kind == SlotKind::kMutable) return cores_[core].loops;
    for (const Frame& frame : cores_[core].frames) {
      depth += frame.loops() && info.loop != nullptr;
      if (frame.node == info.loop) break;
    }
    return depth;
  }
  for (const Expr child : {node.a, node.b, node.c}) {
    if (child != kNone) depth = std::max(depth, DepthOf(core, child));
  }
  return depth;
}

// What is known of a condition on numbers; decides nothing.
std::optional<bool> Run::Known(int core, Expr expr) {
  if (!search_.periods.symbolic(expr)) {
    const auto number = Number(core, expr);
    return number ? std::optional(*number != 0) : std::nullopt;
  }
  const ExprNode& node = program_.exprs[expr];
  switch (node.kind) {
    case ExprKind::kNot: {
      const std::optional<bool> a = Known(core, node.a);
      return a ? std::optional<bool>(!*a) : a;
    }
    case ExprKind::kAnd:
    case ExprKind::kOr: {
      const bool ends = node.kind == ExprKind::kOr;  // whatever the other one is
      const std::optional<bool> a = Known(core, node.a), b = Known(core, node.b);
      if (a == ends || b == ends) return ends;
      return a && b ? std::optional<bool>(!ends) : std::nullopt;
    }
    case ExprKind::kLess:
    case ExprKind::kLessEqual:
    case ExprKind::kEqual:
      break;
    default: {
      if (Decides(expr)) return std::nullopt;
      const Range range = path_.Bounds(EvalLoose(core, expr));
      if (range.low == 0 && range.high == 0) return false;
      return range.low > 0 || range.high < 0 ? std::optional<bool>(true) : std::nullopt;
    }
  }
  if (Decides(node.a) || Decides(node.b)) return std::nullopt;
  const Range range = path_.Bounds(EvalLoose(core, node.a) - EvalLoose(core, node.b));
  if (node.kind == ExprKind::kEqual) {
    if (range.low == 0 && range.high == 0) return true;
    return range.low > 0 || range.high < 0 ? std::optional<bool>(false) : std::nullopt;
  }
  const int64_t most = node.kind == ExprKind::kLess ? -1 : 0;
  if (range.high <= most) return true;
  return range.low > most ? std::optional<bool>(false) : std::nullopt;
}

// Whether the value of `expr` is decided, or another one each time.
bool Run::Decides(Expr expr) const {
  const ExprNode& node = program_.exprs[expr];
  if (node.kind == ExprKind::kUnknown) return true;
  if (node.kind >= ExprKind::kLess && node.kind <= ExprKind::kSelect) return true;
  for (const Expr child : {node.a, node.b, node.c}) {
    if (child != kNone && Decides(child)) return true;
  }
  return false;
}

bool Run::Test(int core, Expr expr) {
  if (!search_.periods.symbolic(expr)) {
    // What comes out the same for all values that a state does not tell apart.
    const auto number = Number(core, expr);
    if (number) return *number != 0;
  }
  const ExprNode& node = program_.exprs[expr];
  auto at_most_zero = [&](const Value& value) {
    return value.known() ? value.constant <= 0 : path_.AtMostZero(value, DepthOf(core, expr));
  };
  auto zero = [&](const Value& value) {
    return value.known() ? value.constant == 0 : path_.Zero(value, DepthOf(core, expr));
  };
  switch (node.kind) {
    case ExprKind::kLess:
      return at_most_zero(EvalLoose(core, node.a) - EvalLoose(core, node.b) + Value(1));
    case ExprKind::kLessEqual:
      return at_most_zero(EvalLoose(core, node.a) - EvalLoose(core, node.b));
    case ExprKind::kEqual:
      return zero(EvalLoose(core, node.a) - EvalLoose(core, node.b));
    case ExprKind::kAnd:
      return Test(core, node.a) && Test(core, node.b);
    case ExprKind::kOr:
      return Test(core, node.a) || Test(core, node.b);
    case ExprKind::kNot:
      return !Test(core, node.a);
    default:
      return !zero(EvalLoose(core, expr));
  }
}

}  // namespace tilelang_ascend_sched::verify
