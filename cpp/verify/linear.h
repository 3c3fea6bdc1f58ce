#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "verify/program.h"

namespace tilelang_ascend_sched::verify {

// Whether `expr` is `factor * slot + constant`.
bool LinearIn(const Program& program, Expr expr, Slot slot, int64_t* factor, int64_t* constant);

// What `expr`, a variable that is set once, is set to; kNone for any other variable.
Expr BoundTo(const Program& program, Expr expr);

// Longer distances after which something repeats count as none.
inline constexpr int64_t kLongestPeriod = 4096;

// The variables that `expr` is made of in the end, and after which distance of each it repeats; 0
// for never. With a `period`, the remainder of `expr` by that counts.
void VariablesIn(const Program& program, Expr expr, std::map<Slot, int64_t>* slots,
                 int64_t period = 0);

// Beyond `value` of a loop's variable a condition cannot hold, until the loop begins anew.
struct Most {
  Slot slot;
  int64_t value;
};

// What `condition` says of the variables of loops in this way.
std::vector<Most> MostIn(const Program& program, Expr condition);

}  // namespace tilelang_ascend_sched::verify
