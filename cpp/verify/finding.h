#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "verify/machine.h"
#include "verify/path.h"
#include "verify/program.h"

namespace tilelang_ascend_sched::verify {

// One statement of the lowered code, at one turn of its loops.
struct Site {
  Source source;
  Core core;
  Pipe pipe;
  std::vector<std::pair<std::string, int64_t>> turns;  // loop variable and turn, innermost first
};

// Something wrong, or something that could not be decided.
struct Finding {
  std::string kind;       // `race`, `set twice`, `left set`, `deadlock`, `range`, `capacity`, ...
  bool certain = true;    // an error; else a reason why there is no proof
  std::string message{};  // one line
  std::optional<Site> first{}, second{};
  std::string memory{};           // of a race: such as `UB`
  int64_t begin = 0, end = 0;     // bytes that both touch
  std::string tensor{};           // of a race in GM
  std::string buffer{};           // on chip, if it is known
  std::string distance{};         // turns between the two
  std::string missing{};          // the order that is not given
  std::string supply{};           // what would give it
  std::string inputs{};           // run-time inputs with which it happens
  std::vector<Decision> meets{};  // of a race: what has to hold of inputs for the two to meet
};

// As messages name them.
inline std::string PairName(Pipe set, Pipe wait) {
  return std::string(NameOf(set)) + "_" + NameOf(wait);
}
inline std::string FlagName(int64_t id, Pipe set, Pipe wait) {
  return "flag " + std::to_string(id) + " of " + PairName(set, wait);
}
inline std::string WaitCall(int64_t id, Pipe set, Pipe wait) {
  return "wait_flag(\"" + PairName(set, wait) + "\", " + std::to_string(id) + ")";
}
inline std::string CrossName(int64_t id) { return "cross-core flag " + std::to_string(id); }

// Tells what order there should be between `first` and `second` of a finding, and what gives it.
void OrderMissing(Thread first, Thread second, Finding* finding);

}  // namespace tilelang_ascend_sched::verify
