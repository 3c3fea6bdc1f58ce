#pragma once

#include <map>
#include <optional>
#include <vector>

#include "verify/value.h"

namespace tilelang_ascend_sched::verify {

// `sum of terms <= bound` was taken to be `holds`.
struct Decision {
  std::vector<Term> terms;
  int64_t bound;
  bool holds;
  int depth;  // so many loops stood around the statement that asked
};

// One way through the kernel: what was assumed of conditions that run-time inputs decide. Paths are
// walked depth first; each walk begins anew and repeats the decisions of its `script`.
class Path {
 public:
  Path(const Symbols& symbols, std::vector<bool> script) : symbols_(symbols), script_(script) {}

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

  // Takes back what was decided inside `depth` or more loops, but for decisions on `kept`. Whoever
  // asks again gets to decide anew, which can only add paths.
  void ForgetFrom(int depth, const std::vector<Term>& kept);

  bool replaying() const { return next_ < script_.size(); }
  const std::vector<bool>& choices() const { return choices_; }
  const std::vector<Decision>& decisions() const { return decisions_; }
  const Facts& facts() const { return facts_; }

  // Numbers for every input on which the decisions rest. First, if they are found, those with which
  // all decisions come out as taken; then some that meet the most of them. Decisions that were
  // forgotten on the way may contradict each other.
  std::vector<std::map<Symbol, int64_t>> Witnesses() const;

 private:
  void Learn(const Decision& decision);

  const Symbols& symbols_;
  std::vector<bool> script_;
  size_t next_ = 0;
  std::vector<bool> choices_;
  std::vector<Decision> decisions_;
  std::vector<Decision> all_decisions_;  // forgotten ones too
  Facts facts_;
};

}  // namespace tilelang_ascend_sched::verify
