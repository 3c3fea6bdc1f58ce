#include "verify/chip.h"

#include <algorithm>

namespace tilelang_ascend_sched::verify {

Chip Chip::Of(const tvm::ffi::Map<tvm::ffi::String, int64_t>& numbers,
              const tvm::ffi::Array<tvm::ffi::String>& in_order) {
  Chip chip{};
  chip.ub = numbers.at("ub");
  chip.ub_with_simt = numbers.at("ub_with_simt");
  chip.l1 = numbers.at("l1");
  chip.l0a = numbers.at("l0a");
  chip.l0b = numbers.at("l0b");
  chip.l0c = numbers.at("l0c");
  chip.flag_ids = std::min<int64_t>(numbers.at("flags_per_event"), kMostIds);
  chip.lock_ids = numbers.at("locks");
  chip.cross_flag_ids = std::min<int64_t>(numbers.at("cross_core_flags"), kCrossFlagIds);
  chip.cross_flag_maximum = numbers.at("cross_core_max_count");
  for (int pipe = 0; pipe < kPipes; ++pipe) {
    const tvm::ffi::String name = NameOf(static_cast<Pipe>(pipe));
    chip.in_order[pipe] = std::find(in_order.begin(), in_order.end(), name) != in_order.end();
  }
  return chip;
}

int64_t Chip::CapacityOf(Space space, bool has_simt) const {
  switch (space) {
    case Space::kUb0:
    case Space::kUb1:
      return has_simt ? ub_with_simt : ub;
    case Space::kL1:
      return l1;
    case Space::kL0a:
      return l0a;
    case Space::kL0b:
      return l0b;
    case Space::kL0c:
      return l0c;
    case Space::kL0aScale:
      return l0a / 16;
    case Space::kL0bScale:
      return l0b / 16;
    case Space::kGm:
      break;
  }
  return INT64_MAX;
}

}  // namespace tilelang_ascend_sched::verify
