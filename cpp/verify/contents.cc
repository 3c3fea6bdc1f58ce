#include "verify/contents.h"

#include <algorithm>
#include <utility>

namespace tilelang_ascend_sched::verify {

namespace {

constexpr size_t kMostTold = 8;  // numbers of one element

}  // namespace

void Contents::Read(int core, Space space, int tensor, const Region& region, int64_t first) {
  const int64_t element = (region.begin - first) / region.row_bytes;
  latest_[core] = {space, tensor, region.begin, region.row_bytes, element};
}

void Contents::Write(Space space, int tensor, const Region& region) {
  std::erase_if(known_, [&](const auto& entry) {
    const auto& [in, of, begin, bytes, low, high] = entry.first;
    if (in != space || of != tensor) return false;
    // Two addresses in GM may be the same ones unless both are known.
    return region.base != 0 || Overlap({begin, bytes}, region);
  });
}

int64_t Contents::Number(int core, const std::string& name, const Range& range, int64_t fresh) {
  const std::optional<Place> place = std::exchange(latest_[core], std::nullopt);
  if (!place) return fresh;
  const Key key = {place->space, place->tensor, place->begin, place->bytes, range.low, range.high};
  const auto [at, is_new] = known_.try_emplace(key, fresh);
  if (!is_new) return at->second;
  const std::string element = name + "[" + std::to_string(place->element) + "]";
  auto told = std::find_if(told_.begin(), told_.end(),
                           [&](const Told& each) { return each.name == element; });
  if (told == told_.end()) told = told_.insert(told_.end(), {element, {}});
  told->numbers.push_back(fresh);
  return fresh;
}

std::string Contents::Text() const {
  std::string text;
  for (const Told& each : told_) {
    text += (text.empty() ? "" : ", ") + each.name + " = ";
    for (size_t i = 0; i < std::min(each.numbers.size(), kMostTold); ++i) {
      text += (i == 0 ? "" : " then ") + std::to_string(each.numbers[i]);
    }
    if (each.numbers.size() > kMostTold) text += " then others";
  }
  return text;
}

}  // namespace tilelang_ascend_sched::verify
