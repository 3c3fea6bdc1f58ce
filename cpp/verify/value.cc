#include "verify/value.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <tuple>

namespace tilelang_ascend_sched::verify {

namespace {

int64_t Clamp(__int128 number) {
  if (number > kUnbounded) return kUnbounded;
  if (number < -kUnbounded) return -kUnbounded;
  return static_cast<int64_t>(number);
}

Value Combine(const Value& a, const Value& b, int64_t sign) {
  Value sum;
  sum.constant = a.constant + sign * b.constant;
  if (a.terms.empty() && b.terms.empty()) return sum;
  size_t i = 0, j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    if (j == b.terms.size() || (i < a.terms.size() && a.terms[i].symbol < b.terms[j].symbol)) {
      sum.terms.push_back(a.terms[i++]);
    } else if (i == a.terms.size() || b.terms[j].symbol < a.terms[i].symbol) {
      sum.terms.push_back({b.terms[j].symbol, sign * b.terms[j].factor});
      ++j;
    } else {
      const int64_t factor = a.terms[i].factor + sign * b.terms[j].factor;
      if (factor != 0) sum.terms.push_back({a.terms[i].symbol, factor});
      ++i, ++j;
    }
  }
  return sum;
}

}  // namespace

int64_t FloorDiv(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return quotient - ((a % b != 0) && ((a < 0) != (b < 0)));
}

Value operator+(const Value& a, const Value& b) { return Combine(a, b, 1); }
Value operator-(const Value& a, const Value& b) { return Combine(a, b, -1); }

Value Scale(const Value& a, int64_t factor) {
  Value scaled;
  if (factor == 0) return scaled;
  scaled = a;
  scaled.constant *= factor;
  for (Term& term : scaled.terms) term.factor *= factor;
  return scaled;
}

Symbol Symbols::Input(const std::string& name, Range range) {
  definitions_.push_back({Operation::kInput, name, {}, {}, range});
  return static_cast<Symbol>(definitions_.size()) - 1;
}

Value Symbols::Intern(Operation operation, const std::string& name, int tag, const Value& a,
                      const Value& b, Range range) {
  auto [at, is_new] = interned_.try_emplace({operation, tag, a, b}, definitions_.size());
  if (is_new) {
    definitions_.push_back({operation, name, a, b, range});
    definitions_.back().counts = Counts(a) || Counts(b);
    auto has_fresh = [this](const Term& term) { return definitions_[term.symbol].has_fresh; };
    definitions_.back().has_fresh = std::any_of(a.terms.begin(), a.terms.end(), has_fresh) ||
                                    std::any_of(b.terms.begin(), b.terms.end(), has_fresh);
  }
  return ValueOf(at->second);
}

Value Symbols::Load(int tensor, const std::string& name, int64_t element_bytes, const Value& begin,
                    Range range) {
  const Value value = Intern(Operation::kLoad, name, tensor, begin, {}, range);
  definitions_[value.terms[0].symbol].element_bytes = element_bytes;
  definitions_[value.terms[0].symbol].tensor = tensor;
  return value;
}

Value Symbols::Fresh(const std::string& name, Range range) {
  const Value value = Intern(Operation::kLoad, name, -1, Value(fresh_++), {}, range);
  definitions_[value.terms[0].symbol].fresh = true;
  definitions_[value.terms[0].symbol].has_fresh = true;
  return value;
}

Value Symbols::Turns(int core, Range range) {
  const Value value =
      Intern(Operation::kLoad, "turns", -2 - core, Value(turns_[core]++), {}, range);
  definitions_[value.terms[0].symbol].fresh = true;
  definitions_[value.terms[0].symbol].has_fresh = true;
  definitions_[value.terms[0].symbol].turns = true;
  return value;
}

Value Symbols::Multiply(const Value& a, const Value& b) {
  if (a.known()) return Scale(b, a.constant);
  if (b.known()) return Scale(a, b.constant);
  const Range x = Bounds(a), y = Bounds(b);
  const __int128 ends[] = {
      static_cast<__int128>(x.low) * y.low, static_cast<__int128>(x.low) * y.high,
      static_cast<__int128>(x.high) * y.low, static_cast<__int128>(x.high) * y.high};
  const Range range = {Clamp(*std::min_element(ends, ends + 4)),
                       Clamp(*std::max_element(ends, ends + 4))};
  return b < a ? Intern(Operation::kMultiply, "", 0, b, a, range)
               : Intern(Operation::kMultiply, "", 0, a, b, range);
}

Value Symbols::FloorDivide(const Value& a, const Value& b) {
  if (!b.known() || b.constant <= 0) {
    if (a.known() && b.known() && b.constant != 0) return FloorDiv(a.constant, b.constant);
    return Intern(Operation::kDivide, "", 0, a, b, {-kUnbounded, kUnbounded});
  }
  const int64_t divisor = b.constant;
  if (a.known()) return FloorDiv(a.constant, divisor);
  // Terms that the divisor divides leave the quotient; the rest stays inside.
  Value outside, inside;
  outside.constant = FloorDiv(a.constant, divisor);
  inside.constant = a.constant - outside.constant * divisor;
  for (const Term& term : a.terms) {
    if (term.factor % divisor == 0) {
      outside.terms.push_back({term.symbol, term.factor / divisor});
    } else {
      inside.terms.push_back(term);
    }
  }
  if (inside.terms.empty()) return outside;
  const Range range = Bounds(inside);
  const Range quotient = {FloorDiv(range.low, divisor), FloorDiv(range.high, divisor)};
  if (quotient.low == quotient.high) return outside + Value(quotient.low);
  return outside + Intern(Operation::kDivide, "", 0, inside, b, quotient);
}

Value Symbols::FloorModulo(const Value& a, const Value& b) {
  if (b.known() && b.constant > 0) {
    const int64_t divisor = b.constant;
    auto remainder = [divisor](int64_t number) {
      return number - FloorDiv(number, divisor) * divisor;
    };
    Value inside(remainder(a.constant));
    for (const Term& term : a.terms) {
      const int64_t factor = remainder(term.factor);
      if (factor != 0) inside.terms.push_back({term.symbol, factor});
    }
    if (inside.known()) return inside;
    const Range range = Bounds(inside);
    if (range.low >= 0 && range.high < divisor) return inside;
    return Intern(Operation::kModulo, "", 0, inside, b, {0, divisor - 1});
  }
  if (a.known() && b.known() && b.constant != 0) {
    return a.constant - FloorDiv(a.constant, b.constant) * b.constant;
  }
  return Intern(Operation::kModulo, "", 0, a, b, {-kUnbounded, kUnbounded});
}

// Every minimum is written as `b + min(a - b, 0)` with the first factor of `a - b` positive, so
// that min(x, 4) + max(0, 4 - x) is seen to be 4.
Value Symbols::Minimum(const Value& a, const Value& b, const Facts* facts, bool settles) {
  const Value difference = a - b;
  const Range range = Bounds(difference, facts);
  if ((settles || difference.known()) && range.high <= 0) return a;
  if ((settles || difference.known()) && range.low >= 0) return b;
  if (difference.terms[0].factor < 0) return Minimum(b, a, facts, settles);
  const Range all = Bounds(difference);
  return b + Intern(Operation::kMinimum, "", 0, difference, 0,
                    {std::min<int64_t>(all.low, 0), std::min<int64_t>(all.high, 0)});
}

Value Symbols::Maximum(const Value& a, const Value& b, const Facts* facts) {
  return Scale(Minimum(Scale(a, -1), Scale(b, -1), facts), -1);
}

Range Symbols::Bounds(const Value& value, const Facts* facts) const {
  __int128 low = value.constant, high = value.constant;
  // The latest symbol first: it may hold earlier ones.
  for (size_t i = value.terms.size(); i-- > 0;) {
    const Term term = value.terms[i];
    Value inside;
    if (IsMinimum(term.symbol, &inside)) {
      // With a minimum the value is the smaller, or the larger, one of two.
      Value rest = value;
      rest.terms.erase(rest.terms.begin() + i);
      const Range a = Bounds(rest, facts);
      const Range b = Bounds(rest + Scale(inside, term.factor), facts);
      if (term.factor > 0) return {std::min(a.low, b.low), std::min(a.high, b.high)};
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    }
    Range range = definitions_[term.symbol].range;
    if (facts != nullptr) {
      auto fact = facts->find({Term{term.symbol, 1}});
      if (fact != facts->end()) {
        range.low = std::max(range.low, fact->second.low);
        range.high = std::min(range.high, fact->second.high);
      }
    }
    const bool positive = term.factor > 0;
    auto end = [&](int64_t number) -> __int128 {
      if (number >= kUnbounded || number <= -kUnbounded) {
        return (number > 0) == positive ? kUnbounded : -kUnbounded;
      }
      return static_cast<__int128>(term.factor) * number;
    };
    low += end(positive ? range.low : range.high);
    high += end(positive ? range.high : range.low);
  }
  Range bounds = {Clamp(low), Clamp(high)};
  if (facts == nullptr || value.terms.empty()) return bounds;
  // Facts are about coprime factors, the first one positive.
  int64_t common = 0;
  for (const Term& term : value.terms) common = std::gcd(common, term.factor);
  if (value.terms[0].factor < 0) common = -common;
  std::vector<Term> terms = value.terms;
  for (Term& term : terms) term.factor /= common;
  const auto fact = facts->find(terms);
  if (fact == facts->end()) return bounds;
  auto [least, most] = fact->second;
  if (common < 0) std::swap(least, most);
  const bool has_least = std::abs(least) < kUnbounded, has_most = std::abs(most) < kUnbounded;
  if (has_least) bounds.low = std::max(bounds.low, value.constant + common * least);
  if (has_most) bounds.high = std::min(bounds.high, value.constant + common * most);
  return bounds;
}

int64_t Symbols::Concrete(const Value& value, const std::map<Symbol, int64_t>& inputs) const {
  int64_t sum = value.constant;
  for (const Term& term : value.terms) {
    const Definition& definition = definitions_[term.symbol];
    int64_t number = 0;
    if (definition.operation == Operation::kInput || definition.operation == Operation::kLoad) {
      auto at = inputs.find(term.symbol);
      number = at == inputs.end() ? 0 : at->second;
    } else {
      const int64_t a = Concrete(definition.a, inputs);
      const int64_t b = Concrete(definition.b, inputs);
      switch (definition.operation) {
        case Operation::kDivide:
          number = b == 0 ? 0 : FloorDiv(a, b);
          break;
        case Operation::kModulo:
          number = b == 0 ? 0 : a - FloorDiv(a, b) * b;
          break;
        case Operation::kMultiply:
          number = a * b;
          break;
        default:
          number = std::min(a, b);
      }
    }
    sum += term.factor * number;
  }
  return sum;
}

std::map<Symbol, int64_t> Symbols::Completed(std::map<Symbol, int64_t> known,
                                             int64_t number) const {
  for (size_t i = 0; i < definitions_.size(); ++i) {
    const auto& [low, high] = definitions_[i].range;
    const Operation operation = definitions_[i].operation;
    if (operation != Operation::kInput && operation != Operation::kLoad) continue;
    known.try_emplace(static_cast<Symbol>(i), std::clamp(number, low, high));
  }
  return known;
}

namespace {

// `value / divisor`, or the value itself where that is not whole.
Value Divided(Value value, int64_t divisor) {
  const Value whole = value;
  if (value.constant % divisor != 0) return whole;
  value.constant /= divisor;
  for (Term& term : value.terms) {
    if (term.factor % divisor != 0) return whole;
    term.factor /= divisor;
  }
  return value;
}

}  // namespace

std::string Symbols::Text(const Value& value) const {
  std::string text;
  for (const Term& term : value.terms) {
    const Definition& definition = definitions_[term.symbol];
    std::string name;
    switch (definition.operation) {
      case Operation::kInput:
        name = definition.name;
        break;
      case Operation::kLoad:
        name = definition.name + "[" + Text(Divided(definition.a, definition.element_bytes)) + "]";
        break;
      case Operation::kDivide:
        name = "(" + Text(definition.a) + ") // (" + Text(definition.b) + ")";
        break;
      case Operation::kModulo:
        name = "(" + Text(definition.a) + ") % (" + Text(definition.b) + ")";
        break;
      case Operation::kMultiply:
        name = "(" + Text(definition.a) + ") * (" + Text(definition.b) + ")";
        break;
      default:
        name = "min(" + Text(definition.a) + ", " + Text(definition.b) + ")";
    }
    if (!text.empty()) text += " + ";
    text += term.factor == 1 ? name : std::to_string(term.factor) + "*" + name;
  }
  if (text.empty()) return std::to_string(value.constant);
  return value.constant == 0 ? text : text + " + " + std::to_string(value.constant);
}

}  // namespace tilelang_ascend_sched::verify
