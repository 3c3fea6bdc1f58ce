#include "sync/flag_slots.h"

#include <algorithm>
#include <numeric>

namespace tilelang_ascend_sched {

namespace {

constexpr int64_t kUnreachable = -1;

// Row i of the table holds, for each number of slots, the most executions that runs [0, i) can keep
// while filling exactly that many slots.
using Table = std::vector<std::vector<int64_t>>;

Table KeptExecutions(const std::vector<FlagRun>& runs, int64_t capacity) {
  Table best(runs.size() + 1, std::vector<int64_t>(capacity + 1, kUnreachable));
  best[0][0] = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    const FlagRun& run = runs[i];
    for (int64_t filled = 0; filled <= capacity; ++filled) {
      int64_t& here = best[i + 1][filled];
      if (!run.pinned) here = best[i][filled];
      if (filled < run.size || best[i][filled - run.size] == kUnreachable) continue;
      here = std::max(here, best[i][filled - run.size] + run.executed);
    }
  }
  return best;
}

struct Gap {
  int64_t begin;
  int64_t size;
};

std::vector<Gap> FreeGaps(const std::vector<bool>& taken) {
  std::vector<Gap> gaps;
  for (size_t id = 0; id < taken.size(); ++id) {
    if (taken[id]) continue;
    if (id == 0 || taken[id - 1]) gaps.push_back({static_cast<int64_t>(id), 0});
    ++gaps.back().size;
  }
  return gaps;
}

int64_t TakeFrom(Gap* gap, int64_t size) {
  const int64_t begin = gap->begin;
  gap->begin += size;
  gap->size -= size;
  return begin;
}

bool FirstFit(const std::vector<int64_t>& sizes, std::vector<Gap> gaps,
              std::vector<int64_t>* begins) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    auto gap = std::find_if(gaps.begin(), gaps.end(),
                            [&](const Gap& gap) { return gap.size >= sizes[i]; });
    if (gap == gaps.end()) return false;
    (*begins)[i] = TakeFrom(&*gap, sizes[i]);
  }
  return true;
}

// Depth-first search over the runs in `order`, the largest first. Gaps of equal room are tried
// once.
bool Search(const std::vector<int64_t>& sizes, const std::vector<size_t>& order, size_t next,
            std::vector<Gap>* gaps, std::vector<int64_t>* begins) {
  if (next == order.size()) return true;
  const size_t run = order[next];
  std::vector<int64_t> tried;
  for (Gap& gap : *gaps) {
    if (gap.size < sizes[run]) continue;
    if (std::find(tried.begin(), tried.end(), gap.size) != tried.end()) continue;
    tried.push_back(gap.size);
    const Gap before = gap;
    (*begins)[run] = TakeFrom(&gap, sizes[run]);
    if (Search(sizes, order, next + 1, gaps, begins)) return true;
    gap = before;
  }
  return false;
}

}  // namespace

std::optional<std::vector<bool>> ChooseKept(const std::vector<FlagRun>& runs, int64_t capacity,
                                            Prefer prefer) {
  const Table best = KeptExecutions(runs, capacity);
  const std::vector<int64_t>& last = best.back();
  int64_t filled = kUnreachable;
  for (int64_t slots = 0; slots <= capacity; ++slots) {
    if (last[slots] == kUnreachable) continue;
    if (filled == kUnreachable || prefer == Prefer::kFullSlots || last[slots] >= last[filled]) {
      filled = slots;
    }
  }
  if (filled == kUnreachable) return std::nullopt;

  // Back through the table; a run is left out wherever leaving it out is as good, which leaves the
  // ties to the runs before it.
  std::vector<bool> kept(runs.size(), false);
  for (size_t i = runs.size(); i-- > 0;) {
    if (!runs[i].pinned && best[i][filled] == best[i + 1][filled]) continue;
    kept[i] = true;
    filled -= runs[i].size;
  }
  return kept;
}

std::optional<std::vector<int64_t>> LayOut(const std::vector<int64_t>& sizes,
                                           const std::vector<bool>& taken) {
  std::vector<Gap> gaps = FreeGaps(taken);
  std::vector<int64_t> begins(sizes.size());
  if (FirstFit(sizes, gaps, &begins)) return begins;

  const int64_t wanted = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  if (wanted > std::count(taken.begin(), taken.end(), false)) return std::nullopt;
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sizes[a] > sizes[b]; });
  if (!Search(sizes, order, 0, &gaps, &begins)) return std::nullopt;
  return begins;
}

}  // namespace tilelang_ascend_sched
