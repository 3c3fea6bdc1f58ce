#include "verify/run.h"

namespace tilelang_ascend_sched::verify {

namespace {

int64_t FloorDiv(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return quotient - ((a % b != 0) && ((a < 0) != (b < 0)));
}

}  // namespace

Value Run::Eval(int core, Expr expr) {
  const ExprNode& node = program_.exprs[expr];
  Symbols& symbols = *search_.symbols;
  switch (node.kind) {
    case ExprKind::kConstant:
      return node.number;
    case ExprKind::kSlot:
      return cores_[core].slots[node.number];
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
      const Value value = symbols.Load(tensor, program_.tensors[tensor].name, Eval(core, node.a),
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
      return Test(core, expr) ? 1 : 0;
    case ExprKind::kSelect:
      return Eval(core, Test(core, node.a) ? node.b : node.c);
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
      return known ? Value(std::min(x, y)) : symbols.Minimum(a, b);
    case ExprKind::kMaximum:
      return known ? Value(std::max(x, y)) : symbols.Maximum(a, b);
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

bool Run::Test(int core, Expr expr) {
  const ExprNode& node = program_.exprs[expr];
  const int depth = cores_[core].loops;
  switch (node.kind) {
    case ExprKind::kLess:
      return path_.AtMostZero(Eval(core, node.a) - Eval(core, node.b) + Value(1), depth);
    case ExprKind::kLessEqual:
      return path_.AtMostZero(Eval(core, node.a) - Eval(core, node.b), depth);
    case ExprKind::kEqual:
      return path_.Zero(Eval(core, node.a) - Eval(core, node.b), depth);
    case ExprKind::kAnd:
      return Test(core, node.a) && Test(core, node.b);
    case ExprKind::kOr:
      return Test(core, node.a) || Test(core, node.b);
    case ExprKind::kNot:
      return !Test(core, node.a);
    default:
      return !path_.Zero(Eval(core, expr), depth);
  }
}

}  // namespace tilelang_ascend_sched::verify
