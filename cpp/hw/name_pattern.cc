#include "hw/name_pattern.h"

namespace tilelang_ascend_sched {

bool MatchesPattern(std::string_view pattern, std::string_view name) {
  const bool open_begin = pattern.starts_with('*');
  if (open_begin) pattern.remove_prefix(1);
  const bool open_end = pattern.ends_with('*');
  if (open_end) pattern.remove_suffix(1);
  if (open_begin && open_end) return name.find(pattern) != std::string_view::npos;
  if (open_begin) return name.ends_with(pattern);
  return open_end ? name.starts_with(pattern) : name == pattern;
}

}  // namespace tilelang_ascend_sched
