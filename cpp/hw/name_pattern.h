#pragma once

#include <string_view>

namespace tilelang_ascend_sched {

// True if `name` is what `pattern` says, where a `*` at an end of the pattern stands for anything.
bool MatchesPattern(std::string_view pattern, std::string_view name);

}  // namespace tilelang_ascend_sched
