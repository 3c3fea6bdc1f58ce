#include "verify/cases.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace tilelang_ascend_sched::verify {

namespace {

constexpr int kSplits = 4;  // minima that are replaced, one after the other

// `value <= 0` with coprime factors: the same holds for the same whole numbers.
Value Reduced(Value value) {
  int64_t common = 0;
  for (const Term& term : value.terms) common = std::gcd(common, term.factor);
  if (common <= 1) return value;
  for (Term& term : value.terms) term.factor /= common;
  value.constant = -FloorDiv(-value.constant, common);
  return value;
}

// Adds `value <= 0` to what is known.
void Learn(Value value, Facts* facts) {
  if (value.known()) return;
  value = Reduced(std::move(value));
  const bool negative = value.terms[0].factor < 0;
  const Value key = negative ? Scale(value, -1) : value;
  Range& range = facts->try_emplace(key.terms, Range{-kUnbounded, kUnbounded}).first->second;
  if (negative) {
    range.low = std::max(range.low, value.constant);
  } else {
    range.high = std::min(range.high, -value.constant);
  }
}

class Cases {
 public:
  explicit Cases(Symbols* symbols) : symbols_(*symbols) {}

  bool NeverPositive(const Value& value, const Facts& facts, int splits) {
    const Value reduced = Reduced(value);
    if (symbols_.Bounds(reduced, &facts).high <= 0) return true;
    const std::optional<Symbol> minimum = splits == 0 ? std::nullopt : Innermost(reduced);
    if (!minimum) return false;
    Value inside;
    symbols_.IsMinimum(*minimum, &inside);
    const Range range = symbols_.Bounds(inside, &facts);
    if (range.low <= 0) {
      Facts below = facts;
      Learn(inside, &below);
      if (!NeverPositive(Replaced(reduced, *minimum, inside), below, splits - 1)) return false;
    }
    if (range.high > 0) {
      Facts above = facts;
      Learn(Value(1) - inside, &above);
      if (!NeverPositive(Replaced(reduced, *minimum, 0), above, splits - 1)) return false;
    }
    return true;
  }

 private:
  // A minimum in `value`, or in a minimum in it, that is made of no other one. What a symbol is
  // made of has lower numbers.
  std::optional<Symbol> Innermost(const Value& value) const {
    std::optional<Symbol> lowest;
    for (const Term& term : value.terms) {
      Value inside;
      if (!symbols_.IsMinimum(term.symbol, &inside)) continue;
      const Symbol found = Innermost(inside).value_or(term.symbol);
      lowest = std::min(lowest.value_or(found), found);
    }
    return lowest;
  }

  // `value` with `by` for the minimum.
  Value Replaced(const Value& value, Symbol minimum, const Value& by) {
    Value sum = value.constant;
    for (const Term& term : value.terms) {
      Value factor;
      factor.terms.push_back({term.symbol, 1});
      Value inside;
      if (term.symbol == minimum) {
        factor = by;
      } else if (symbols_.IsMinimum(term.symbol, &inside)) {
        const Value replaced = Replaced(inside, minimum, by);
        if (replaced != inside) factor = symbols_.Minimum(replaced, 0);
      }
      sum = sum + Scale(factor, term.factor);
    }
    return sum;
  }

  Symbols& symbols_;
};

}  // namespace

bool NeverPositive(Symbols* symbols, const Value& value, const Facts& facts) {
  return Cases(symbols).NeverPositive(value, facts, kSplits);
}

}  // namespace tilelang_ascend_sched::verify
