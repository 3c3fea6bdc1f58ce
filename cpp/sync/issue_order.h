#pragma once

#include <tvm/tirx/stmt.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tilelang_ascend_sched {

// What one statement does to a run of event ids.
struct FlagOp {
  size_t run;
  bool is_set;  // else it waits
};

// For each run of ids, whether every wait can be shown to be issued after the set that it waits
// for. `sizes` are the ids in each run; `op_of` names the flag op that a call is, if it is one of
// theirs.
//
// The scalar program is walked in the order in which it issues, counting for each run the sets that
// no wait has answered. A wait that finds none answers a later set. Loops are walked until the
// counts settle, the first iteration on its own with the guards that are false in it left out;
// other guards are taken to hold, which is what balanced flags under guards need. Runs are counted
// as a whole: the ids of a ring come round in turn.
std::vector<bool> SetsComeFirst(
    const tvm::tirx::Stmt& body, const std::vector<int64_t>& sizes,
    const std::function<std::optional<FlagOp>(const tvm::tirx::CallNode*)>& op_of);

}  // namespace tilelang_ascend_sched
