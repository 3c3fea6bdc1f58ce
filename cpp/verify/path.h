#pragma once

#include <map>
#include <optional>
#include <vector>

#include "verify/value.h"

namespace tilelang_ascend_sched::verify {

// A loop whose end run-time inputs decide, from its second turn on. What is asked of its end then
// has another answer at every turn; that answer says nothing of other loops with the same end, for
// of many turns that do the same only a few are walked.
struct OpenLoop {
  std::vector<Term> end;
  int generation;  // so many loops of this core to that end came before
  int32_t slot;    // of its variable
  int64_t step;    // by which the bound of the question moves in a turn

  bool operator==(const OpenLoop&) const = default;
};

// `sum of terms <= bound` was taken to be `holds`.
struct Decision {
  std::vector<Term> terms;
  int64_t bound;
  bool holds;
  int depth;            // so many loops stood around the statement that asked
  int generation = -1;  // of the loop whose end was asked for; -1 if none was
};

// One way through the kernel: what was assumed of conditions that run-time inputs decide. Paths are
// walked depth first; each walk begins anew and repeats the decisions of its `script`.
class Path {
 public:
  Path(const Symbols& symbols, std::vector<bool> script) : symbols_(symbols), script_(script) {}

  // From now on a core asks that is inside the loops `open`.
  void AskFrom(const std::vector<OpenLoop>& open);

  // Whether `value <= 0` on this path; decides it if nothing known settles it. With `of_end` it is
  // about the end of an open loop, and what is known of that may answer it.
  bool AtMostZero(const Value& value, int depth, bool of_end = false);
  bool Zero(const Value& value, int depth, bool of_end = false);

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

  // The innermost open loop with this end; null if there is none.
  const OpenLoop* LoopTo(const std::vector<Term>& end) const;

  // Takes back what was decided inside `depth` or more loops, but for the ends of open loops.
  // Whoever asks again gets to decide anew, which can only add paths.
  void ForgetFrom(int depth);

  // Takes back what was decided about the end of a loop from inside of it.
  void Close(const OpenLoop& loop);

  bool replaying() const { return next_ < script_.size(); }
  const std::vector<bool>& choices() const { return choices_; }
  const std::vector<Decision>& decisions() const { return decisions_; }
  // What the core that asks may know.
  const Facts& facts() const { return facts_; }

  // Numbers for every input on which the decisions rest, and `more` that have to hold. First, if
  // they are found, those with which all come out so; then some that meet the most of them.
  // Decisions that were forgotten on the way may contradict each other.
  std::vector<std::map<Symbol, int64_t>> Witnesses(const std::vector<Decision>& more) const;

 private:
  void Learn(const Decision& decision);
  void LearnAll();

  const Symbols& symbols_;
  std::vector<bool> script_;
  size_t next_ = 0;
  std::vector<bool> choices_;
  std::vector<Decision> decisions_;
  std::vector<Decision> all_decisions_;  // forgotten ones too
  std::vector<OpenLoop> open_;
  Facts fixed_;  // known of no loop's end in particular
  Facts facts_;  // those and what is known of the ends of `open_`
};

}  // namespace tilelang_ascend_sched::verify
