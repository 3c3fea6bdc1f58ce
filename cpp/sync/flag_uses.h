#pragma once

#include <tvm/tirx/stmt.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/facts.h"

namespace tilelang_ascend_sched {

// `set_flag` or `wait_flag`.
struct FlagUse {
  const tvm::tirx::CallNode* call;
  bool is_set;
  std::optional<IntRange> ids;
  int64_t executed;  // product of the enclosing trip counts
  std::string loop;  // the innermost loop's variable; empty outside all loops
};

// A use of lock ids that is not ours to change.
struct LockUse {
  std::string by;  // who uses them, for messages
  std::optional<IntRange> ids;
};

struct FlagUses {
  std::map<std::string, std::vector<FlagUse>> by_event;  // hard event, e.g. MTE2_V, to its uses
  std::vector<LockUse> locks;
};

// All uses of flags and locks in `body`, in program order.
FlagUses CollectFlagUses(const tvm::tirx::Stmt& body);

}  // namespace tilelang_ascend_sched
