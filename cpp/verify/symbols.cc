// What values are made of, and how they are made of something else.
#include <algorithm>

#include "verify/value.h"

namespace tilelang_ascend_sched::verify {

Symbol Symbols::Counter(int core, int slot) {
  const Value value = Intern(Operation::kLoad, "counter", -2 - kMostCores - core, Value(slot), {},
                             {-kUnbounded, kUnbounded});
  definitions_[value.terms[0].symbol].counts = true;
  return value.terms[0].symbol;
}

Symbol Symbols::CounterLeft(int number) { return Counter(kMostCores, number); }

bool Symbols::Counts(const Value& value) const {
  return std::any_of(value.terms.begin(), value.terms.end(),
                     [this](const Term& term) { return definitions_[term.symbol].counts; });
}

void Symbols::Counters(const Value& value, std::set<Symbol>* found) const {
  for (const Term& term : value.terms) {
    const Definition& definition = definitions_[term.symbol];
    if (!definition.counts) continue;
    if (definition.operation == Operation::kLoad && definition.tensor < 0) {
      found->insert(term.symbol);
    } else {
      Counters(definition.a, found);
      Counters(definition.b, found);
    }
  }
}

void Symbols::FreshIn(const Value& value, std::set<Symbol>* found) const {
  for (const Term& term : value.terms) {
    const Definition& definition = definitions_[term.symbol];
    if (definition.fresh) found->insert(term.symbol);
    if (!definition.has_fresh) continue;
    FreshIn(definition.a, found);
    FreshIn(definition.b, found);
  }
}

Value Symbols::Replaced(const Value& value, const std::map<Symbol, Value>& by, const Facts* facts,
                        bool settles) {
  if (!Counts(value)) return value;
  Value sum = value.constant;
  for (const Term& term : value.terms) {
    // A copy, for new symbols may come.
    const Definition definition = definitions_[term.symbol];
    Value one = ValueOf(term.symbol);
    if (const auto at = by.find(term.symbol); at != by.end()) {
      one = at->second;
    } else if (definition.counts &&
               (definition.operation != Operation::kLoad || definition.tensor >= 0)) {
      const Value a = Replaced(definition.a, by, facts, settles);
      const Value b = Replaced(definition.b, by, facts, settles);
      switch (definition.operation) {
        case Operation::kLoad:
          one = Load(definition.tensor, definition.name, definition.element_bytes, a,
                     definition.range);
          break;
        case Operation::kDivide:
          one = FloorDivide(a, b);
          break;
        case Operation::kModulo:
          one = FloorModulo(a, b);
          break;
        case Operation::kMultiply:
          one = Multiply(a, b);
          break;
        default:
          one = Minimum(a, b, facts, settles);
      }
    }
    sum = sum + Scale(one, term.factor);
  }
  return sum;
}

void Symbols::Tensors(const std::vector<Term>& terms, std::set<int>* found) const {
  for (const Term& term : terms) {
    const Definition& definition = definitions_[term.symbol];
    if (definition.tensor >= 0) found->insert(definition.tensor);
    Tensors(definition.a.terms, found);
    Tensors(definition.b.terms, found);
  }
}

bool Symbols::IsRepeatable(const std::vector<Term>& terms) const {
  return std::all_of(terms.begin(), terms.end(), [&](const Term& term) {
    const Definition& definition = definitions_[term.symbol];
    return !definition.fresh && IsRepeatable(definition.a.terms) &&
           IsRepeatable(definition.b.terms);
  });
}

bool Symbols::IsMinimum(Symbol symbol, Value* value) const {
  if (definitions_[symbol].operation != Operation::kMinimum) return false;
  *value = definitions_[symbol].a;
  return true;
}

Symbol Symbols::Element(Symbol symbol, const std::map<Symbol, int64_t>& inputs) {
  const Definition element = definitions_[symbol];
  std::map<Symbol, Range> needed;
  Inputs(element.a, &needed);
  const bool told = std::all_of(needed.begin(), needed.end(),
                                [&](const auto& each) { return inputs.count(each.first) != 0; });
  if (element.operation != Operation::kLoad || element.tensor < 0 || !told) return symbol;
  return Load(element.tensor, element.name, element.element_bytes, Concrete(element.a, inputs),
              element.range)
      .terms[0]
      .symbol;
}

void Symbols::Inputs(const Value& value, std::map<Symbol, Range>* found) const {
  for (const Term& term : value.terms) {
    const Definition& definition = definitions_[term.symbol];
    if (definition.operation == Operation::kInput || definition.operation == Operation::kLoad) {
      found->emplace(term.symbol, definition.range);
    } else {
      Inputs(definition.a, found);
      Inputs(definition.b, found);
    }
  }
}

bool Symbols::IsQuotient(Symbol symbol, Value* numerator, int64_t* divisor) const {
  const Definition& definition = definitions_[symbol];
  if (definition.operation != Operation::kDivide || !definition.b.known() ||
      definition.b.constant <= 0) {
    return false;
  }
  *numerator = definition.a;
  *divisor = definition.b.constant;
  return true;
}

}  // namespace tilelang_ascend_sched::verify
