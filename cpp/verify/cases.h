#pragma once

#include "verify/value.h"

namespace tilelang_ascend_sched::verify {

// Whether `value` is at most 0 for all inputs that meet `facts`. Where the bounds of a sum do not
// tell, a minimum in it is replaced by both that it may be.
bool NeverPositive(Symbols* symbols, const Value& value, const Facts& facts);

}  // namespace tilelang_ascend_sched::verify
