#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "verify/linear.h"
#include "verify/program.h"

namespace tilelang_ascend_sched::verify {

// How the lowered code depends on one variable of a core: two values of it that agree in `Class`
// lead to the same instructions, flags and on-chip addresses, and to GM addresses that differ by a
// constant.
struct Dependence {
  int64_t period = 1;
  bool exact = false;                         // every value may behave differently
  int64_t low = INT64_MAX, high = INT64_MIN;  // between them comparisons with constants change
  int64_t moduli = 1;  // common multiple of all constants that the variable is divided by
};

class Periods {
 public:
  // `loosens`: loops whose length grows with the turn of a loop of run-time length have any number
  // of turns, so that the turn itself does not count for it.
  Periods(const Program& program, bool loosens);

  // Whether there are such loops.
  bool follows() const { return !least_turns_.empty(); }

  // The least number of turns of such a loop; nothing for any other one.
  std::optional<int64_t> LeastTurns(const Node* loop) const;

  // The class of a value of `slot`, as two numbers. While a comparison with a constant can still
  // change, now that the variable has this value, the class is the value itself.
  std::pair<int64_t, int64_t> Class(Slot slot, int64_t value) const;

  // The values that `slot` may have, now that it has this one, as far as its class tells.
  Range Told(Slot slot, int64_t value) const;

  // Whether run-time inputs stand in `expr`, or variables made of them.
  bool symbolic(Expr expr) const { return symbolic_exprs_[expr]; }

  static int64_t Remainder(int64_t value, int64_t period) {
    return ((value % period) + period) % period;
  }

  // What of a value decides, as long as comparisons come out the same, about remainders.
  int64_t Phase(Slot slot, int64_t value) const;

  // Whether the addresses of all accesses to a GM tensor are one expression that never falls while
  // `loop`, the outermost one, goes on.
  bool Ascends(int tensor, const Node* loop) const;

  // Threads that touch a memory or a GM tensor, as bits.
  uint32_t accessors(Space space, int tensor) const {
    return space == Space::kGm ? tensor_accessors_[tensor]
                               : space_accessors_[static_cast<int>(space)];
  }

  // An address in a GM tensor, for others to be told apart by their distance from it. Better one
  // that no guard keeps from being touched, as it would move on past the others.
  struct Reference {
    int core = 0;  // that computes it
    Expr expr = kNone;
    bool guarded = false;
  };
  const Reference& reference(int tensor) const { return references_[tensor]; }

 private:
  enum class Use { kExact, kAddress, kCondition };

  void FindSymbolic(const Node* node, bool* changed);
  void Walk(const Node* node, int core, bool guarded);
  void Visit(Expr expr, Use use, int64_t scale = 1);
  void Exact(Expr expr);
  void ExactIn(Slot slot);
  void Compare(Expr a, Expr b);
  void CompareWithZero(Expr expr);
  void Note(Slot slot, int64_t place);
  bool OnlyRemainders(Expr expr) const;
  bool KeepsGrowing(const Node* assignment) const;
  bool Same(Expr a, Expr b) const;
  bool Grows(Expr expr, Slot slot) const;
  bool Divides(Expr expr) const;
  Range Clamped(Expr expr) const;
  void Collect(Expr expr, std::vector<Slot>* slots, bool* symbolic) const;

  std::optional<int64_t> LeastOf(const Node* loop) const;

  const Program& program_;
  const bool loosens_;
  std::map<const Node*, int64_t> least_turns_;
  std::vector<Dependence> slots_;
  std::vector<std::pair<Slot, Expr>> assignments_;
  uint32_t space_accessors_[kOnChipSpaces] = {};
  std::vector<uint32_t> tensor_accessors_;
  std::vector<Most> guards_;    // around the present node of the walk
  std::vector<bool> symbolic_;  // variables that hold run-time inputs
  std::vector<bool> symbolic_exprs_;
  std::vector<bool> fixed_;    // variables that are made of no others
  std::vector<bool> growing_;  // variables that grow until they are set anew
  std::vector<Reference> references_;
  std::vector<bool> one_address_;  // all accesses to a tensor have the same address
};

}  // namespace tilelang_ascend_sched::verify
