#include "analysis/dependence/candidates.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "analysis/dependence/layout.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;

namespace {

bool Overlap(const Bounds& a, const Bounds& b) { return a.low <= b.high && b.low <= a.high; }

bool MayOverlap(const Member& a, const Member& b) {
  const std::vector<Bounds>& x = a.placed->bounds;
  const std::vector<Bounds>& y = b.placed->bounds;
  if (x.size() != y.size() || x.empty()) return true;
  if (!SameLayout(a.access().region.buffer, b.access().region.buffer)) return true;
  return std::ranges::equal(x, y, Overlap);
}

// The dimension along which the members have the most different bounds; nothing if they do not all
// have the same dimensions.
std::optional<size_t> SweepAxis(const std::vector<Member>& members) {
  const std::vector<Bounds>& first = members.front().placed->bounds;
  if (first.empty()) return std::nullopt;
  std::vector<std::set<std::pair<int64_t, int64_t>>> seen(first.size());
  for (const Member& member : members) {
    const std::vector<Bounds>& bounds = member.placed->bounds;
    if (bounds.size() != first.size()) return std::nullopt;
    const Buffer& buffer = member.access().region.buffer;
    if (!SameLayout(members.front().access().region.buffer, buffer)) return std::nullopt;
    for (size_t axis = 0; axis < bounds.size(); ++axis) {
      seen[axis].insert({bounds[axis].low, bounds[axis].high});
    }
  }
  const auto best = std::ranges::max_element(seen, {}, [](const auto& set) { return set.size(); });
  return static_cast<size_t>(best - seen.begin());
}

}  // namespace

std::vector<std::vector<Member>> ByStorage(const Places& places, const Body& body) {
  std::vector<std::vector<Member>> storages;
  using Key = std::tuple<Storage::Kind, const VarNode*, std::string>;
  std::map<Key, size_t> numbers;
  for (size_t leaf = body.first_leaf; leaf < body.last_leaf; ++leaf) {
    for (const PlacedAccess& placed : places.leaves[leaf].accesses) {
      const Storage& storage = placed.access.storage;
      const bool memory = storage.kind == Storage::Kind::kMemory;
      const VarNode* var = memory                    ? places.pointers.GroupOf(storage.var.value())
                           : storage.var.has_value() ? storage.var.value().get()
                                                     : nullptr;
      const auto [known, fresh] =
          numbers.try_emplace({storage.kind, var, storage.state}, storages.size());
      if (fresh) storages.emplace_back();
      storages[known->second].push_back({leaf, &placed});
    }
  }
  return storages;
}

std::vector<std::pair<size_t, size_t>> Candidates(const Places& places,
                                                  const std::vector<Member>& members) {
  std::vector<std::pair<size_t, size_t>> pairs;
  auto consider = [&](size_t i, size_t j) {
    if (!members[i].access().write && !members[j].access().write) return;
    const Storage& a = members[i].access().storage;
    const Storage& b = members[j].access().storage;
    const bool one = a.kind != Storage::Kind::kMemory || a == b ||
                     places.pointers.IsBound(a.var.value()) ||
                     places.pointers.IsBound(b.var.value());
    if (!one) return;
    if (MayOverlap(members[i], members[j])) pairs.emplace_back(std::min(i, j), std::max(i, j));
  };
  const bool written =
      std::ranges::any_of(members, [](const Member& m) { return m.access().write; });
  if (!written) return pairs;
  std::vector<size_t> order(members.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const std::optional<size_t> axis = SweepAxis(members);
  auto bounds = [&](size_t i) { return members[i].placed->bounds[*axis]; };
  if (axis.has_value()) {
    std::ranges::stable_sort(order, {}, [&](size_t i) { return bounds(i).low; });
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (size_t j = i; j < order.size(); ++j) {
      if (axis.has_value() && bounds(order[j]).low > bounds(order[i]).high) break;
      consider(order[i], order[j]);
    }
  }
  std::ranges::sort(pairs);
  return pairs;
}

}  // namespace tilelang_ascend_sched
