#pragma once

#include <optional>
#include <vector>

#include "verify/program.h"

namespace tilelang_ascend_sched::verify {

// The variables of one core while a loop repeats itself: how much each has moved from one period to
// the next, and between which numbers it stayed meanwhile.
struct Motion {
  struct OfSlot {
    bool live = false;      // it holds a number at the head of the loop
    bool symbolic = false;  // it holds an expression of run-time inputs there, the same each time
    int64_t moved = 0;
    Range range{-kUnbounded, kUnbounded};
  };
  std::vector<OfSlot> slots;
};

// Whether code does the same in every period, but for addresses that move. Comparisons may come out
// otherwise after some periods: `most` then falls to how many are the same for sure.
class Shift {
 public:
  Shift(const Program& program, const Motion& motion)
      : program_(program), motion_(motion), moved_(program.slots.size()) {}

  // By how much the value of `expr` moves in a period; nothing if not by one number.
  std::optional<int64_t> Of(Expr expr);

  // Whether `expr`, a condition, comes out the same in at least one more period.
  bool Stays(Expr condition) { return Of(condition) == 0 || CompareWithZero(condition); }

  int64_t most() const { return most_; }

 private:
  std::optional<int64_t> OfVariable(Slot slot);
  Range Bounds(Expr expr, int depth = 0) const;
  bool Keeps(Range difference, int64_t moved, bool equality);
  bool Compare(Expr a, Expr b, bool equality, int64_t offset);
  bool CompareWithZero(Expr expr);

  const Program& program_;
  const Motion& motion_;
  std::vector<std::optional<std::optional<int64_t>>> moved_;  // of variables asked for already
  int64_t most_ = INT64_MAX;
};

}  // namespace tilelang_ascend_sched::verify
