// The part of cooperative groups that warp synchronization lowers to.
#pragma once

#include "emu/vector/simt_region.h"

namespace cooperative_groups {

class coalesced_group {
 public:
  explicit coalesced_group(const std::source_location& site) : site_(site) {}
  EMU_NO_TRACE void sync() const { emu::simt::region().meet(0, site_, true); }

 private:
  std::source_location site_;
};

EMU_NO_TRACE inline coalesced_group coalesced_threads(EMU_LOC) { return coalesced_group(loc); }

}  // namespace cooperative_groups
