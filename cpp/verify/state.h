#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilelang_ascend_sched::verify {

// What the rest of a path depends on: two moments with the same text go on alike, but for numbers
// that have moved.
struct State {
  enum class Kind : uint8_t {
    kTurn,     // of a loop around the present statement of core `of`, the `index`-th from outside
    kSlot,     // variable `index` of core `of`
    kAddress,  // in GM tensor `of`
    kNote,     // for messages only
  };
  struct Number {
    int64_t* at;
    int64_t value;
    Kind kind;
    int32_t of = 0, index = 0;
  };
  std::string text;
  std::string known;              // which threads know which events to be complete, as bits
  std::vector<Number> numbers{};  // in the same order in any two states of the same text
};

// The earlier states at the head of a loop that repeats itself, of one pass through it.
struct History {
  struct Past {
    State state;
    size_t choices;  // that the path had made
  };
  std::vector<Past> states;
};

}  // namespace tilelang_ascend_sched::verify
