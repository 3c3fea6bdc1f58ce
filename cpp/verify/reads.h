#pragma once

#include <vector>

#include "verify/program.h"

namespace tilelang_ascend_sched::verify {

// Where the numbers may go that the scalar units read from memory that the kernel writes.
class Reads {
 public:
  explicit Reads(const Program& program);

  bool any() const { return any_; }

  // Whether what a variable holds, or what an expression names, may be made of such numbers.
  bool Holds(Slot slot) const { return slots_[slot]; }
  bool Names(Expr expr) const { return expr != kNone && exprs_[expr]; }

  // Whether something in an expression decides what else of it is needed.
  bool Chooses(Expr expr) const { return expr != kNone && chooses_[expr]; }

 private:
  bool any_ = false;
  std::vector<bool> slots_, exprs_, chooses_;
};

}  // namespace tilelang_ascend_sched::verify
