#include "sync/flag_plan.h"

#include <algorithm>
#include <unordered_map>

#include "report/error.h"
#include "sync/flag_slots.h"
#include "sync/issue_order.h"

namespace tilelang_ascend_sched {

using tvm::tirx::CallNode;
using tvm::tirx::Stmt;

namespace {

constexpr const char* kPass = "RewriteFlagToBuf";

// Uses whose ids overlap form one run. So do all uses of one call, should it stand in several
// places.
std::vector<PlannedRun> FormRuns(const std::string& kernel, const std::string& event,
                                 const std::vector<FlagUse>& uses) {
  std::unordered_map<const CallNode*, IntRange> reach;
  for (const FlagUse& use : uses) {
    if (!use.ids.has_value()) {
      Fail(kPass, Text("cannot bound event_id `", use.call->args[1], "` of ", event, " in kernel ",
                       kernel, ": bound it by a loop, a guard or T.assume"));
    }
    if (use.ids->min < 0) {
      Fail(kPass, Text("negative event_id `", use.call->args[1], "` of ", event, " in kernel ",
                       kernel, ": it can be ", use.ids->min));
    }
    IntRange& ids = reach.try_emplace(use.call, *use.ids).first->second;
    ids = {std::min(ids.min, use.ids->min), std::max(ids.max, use.ids->max)};
  }
  std::vector<const FlagUse*> by_id;
  for (const FlagUse& use : uses) by_id.push_back(&use);
  std::stable_sort(by_id.begin(), by_id.end(), [&](const FlagUse* a, const FlagUse* b) {
    return reach.at(a->call).min < reach.at(b->call).min;
  });

  std::vector<PlannedRun> runs;
  for (const FlagUse* use : by_id) {
    const IntRange& ids = reach.at(use->call);
    if (runs.empty() || ids.min > runs.back().ids.max) {
      runs.emplace_back();
      runs.back().event = event;
      runs.back().ids = ids;
    }
    PlannedRun& run = runs.back();
    run.ids.max = std::max(run.ids.max, ids.max);
    run.uses.push_back(*use);
    if (use->executed > run.executed) {
      run.executed = use->executed;
      run.loop = use->loop;
    }
  }
  return runs;
}

int64_t TotalSize(const std::vector<PlannedRun>& runs) {
  int64_t total = 0;
  for (const PlannedRun& run : runs) total += run.size();
  return total;
}

bool InPlace(const std::vector<PlannedRun>& runs, const SyncModel& limits) {
  return std::all_of(runs.begin(), runs.end(), [&limits](const PlannedRun& run) {
    return run.ids.max < limits.flags_per_event;
  });
}

// Which of one event's runs have to stay flags.
std::vector<bool> FindPinned(const std::vector<PlannedRun>& runs, const Stmt& body) {
  std::vector<int64_t> sizes;
  std::unordered_map<const CallNode*, FlagOp> ops;
  for (size_t i = 0; i < runs.size(); ++i) {
    sizes.push_back(runs[i].size());
    for (const FlagUse& use : runs[i].uses) ops[use.call] = {i, use.is_set};
  }
  std::vector<bool> pinned = SetsComeFirst(body, sizes, [&](const CallNode* call) {
    auto found = ops.find(call);
    return found == ops.end() ? std::nullopt : std::optional<FlagOp>(found->second);
  });
  pinned.flip();
  return pinned;
}

enum class Keep { kBusy, kFullest, kMostRuns };

// Decides which of one event's runs stay flags, and numbers those from 0.
void PlaceFlags(const std::string& kernel, const SyncModel& limits, const std::vector<bool>& pinned,
                Keep keep, std::vector<PlannedRun>* runs) {
  std::vector<FlagRun> items;
  for (size_t i = 0; i < runs->size(); ++i) {
    const int64_t worth = keep == Keep::kMostRuns ? 1 : (*runs)[i].executed;
    items.push_back({(*runs)[i].size(), worth, pinned[i]});
  }
  const Prefer prefer = keep == Keep::kFullest ? Prefer::kFullSlots : Prefer::kBusyFlags;
  const auto kept = ChooseKept(items, limits.flags_per_event, prefer);
  if (!kept.has_value()) {
    Fail(kPass,
         Text((*runs)[0].event, " of kernel ", kernel, " needs more than ", limits.flags_per_event,
              " flags that are waited for before they are set; only flags set first can use "
              "locks instead. Issue the sets before the waits, or use fewer ids"));
  }
  int64_t next = 0;
  for (size_t i = 0; i < runs->size(); ++i) {
    PlannedRun& run = (*runs)[i];
    run.kept = (*kept)[i];
    if (!run.kept) continue;
    run.shift = next - run.ids.min;
    next += run.size();
  }
}

std::vector<bool> TakenLocks(const std::string& kernel, const SyncModel& limits,
                             const std::vector<LockUse>& locks) {
  std::vector<bool> taken(limits.locks, false);
  for (const LockUse& use : locks) {
    if (!use.ids.has_value()) {
      Fail(kPass, Text("cannot bound the lock ids of the ", use.by, " in kernel ", kernel,
                       ", so no lock is known to be free for the flags that do not fit: bound the "
                       "ids by a loop, a guard or T.assume"));
    }
    const int64_t end = std::min(use.ids->max + 1, limits.locks);
    for (int64_t id = std::max<int64_t>(use.ids->min, 0); id < end; ++id) taken[id] = true;
  }
  return taken;
}

using Events = std::vector<std::vector<PlannedRun>>;

std::vector<PlannedRun*> Spilled(Events* events) {
  std::vector<PlannedRun*> spilled;
  for (std::vector<PlannedRun>& runs : *events) {
    for (PlannedRun& run : runs) {
      if (!run.kept) spilled.push_back(&run);
    }
  }
  return spilled;
}

bool PlaceLocks(const std::vector<bool>& taken, Events* events) {
  const std::vector<PlannedRun*> spilled = Spilled(events);
  std::vector<int64_t> sizes;
  for (const PlannedRun* run : spilled) sizes.push_back(run->locks());
  const auto begins = LayOut(sizes, taken);
  if (!begins.has_value()) return false;
  for (size_t i = 0; i < spilled.size(); ++i)
    spilled[i]->shift = (*begins)[i] - spilled[i]->ids.min;
  return true;
}

// The last resort: folds spilled rings, the longest first, until the locks suffice.
bool PlaceFoldedLocks(const std::vector<bool>& taken, Events* events) {
  std::vector<PlannedRun*> rings = Spilled(events);
  std::stable_sort(rings.begin(), rings.end(),
                   [](const PlannedRun* a, const PlannedRun* b) { return a->size() > b->size(); });
  for (PlannedRun* ring : rings) {
    if (PlaceLocks(taken, events)) return true;
    ring->folded = ring->size() > 1;
  }
  return PlaceLocks(taken, events);
}

[[noreturn]] void ThrowOutOfLocks(const std::string& kernel, const SyncModel& limits,
                                  const std::vector<bool>& taken, const Events& events) {
  int64_t wanted = 0;
  std::string asked;
  for (const std::vector<PlannedRun>& runs : events) {
    for (const PlannedRun& run : runs) {
      if (run.kept) continue;
      wanted += run.locks();
      asked += Text("\n  ", DescribeLoop(run), ": ", run.locks(), " for ", run.event, " ids ",
                    run.ids.min, "..", run.ids.max);
    }
  }
  const auto free = std::count(taken.begin(), taken.end(), false);
  Fail(kPass, Text("the flags of kernel ", kernel, " that do not fit into ", limits.flags_per_event,
                   " an event pair need ", wanted,
                   " lock ids in runs of consecutive ids, which exceed "
                   "the ",
                   free, " of ", limits.locks,
                   " that are free; use fewer buffer versions "
                   "(num_stages) in:",
                   asked));
}

}  // namespace

FlagPlan PlanFlags(const std::string& kernel, const Stmt& body, const SyncModel& limits,
                   bool fold_rings) {
  const FlagUses uses = CollectFlagUses(body);
  Events events;
  std::vector<std::vector<bool>> pinned;
  for (const auto& [event, event_uses] : uses.by_event) {
    std::vector<PlannedRun> runs = FormRuns(kernel, event, event_uses);
    if (InPlace(runs, limits)) continue;
    const bool spills = TotalSize(runs) > limits.flags_per_event;
    pinned.push_back(spills ? FindPinned(runs, body) : std::vector<bool>(runs.size(), true));
    events.push_back(std::move(runs));
  }

  auto place_flags = [&](Keep keep) {
    bool all_kept = true;
    for (size_t i = 0; i < events.size(); ++i) {
      PlaceFlags(kernel, limits, pinned[i], keep, &events[i]);
      for (const PlannedRun& run : events[i]) all_kept &= run.kept;
    }
    return all_kept;
  };
  if (!place_flags(Keep::kBusy)) {
    const std::vector<bool> taken = TakenLocks(kernel, limits, uses.locks);
    if (!PlaceLocks(taken, &events)) {
      place_flags(Keep::kFullest);
      bool placed = PlaceLocks(taken, &events);
      if (!placed && fold_rings) {
        place_flags(Keep::kMostRuns);
        placed = PlaceFoldedLocks(taken, &events);
      }
      if (!placed) ThrowOutOfLocks(kernel, limits, taken, events);
    }
  }

  FlagPlan plan;
  for (std::vector<PlannedRun>& runs : events) {
    for (PlannedRun& run : runs) plan.runs.push_back(std::move(run));
  }
  return plan;
}

bool HasFlags(const Stmt& body) { return !CollectFlagUses(body).by_event.empty(); }

std::string DescribeLoop(const PlannedRun& run) {
  return run.loop.empty() ? "code outside loops" : "loop `" + run.loop + "`";
}

}  // namespace tilelang_ascend_sched
