#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tilelang_ascend_sched {

// One JSON value with the line on which it begins. Numbers are whole: no figure of the machine
// needs more, and a fraction is more likely a mistake in units.
struct Json {
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  int line = 0;
  std::variant<bool, int64_t, std::string, Array, Object> value;

  // What it is, for messages: "a boolean", "a whole number", "a string", "a list", "an object".
  const char* kind() const;
};

// Parses `text`, the content of `file`. Throws ValueError "FILE:LINE: ..." for anything that is not
// one JSON value of the kinds above, and for a key that an object has twice.
Json ParseJson(const std::string& file, const std::string& text);

// Throws ValueError "FILE:LINE: message".
[[noreturn]] void FailAt(const std::string& file, int line, const std::string& message);

}  // namespace tilelang_ascend_sched
