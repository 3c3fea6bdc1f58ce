#include <utility>

#include "verify/run.h"

namespace tilelang_ascend_sched::verify {

Value Run::Eval(int core, Expr expr) {
  const ExprNode& node = program_.exprs[expr];
  Symbols& symbols = *search_.symbols;
  // What is decided is decided for all values of a class.
  auto test = [&](Expr condition) {
    const bool loose = std::exchange(loose_, false);
    const bool holds = Test(core, condition);
    loose_ = loose;
    return holds;
  };
  switch (node.kind) {
    case ExprKind::kConstant:
      return node.number;
    case ExprKind::kSlot:
      return (loose_ ? cores_[core].loose : cores_[core].slots)[node.number];
    case ExprKind::kSymbol: {
      const Symbol symbol = static_cast<Symbol>(node.number);
      if (inputs_ != nullptr) {
        auto at = inputs_->find(symbol);
        if (at != inputs_->end()) return at->second;
      }
      Value value;
      value.terms.push_back({symbol, 1});
      return value;
    }
    case ExprKind::kLoad: {
      const int tensor = static_cast<int>(node.number);
      const Tensor& read = program_.tensors[tensor];
      const Value value = symbols.Load(tensor, read.name, read.element_bytes, Eval(core, node.a),
                                       {INT32_MIN, INT32_MAX});
      if (inputs_ == nullptr) return value;
      auto at = inputs_->find(value.terms[0].symbol);
      return at == inputs_->end() ? Value(0) : Value(at->second);
    }
    case ExprKind::kUnknown:
      return inputs_ != nullptr ? Value(0) : symbols.Fresh("?", {-kUnbounded, kUnbounded});
    case ExprKind::kLess:
    case ExprKind::kLessEqual:
    case ExprKind::kEqual:
    case ExprKind::kAnd:
    case ExprKind::kOr:
    case ExprKind::kNot:
      return test(expr) ? 1 : 0;
    case ExprKind::kSelect:
      return Eval(core, test(node.a) ? node.b : node.c);
    default:
      break;
  }
  const Value a = Eval(core, node.a), b = Eval(core, node.b);
  const bool known = a.known() && b.known();
  const int64_t x = a.constant, y = b.constant;
  switch (node.kind) {
    case ExprKind::kAdd:
      return known ? Value(x + y) : a + b;
    case ExprKind::kSubtract:
      return known ? Value(x - y) : a - b;
    case ExprKind::kMultiply:
      return known ? Value(x * y) : symbols.Multiply(a, b);
    case ExprKind::kFloorDivide:
      return known && y != 0 ? Value(FloorDiv(x, y)) : symbols.FloorDivide(a, b);
    case ExprKind::kFloorModulo:
      return known && y != 0 ? Value(x - FloorDiv(x, y) * y) : symbols.FloorModulo(a, b);
    case ExprKind::kTruncatedDivide:
    case ExprKind::kTruncatedModulo: {
      const bool divides = node.kind == ExprKind::kTruncatedDivide;
      if (known && y != 0) return divides ? x / y : x % y;
      if (path_.Bounds(a).low < 0) return symbols.Fresh("quotient", {-kUnbounded, kUnbounded});
      return divides ? symbols.FloorDivide(a, b) : symbols.FloorModulo(a, b);
    }
    case ExprKind::kMinimum:
      return known ? Value(std::min(x, y))
                   : symbols.Minimum(a, b, loose_ ? nullptr : &path_.facts());
    case ExprKind::kMaximum:
      return known ? Value(std::max(x, y))
                   : symbols.Maximum(a, b, loose_ ? nullptr : &path_.facts());
    case ExprKind::kShiftLeft:
      if (b.known() && y >= 0 && y < 40) return symbols.Multiply(a, Value(int64_t{1} << y));
      break;
    case ExprKind::kShiftRight:
      if (b.known() && y >= 0 && y < 40) return symbols.FloorDivide(a, Value(int64_t{1} << y));
      break;
    default:
      break;
  }
  return symbols.Fresh("?", {-kUnbounded, kUnbounded});
}

// `value`, the value of `expr`, as far as states tell it: at other turns of the loops, of which a
// state says the same, it is one of the values that this one may have.
Value Run::EvalLoose(int core, Expr expr, const Value& value) {
  if (value.known() && !search_.periods.clamps()) return value;
  loose_ = true;
  Value loose = Eval(core, expr);
  loose_ = false;
  return loose;
}

void Run::Assign(int core, Slot slot, Expr expr) {
  CoreState& state = cores_[core];
  const Value value = Eval(core, expr);
  if (search_.periods.clamps()) state.loose[slot] = EvalLoose(core, expr, value);
  if (search_.reads.Holds(slot)) state.needs[slot] = NeedOf(core, expr);
  state.slots[slot] = value;
}

// At a state: variables keep of their values what it tells.
void Run::Loosen() {
  ++heads_;
  if (!search_.periods.clamps()) return;
  for (int core = 0; core < kCores; ++core) {
    CoreState& state = cores_[core];
    for (size_t i = 0; i < state.slots.size(); ++i) {
      const Slot slot = static_cast<Slot>(i);
      const Value& value = state.slots[slot];
      state.loose[slot] = value;
      const int64_t distance = value.known() ? search_.periods.Distance(slot, value.constant) : 0;
      if (distance == 0) continue;
      state.loose[slot] = Value(search_.periods.Remainder(value.constant, distance)) +
                          Scale(search_.symbols->Variable(core, slot), distance);
    }
  }
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
      const bool loop = frame.node->kind == NodeKind::kFor || frame.node->kind == NodeKind::kWhile;
      depth += loop && info.loop != nullptr;
      if (frame.node == info.loop) break;
    }
    return depth;
  }
  for (const Expr child : {node.a, node.b, node.c}) {
    if (child != kNone) depth = std::max(depth, DepthOf(core, child));
  }
  return depth;
}

// Whether `expr`, which compares and has the difference `value`, asks for the end of an open loop:
// in the loop's next turn it would ask the same of the next number.
bool Run::AsksForEnd(int core, Expr expr, const Value& value) const {
  const Path::Question question = path_.Asked(value);
  const OpenLoop* loop = path_.LoopTo(question.terms);
  if (loop == nullptr) return false;
  const ExprNode& node = program_.exprs[expr];
  if (node.kind < ExprKind::kLess || node.kind > ExprKind::kEqual) return false;
  const auto a = StepOf(core, node.a, loop->slot), b = StepOf(core, node.b, loop->slot);
  if (!a || !b) return false;
  const Path::Question next = path_.Asked(value + Value(*a - *b));
  return next.terms == question.terms && next.bound - question.bound == loop->step;
}

// By how much `expr` grows when the variable of a loop does by one; nothing if that is not known.
std::optional<int64_t> Run::StepOf(int core, Expr expr, Slot loop) const {
  const ExprNode& node = program_.exprs[expr];
  switch (node.kind) {
    case ExprKind::kConstant:
    case ExprKind::kSymbol:
      return 0;
    case ExprKind::kSlot: {
      if (node.number == loop) return 1;
      const SlotInfo& info = program_.slots[node.number];
      if (node.number == kSubBlockSlot) return 0;
      if (info.kind == SlotKind::kMutable || info.definition == nullptr) return std::nullopt;
      if (info.definition->kind == NodeKind::kAssign) {
        return StepOf(core, info.definition->value, loop);
      }
      // States tell turns apart only of loops whose end is known.
      for (const Frame& frame : cores_[core].frames) {
        if (frame.node == info.definition && frame.extent.known()) return 0;
      }
      return std::nullopt;
    }
    case ExprKind::kAdd:
    case ExprKind::kSubtract: {
      const auto a = StepOf(core, node.a, loop), b = StepOf(core, node.b, loop);
      if (!a || !b) return std::nullopt;
      return node.kind == ExprKind::kAdd ? *a + *b : *a - *b;
    }
    case ExprKind::kMultiply: {
      const auto a = StepOf(core, node.a, loop), b = StepOf(core, node.b, loop);
      if (!a || !b) return std::nullopt;
      if (*a == 0 && *b == 0) return 0;
      const ExprNode &x = program_.exprs[node.a], &y = program_.exprs[node.b];
      if (x.kind == ExprKind::kConstant) return x.number * *b;
      if (y.kind == ExprKind::kConstant) return y.number * *a;
      return std::nullopt;
    }
    default:
      break;
  }
  for (const Expr child : {node.a, node.b, node.c}) {
    if (child != kNone && StepOf(core, child, loop) != 0) return std::nullopt;
  }
  return 0;
}

// What is known of a condition on numbers; decides nothing.
std::optional<bool> Run::Known(int core, Expr expr) {
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
      const Range range = path_.Bounds(Eval(core, expr));
      if (range.low == 0 && range.high == 0) return false;
      return range.low > 0 || range.high < 0 ? std::optional<bool>(true) : std::nullopt;
    }
  }
  if (Decides(node.a) || Decides(node.b)) return std::nullopt;
  const Range range = path_.Bounds(Eval(core, node.a) - Eval(core, node.b));
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
  const ExprNode& node = program_.exprs[expr];
  // Looked up for a decision only.
  auto at_most_zero = [&](const Value& value) {
    if (value.known()) return value.constant <= 0;
    return path_.AtMostZero(value, DepthOf(core, expr), AsksForEnd(core, expr, value));
  };
  auto zero = [&](const Value& value) {
    if (value.known()) return value.constant == 0;
    return path_.Zero(value, DepthOf(core, expr), AsksForEnd(core, expr, value));
  };
  switch (node.kind) {
    case ExprKind::kLess:
      return at_most_zero(Eval(core, node.a) - Eval(core, node.b) + Value(1));
    case ExprKind::kLessEqual:
      return at_most_zero(Eval(core, node.a) - Eval(core, node.b));
    case ExprKind::kEqual:
      return zero(Eval(core, node.a) - Eval(core, node.b));
    case ExprKind::kAnd:
      return Test(core, node.a) && Test(core, node.b);
    case ExprKind::kOr:
      return Test(core, node.a) || Test(core, node.b);
    case ExprKind::kNot:
      return !Test(core, node.a);
    default:
      return !zero(Eval(core, expr));
  }
}

}  // namespace tilelang_ascend_sched::verify
