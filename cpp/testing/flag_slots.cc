// Lets the tests call the parts of cpp/sync that know no TVM.

#include "sync/flag_slots.h"

#include <tvm/ffi/container/array.h>
#include <tvm/ffi/reflection/registry.h>

namespace tilelang_ascend_sched {

using tvm::ffi::Array;
using tvm::ffi::Optional;

namespace {

// Rows of `runs` are (size, executed, pinned).
Optional<Array<bool>> ChooseKeptRows(const Array<Array<int64_t>>& rows, int64_t capacity,
                                     bool full_slots) {
  std::vector<FlagRun> runs;
  for (const Array<int64_t>& row : rows) runs.push_back({row[0], row[1], row[2] != 0});
  const auto kept =
      ChooseKept(runs, capacity, full_slots ? Prefer::kFullSlots : Prefer::kBusyFlags);
  if (!kept.has_value()) return std::nullopt;
  return Array<bool>(kept->begin(), kept->end());
}

Optional<Array<int64_t>> LayOutSizes(const Array<int64_t>& sizes, const Array<bool>& taken) {
  const auto begins = LayOut({sizes.begin(), sizes.end()}, {taken.begin(), taken.end()});
  if (!begins.has_value()) return std::nullopt;
  return Array<int64_t>(begins->begin(), begins->end());
}

}  // namespace

TVM_FFI_STATIC_INIT_BLOCK() {
  tvm::ffi::reflection::GlobalDef()
      .def("tl.ascend_sched.testing.choose_kept", ChooseKeptRows)
      .def("tl.ascend_sched.testing.lay_out", LayOutSizes);
}

}  // namespace tilelang_ascend_sched
