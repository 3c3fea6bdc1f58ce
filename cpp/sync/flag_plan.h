#pragma once

#include <tvm/tirx/stmt.h>

#include <cstdint>
#include <string>
#include <vector>

#include "hw/machine.h"
#include "sync/flag_uses.h"

namespace tilelang_ascend_sched {

// A run of consecutive ids of one event and what becomes of it.
struct PlannedRun {
  std::string event;
  IntRange ids;
  std::vector<FlagUse> uses;
  int64_t executed = 0;  // the most that any of its uses is
  std::string loop;      // the loop of that use; empty outside all loops
  bool kept = true;      // as flags; else as locks
  bool folded = false;   // all its ids become one lock
  int64_t shift = 0;     // from the ids it has (their first, if folded) to those it gets

  int64_t size() const { return ids.max - ids.min + 1; }
  int64_t locks() const { return folded ? 1 : size(); }
};

// The runs of all events that have to change; empty if every id is in place already.
struct FlagPlan {
  std::vector<PlannedRun> runs;
};

// Decides for the code of one core of a machine with these limits, as told at RewriteFlagToBuf.
// `kernel` is for messages.
FlagPlan PlanFlags(const std::string& kernel, const tvm::tirx::Stmt& body, const SyncModel& limits,
                   bool fold_rings);

bool HasFlags(const tvm::tirx::Stmt& body);

// "loop `k`", or "code outside loops".
std::string DescribeLoop(const PlannedRun& run);

}  // namespace tilelang_ascend_sched
