#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "analysis/dependence/places.h"

namespace tilelang_ascend_sched {

// One access of one leaf.
struct Member {
  size_t leaf;
  const PlacedAccess* placed;

  const Access& access() const { return placed->access; }
};

// The accesses of a body's leaves by what they access, in the order of first use. Storages that
// share bytes through a bound pointer come together.
std::vector<std::vector<Member>> ByStorage(const Places& places, const Body& body);

// Pairs of members, by number and the smaller first, of which one writes and whose bounds have
// values in common; a member that writes is also paired with itself. Members are swept along the
// dimension that parts them best, so that many accesses to different rows of one storage cost no
// more than their number.
std::vector<std::pair<size_t, size_t>> Candidates(const Places& places,
                                                  const std::vector<Member>& members);

}  // namespace tilelang_ascend_sched
