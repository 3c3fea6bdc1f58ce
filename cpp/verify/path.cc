#include "verify/path.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace tilelang_ascend_sched::verify {

void Path::Learn(const Decision& decision) {
  auto learn = [&](Facts* facts) {
    auto [fact, is_new] = facts->try_emplace(decision.terms, Range{-kUnbounded, kUnbounded});
    if (decision.holds) {
      fact->second.high = std::min(fact->second.high, decision.bound);
    } else {
      fact->second.low = std::max(fact->second.low, decision.bound + 1);
    }
  };
  if (decision.generation < 0) learn(&fixed_);
  const OpenLoop* loop = decision.generation < 0 ? nullptr : LoopTo(decision.terms);
  if (decision.generation < 0 || (loop != nullptr && loop->generation == decision.generation)) {
    learn(&facts_);
  }
}

void Path::LearnAll() {
  fixed_.clear();
  facts_.clear();
  for (const Decision& decision : decisions_) Learn(decision);
}

const OpenLoop* Path::LoopTo(const std::vector<Term>& end) const {
  for (size_t i = open_.size(); i-- > 0;) {
    if (open_[i].end == end) return &open_[i];
  }
  return nullptr;
}

void Path::AskFrom(const std::vector<OpenLoop>& open) {
  if (open == open_) return;
  open_ = open;
  LearnAll();
}

bool Path::AtMostZero(const Value& value, int depth, bool of_end) {
  if (value.known()) return value.constant <= 0;
  const Facts& facts = of_end ? facts_ : fixed_;
  const Range range = symbols_.Bounds(value, &facts);
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
  Decision decision{question.terms, question.bound, false, depth};
  const OpenLoop* loop = of_end ? LoopTo(question.terms) : nullptr;
  if (loop != nullptr) decision.generation = loop->generation;
  // The question may be one that is settled, though in another form.
  Value sum;
  sum.terms = question.terms;
  const Range known = symbols_.Bounds(sum, &facts);
  if (known.high <= question.bound) return !question.negated;
  if (known.low > question.bound) return question.negated;
  bool outcome = true;
  if (next_ < script_.size()) outcome = script_[next_++];
  choices_.push_back(outcome);
  decision.holds = outcome != question.negated;
  decisions_.push_back(decision);
  all_decisions_.push_back(decision);
  Learn(decision);
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

bool Path::Zero(const Value& value, int depth, bool of_end) {
  return AtMostZero(value, depth, of_end) && AtMostZero(Scale(value, -1), depth, of_end);
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
    return decision.depth >= depth && decision.generation < 0;
  });
  LearnAll();
}

void Path::Close(const OpenLoop& loop) {
  std::erase_if(decisions_, [&](const Decision& decision) {
    return decision.generation == loop.generation && decision.terms == loop.end;
  });
  LearnAll();
}

std::vector<std::map<Symbol, int64_t>> Path::Witnesses(const std::vector<Decision>& more) const {
  constexpr int kGuesses = 4096;
  constexpr size_t kKept = 16;
  std::map<Symbol, Range> inputs;
  std::set<int64_t> interesting = {0, 1, 2, 3, 5, 64, 1000};
  std::vector<Decision> decisions = all_decisions_;
  decisions.insert(decisions.end(), more.begin(), more.end());
  for (const Decision& decision : decisions) {
    Value sum;
    sum.terms = decision.terms;
    symbols_.Inputs(sum, &inputs);
    for (int64_t near = -1; near <= 1; ++near) interesting.insert(decision.bound + near);
  }
  std::vector<std::vector<int64_t>> candidates;
  std::map<Symbol, int64_t> numbers;
  for (const auto& [symbol, range] : inputs) {
    std::set<int64_t> tried = {range.low, range.high};
    for (int64_t number : interesting) {
      for (int64_t signed_number : {number, -number}) {
        if (signed_number >= range.low && signed_number <= range.high) tried.insert(signed_number);
      }
    }
    candidates.emplace_back(tried.begin(), tried.end());
    numbers[symbol] = range.low;
  }
  // A fixed sequence of mixed guesses, ranked by how many decisions they contradict.
  std::map<std::pair<size_t, std::map<Symbol, int64_t>>, int> ranked;
  uint64_t random = 88172645463325252ull;
  for (int guess = 0; guess < kGuesses; ++guess) {
    size_t i = 0;
    for (auto& [symbol, number] : numbers) {
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      number = candidates[i][random % candidates[i].size()];
      ++i;
    }
    const size_t contradicted =
        std::count_if(decisions.begin(), decisions.end(), [&](const Decision& decision) {
          Value sum;
          sum.terms = decision.terms;
          return (symbols_.Concrete(sum, numbers) <= decision.bound) != decision.holds;
        });
    ranked[{contradicted, numbers}] = guess;
    if (ranked.size() > kKept) ranked.erase(std::prev(ranked.end()));
    if (contradicted == 0 && ranked.size() == kKept) break;
  }
  std::vector<std::map<Symbol, int64_t>> witnesses;
  for (const auto& [key, guess] : ranked) witnesses.push_back(key.second);
  return witnesses;
}

}  // namespace tilelang_ascend_sched::verify
