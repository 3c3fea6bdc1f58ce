#include "verify/path.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace tilelang_ascend_sched::verify {

namespace {

constexpr size_t kMostLate = 64;

}  // namespace

void Path::Learn(const Decision& decision) {
  auto [fact, is_new] = facts_.try_emplace(decision.terms, Range{-kUnbounded, kUnbounded});
  if (decision.holds) {
    fact->second.high = std::min(fact->second.high, decision.bound);
  } else {
    fact->second.low = std::max(fact->second.low, decision.bound + 1);
  }
}

void Path::LearnAll() {
  facts_.clear();
  for (const auto& [symbol, counter] : counters_) facts_[{Term{symbol, 1}}] = counter.told;
  for (const Decision& decision : decisions_) Learn(decision);
}

bool Path::AtMostZero(const Value& value, int depth) {
  if (value.known()) return value.constant <= 0;
  const Range range = Bounds(value);
  if (range.high <= 0) return true;
  if (range.low > 0) return false;
  for (size_t i = value.terms.size(); i-- > 0;) {
    const Term term = value.terms[i];
    Value inside;
    if (!symbols_.IsMinimum(term.symbol, &inside)) continue;
    Value rest = value;
    rest.terms.erase(rest.terms.begin() + i);
    const Value other = rest + Scale(inside, term.factor);
    return term.factor > 0 ? AtMostZero(rest, depth) || AtMostZero(other, depth)
                           : AtMostZero(rest, depth) && AtMostZero(other, depth);
  }
  const Question question = Asked(value);
  // The question may be one that is settled, though in another form.
  const Range known = Bounds(SumOf(question.terms));
  if (known.high <= question.bound) return !question.negated;
  if (known.low > question.bound) return question.negated;
  bool outcome = true;
  if (next_ < script_.size()) outcome = script_[next_++];
  choices_.push_back(outcome);
  Decision decision{question.terms, question.bound, outcome != question.negated, depth};
  const auto end = ends_.find(question.terms);
  if (end != ends_.end()) decision.loop = end->second;
  decisions_.push_back(decision);
  Learn(decision);
  const Question now = Asked(Now(value));
  all_decisions_.push_back({now.terms, now.bound, outcome != now.negated, depth});
  KeepLate(decision);
  return outcome;
}

Path::Question Path::Asked(const Value& value) const {
  // A comparison of a quotient says the same of its numerator; all comparisons of one number then
  // meet in one place.
  if (value.terms.size() == 1) {
    const Term& term = value.terms[0];
    Value numerator;
    int64_t divisor;
    if (symbols_.IsQuotient(term.symbol, &numerator, &divisor)) {
      if (term.factor > 0) {
        const int64_t most = FloorDiv(-value.constant, term.factor);
        return Asked(numerator - Value(most * divisor + divisor - 1));
      }
      const int64_t least = -FloorDiv(-value.constant, -term.factor);
      return Asked(Value(least * divisor) - numerator);
    }
  }
  for (size_t i = value.terms.size(); i-- > 0 && value.terms.size() > 1;) {
    const Term term = value.terms[i];
    Value numerator;
    int64_t divisor;
    if (std::abs(term.factor) != 1 || !symbols_.IsQuotient(term.symbol, &numerator, &divisor)) {
      continue;
    }
    Value rest = value;
    rest.terms.erase(rest.terms.begin() + i);
    rest = Scale(rest, divisor);
    return Asked(term.factor > 0 ? numerator + rest - Value(divisor - 1) : rest - numerator);
  }
  // Normal form: coprime factors, the first one positive.
  Question question;
  if (value.known()) {
    question.bound = -value.constant;
    return question;
  }
  int64_t common = 0;
  for (const Term& term : value.terms) common = std::gcd(common, term.factor);
  question.negated = value.terms[0].factor < 0;
  for (const Term& term : value.terms) {
    question.terms.push_back(
        {term.symbol, (question.negated ? -term.factor : term.factor) / common});
  }
  // value <= 0 is sum <= bound, or, turned around, not sum <= bound.
  question.bound =
      question.negated ? -FloorDiv(-value.constant, common) - 1 : FloorDiv(-value.constant, common);
  return question;
}

bool Path::Zero(const Value& value, int depth) {
  return AtMostZero(value, depth) && AtMostZero(Scale(value, -1), depth);
}

std::optional<int64_t> Path::Number(const Value& value, int choices, int depth) {
  if (value.known()) return value.constant;
  const Range range = Bounds(value);
  if (range.high - range.low >= choices) return std::nullopt;
  for (int64_t number = range.low; number < range.high; ++number) {
    if (AtMostZero(value - Value(number), depth)) return number;
  }
  return range.high;
}

void Path::ForgetFrom(int depth) {
  std::erase_if(decisions_, [&](const Decision& decision) {
    return decision.depth >= depth && decision.loop < 0;
  });
  LearnAll();
}

void Path::ForgetReadings(const std::set<Symbol>& held) {
  const size_t erased = std::erase_if(decisions_, [&](const Decision& decision) {
    std::set<Symbol> read;
    symbols_.FreshIn(SumOf(decision.terms), &read);
    return !std::includes(held.begin(), held.end(), read.begin(), read.end());
  });
  if (erased > 0) LearnAll();
}

void Path::ForgetEnd(int loop) {
  std::erase_if(decisions_, [&](const Decision& decision) { return decision.loop == loop; });
  LearnAll();
}

void Path::Conclude(const Value& value, int loop) {
  // What a minimum says is not asked again as one question, which would keep it from growing old.
  for (const Term& term : value.terms) {
    Value inside;
    if (symbols_.IsMinimum(term.symbol, &inside)) return;
  }
  const Question question = Asked(value);
  const Decision decision = {question.terms, question.bound, !question.negated, 0, loop};
  Learn(decision);
  decisions_.push_back(decision);
  KeepLate(decision);
}

void Path::KeepLate(Decision decision) {
  decision.depth = 0;
  decision.loop = -1;
  late_decisions_.push_back(std::move(decision));
  if (late_decisions_.size() > kMostLate) late_decisions_.erase(late_decisions_.begin());
}

// The same decisions, made of other counters; of several about one sum those that say the most.
std::vector<Decision> Path::Moved(const std::vector<Decision>& decisions,
                                  const std::map<Symbol, Value>& by) const {
  std::map<std::tuple<std::vector<Term>, bool, int, int>, int64_t> bounds;
  for (const Decision& decision : decisions) {
    const Value sum = SumOf(decision.terms) - Value(decision.bound);
    std::set<Symbol> counters;
    symbols_.Counters(sum, &counters);
    const bool all = std::all_of(counters.begin(), counters.end(),
                                 [&](Symbol counter) { return by.count(counter) != 0; });
    if (!all) continue;
    const Question question = Asked(symbols_.Replaced(sum, by));
    if (question.terms.empty()) continue;
    const bool holds = decision.holds != question.negated;
    const auto [at, is_new] =
        bounds.try_emplace({question.terms, holds, decision.depth, decision.loop}, question.bound);
    at->second =
        holds ? std::min(at->second, question.bound) : std::max(at->second, question.bound);
  }
  std::vector<Decision> moved;
  for (const auto& [key, bound] : bounds) {
    const auto& [terms, holds, depth, loop] = key;
    moved.push_back({terms, bound, holds, depth, loop});
  }
  return moved;
}

void Path::Recount(std::map<Symbol, Counter> counters, const std::map<Symbol, Value>& moved,
                   Ends ends) {
  decisions_ = Moved(decisions_, moved);
  late_decisions_ = Moved(late_decisions_, moved);
  counters_ = std::move(counters);
  ends_ = std::move(ends);
  numbers_.clear();
  told_.clear();
  for (const auto& [symbol, counter] : counters_) {
    numbers_[symbol] = counter.value;
    if (counter.told.low == counter.told.high) told_[symbol] = counter.value;
  }
  LearnAll();
}

void Path::Count(Symbol symbol, const Counter& counter) {
  counters_[symbol] = counter;
  numbers_[symbol] = counter.value;
  told_.erase(symbol);
  if (counter.told.low == counter.told.high) told_[symbol] = counter.value;
  LearnAll();
}

Value Path::Now(const Value& value) const {
  return symbols_.Replaced(value, numbers_, nullptr, false);
}

Value Path::Told(const Value& value) const {
  return told_.empty() ? value : symbols_.Replaced(value, told_, &facts_);
}

std::vector<Inputs> Path::Witnesses(const std::vector<Decision>& more) const {
  std::vector<Decision> decisions = all_decisions_;
  decisions.insert(decisions.end(), more.begin(), more.end());
  std::vector<Guess> guesses = GuessInputs(symbols_, decisions, {});
  if (guesses.front().contradicted > 0) {
    // What no input does in these turns some may do in later ones.
    std::map<Symbol, Range> turns;
    for (const auto& [symbol, counter] : counters_) turns[symbol] = counter.told;
    std::vector<Guess> later = GuessInputs(symbols_, late_decisions_, turns);
    guesses.insert(guesses.begin(), later.begin(), later.end());
  }
  std::vector<Inputs> witnesses;
  for (const Guess& guess : guesses) {
    Inputs inputs;
    for (const auto& [symbol, number] : guess.inputs) {
      if (counters_.count(symbol) == 0) inputs[symbols_.Element(symbol, guess.inputs)] = number;
    }
    witnesses.push_back(std::move(inputs));
  }
  return witnesses;
}

}  // namespace tilelang_ascend_sched::verify
