#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "verify/decision.h"
#include "verify/value.h"
#include "verify/witnesses.h"

namespace tilelang_ascend_sched::verify {

// A number that states leave open: two moments of which one state tells may differ in it. Whatever
// is asked is asked of values made of counters, so that it is only settled by what holds for both.
struct Counter {
  int64_t value;  // in this walk
  Range told;     // what the state says of it
};

// One way through the kernel: what was assumed of conditions that run-time inputs decide. Paths are
// walked depth first; each walk begins anew and repeats the decisions of its `script`.
class Path {
 public:
  Path(Symbols* symbols, std::vector<bool> script) : symbols_(*symbols), script_(script) {}

  // Whether `value <= 0` on this path; decides it if nothing known settles it.
  bool AtMostZero(const Value& value, int depth);
  bool Zero(const Value& value, int depth);

  // The one number that `value` has on this path, deciding between those in its range; nothing if
  // the range has more than `choices`.
  std::optional<int64_t> Number(const Value& value, int choices, int depth);

  Range Bounds(const Value& value) const { return symbols_.Bounds(value, &facts_); }

  // What `value <= 0` asks in the end: whether a sum of terms in normal form is at most a bound,
  // or, if `negated`, is not. Only for values without minima.
  struct Question {
    std::vector<Term> terms;
    int64_t bound = 0;
    bool negated = false;
  };
  Question Asked(const Value& value) const;

  // Takes back what was decided inside `depth` or more loops, but for the ends of open loops.
  // Whoever asks again gets to decide anew, which can only add paths.
  void ForgetFrom(int depth);

  // Takes back what was decided of numbers that were read, but for those that are `held`.
  void ForgetReadings(const std::set<Symbol>& held);

  // Takes back what was decided about the end of a loop from inside of it.
  void ForgetEnd(int loop);

  // Adds that `value <= 0`, which follows from what is known, as something about a loop's end.
  void Conclude(const Value& value, int loop);

  // The questions that are about the end of a loop, by their terms.
  using Ends = std::map<std::vector<Term>, int>;

  // At a state: what counters there are, and what each of the earlier ones is made of these. What
  // was decided about others is taken back.
  void Recount(std::map<Symbol, Counter> counters, const std::map<Symbol, Value>& moved, Ends ends);
  void Count(Symbol symbol, const Counter& counter);
  const std::map<Symbol, Counter>& counters() const { return counters_; }

  // The value in this walk. No bounds of inputs tell one side of a minimum: they might not at
  // another turn.
  Value Now(const Value& value) const;
  // With numbers for the counters of which the state says which number they have.
  Value Told(const Value& value) const;

  bool replaying() const { return next_ < script_.size(); }
  const std::vector<bool>& choices() const { return choices_; }
  const std::vector<Decision>& decisions() const { return decisions_; }
  const Facts& facts() const { return facts_; }

  // Inputs with which the run may go this way, and `more` holds; the best ones first.
  std::vector<Inputs> Witnesses(const std::vector<Decision>& more) const;

 private:
  void Learn(const Decision& decision);
  void LearnAll();
  void KeepLate(Decision decision);
  std::vector<Decision> Moved(const std::vector<Decision>& decisions,
                              const std::map<Symbol, Value>& by) const;

  Symbols& symbols_;
  std::vector<bool> script_;
  size_t next_ = 0;
  std::vector<bool> choices_;
  std::vector<Decision> decisions_;
  std::vector<Decision> all_decisions_;   // with the numbers of this walk, forgotten ones too
  std::vector<Decision> late_decisions_;  // the latest ones, made of the counters of this moment
  std::map<Symbol, Counter> counters_;
  std::map<Symbol, Value> numbers_, told_;  // of all counters, and of those that states tell
  Ends ends_;
  Facts facts_;
};

}  // namespace tilelang_ascend_sched::verify
