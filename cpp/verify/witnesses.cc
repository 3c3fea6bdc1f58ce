#include "verify/witnesses.h"

#include <algorithm>
#include <set>
#include <utility>

namespace tilelang_ascend_sched::verify {

namespace {

constexpr int kStarts = 256;
constexpr int kSteps = 16;  // from each start
constexpr size_t kKept = 16;

// A fixed sequence of numbers that look random.
class Random {
 public:
  size_t Below(size_t most) {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return state_ % most;
  }

 private:
  uint64_t state_ = 88172645463325252ull;
};

class Guesser {
 public:
  Guesser(const Symbols& symbols, const std::vector<Decision>& decisions,
          const std::map<Symbol, Range>& others)
      : symbols_(symbols), decisions_(decisions), ranges_(others) {
    std::set<int64_t> interesting = {0, 1, 2, 3, 5, 64, 1000};
    for (const Decision& decision : decisions) {
      symbols.Inputs(SumOf(decision.terms), &ranges_);
      for (int64_t near = -1; near <= 1; ++near) interesting.insert(decision.bound + near);
    }
    for (const auto& [symbol, range] : ranges_) {
      std::set<int64_t> tried = {range.low, range.high};
      for (int64_t number : interesting) {
        for (int64_t either : {number, -number}) {
          if (either >= range.low && either <= range.high) tried.insert(either);
        }
      }
      candidates_.emplace_back(tried.begin(), tried.end());
    }
  }

  std::vector<Guess> Find() {
    std::set<std::pair<size_t, Inputs>> ranked;
    for (int start = 0; start < kStarts; ++start) {
      Inputs inputs;
      size_t i = 0;
      for (const auto& [symbol, range] : ranges_) {
        inputs[symbol] = candidates_[i][random_.Below(candidates_[i].size())];
        ++i;
      }
      for (int step = 0; step < kSteps; ++step) {
        const std::vector<const Decision*> contradicted = Contradicted(inputs);
        ranked.insert({contradicted.size(), inputs});
        if (ranked.size() > kKept) ranked.erase(std::prev(ranked.end()));
        if (contradicted.empty()) break;
        Mend(*contradicted[random_.Below(contradicted.size())], &inputs);
      }
      if (ranked.size() == kKept && ranked.rbegin()->first == 0) break;
    }
    std::vector<Guess> guesses;
    for (const auto& [contradicted, inputs] : ranked) guesses.push_back({contradicted, inputs});
    return guesses;
  }

 private:
  int64_t SumFor(const Decision& decision, const Inputs& inputs) const {
    return symbols_.Concrete(SumOf(decision.terms), inputs);
  }

  std::vector<const Decision*> Contradicted(const Inputs& inputs) const {
    std::vector<const Decision*> contradicted;
    for (const Decision& decision : decisions_) {
      const bool holds = SumFor(decision, inputs) <= decision.bound;
      if (holds != decision.holds) contradicted.push_back(&decision);
    }
    return contradicted;
  }

  // Moves one input just so far that the decision comes out as it should.
  void Mend(const Decision& decision, Inputs* inputs) {
    if (decision.terms.empty()) return;
    const Term& term = decision.terms[random_.Below(decision.terms.size())];
    const auto range = ranges_.find(term.symbol);
    if (range == ranges_.end()) return;
    const int64_t goal = decision.holds ? decision.bound : decision.bound + 1;
    const int64_t missing = goal - SumFor(decision, *inputs);
    // Rounded away from where it is.
    const bool down = decision.holds == (term.factor > 0);
    const int64_t steps = down ? FloorDiv(missing, term.factor) : -FloorDiv(-missing, term.factor);
    int64_t& number = (*inputs)[term.symbol];
    number = std::clamp(number + steps, range->second.low, range->second.high);
  }

  const Symbols& symbols_;
  const std::vector<Decision>& decisions_;
  std::map<Symbol, Range> ranges_;
  std::vector<std::vector<int64_t>> candidates_;
  Random random_;
};

}  // namespace

std::vector<Guess> GuessInputs(const Symbols& symbols, const std::vector<Decision>& decisions,
                               const std::map<Symbol, Range>& others) {
  return Guesser(symbols, decisions, others).Find();
}

}  // namespace tilelang_ascend_sched::verify
