#pragma once

#include <map>
#include <vector>

#include "verify/decision.h"
#include "verify/value.h"

namespace tilelang_ascend_sched::verify {

using Inputs = std::map<Symbol, int64_t>;

struct Guess {
  size_t contradicted;  // so many decisions come out otherwise
  Inputs inputs;
};

// Numbers for every input on which the decisions rest, and for `others` within their ranges. First
// those, if they are found, with which all come out so; then some that meet the most of them.
// Decisions that were forgotten on the way may contradict each other.
std::vector<Guess> GuessInputs(const Symbols& symbols, const std::vector<Decision>& decisions,
                               const std::map<Symbol, Range>& others);

}  // namespace tilelang_ascend_sched::verify
