#pragma once

#include <sstream>
#include <string>

namespace tilelang_ascend_sched {

// The parts written one after the other.
template <typename... Parts>
std::string Text(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

// Throws an InternalError "<pass>: <message>".
[[noreturn]] void Fail(const std::string& pass, const std::string& message);

}  // namespace tilelang_ascend_sched
