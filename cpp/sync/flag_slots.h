#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tilelang_ascend_sched {

// A run of consecutive event ids of one event pair that is indexed at run time, and so can only
// move as a whole. One constant id is a run of size 1.
struct FlagRun {
  int64_t size;      // ids
  int64_t executed;  // times its flags are set or waited for; compared, never added up to a cost
  bool pinned;       // must stay a flag
};

enum class Prefer {
  kBusyFlags,  // keep the runs that execute most; fill the slots with what ties
  kFullSlots,  // fill the most slots, so that the least spills; among those keep the busiest
};

// Which runs stay flags in `capacity` slots: an exact 0/1 knapsack, ties going to the earlier run.
// Nothing if the pinned runs alone do not fit.
std::optional<std::vector<bool>> ChooseKept(const std::vector<FlagRun>& runs, int64_t capacity,
                                            Prefer prefer);

// The first id of each run when runs of these `sizes` are laid into the ids where `taken` is false,
// each run into consecutive ids. Exact: nothing is returned only if no layout exists. Where runs
// fit into the first free gap in the order given, they are laid out so.
std::optional<std::vector<int64_t>> LayOut(const std::vector<int64_t>& sizes,
                                           const std::vector<bool>& taken);

}  // namespace tilelang_ascend_sched
