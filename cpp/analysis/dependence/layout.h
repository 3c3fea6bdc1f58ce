#pragma once

#include <optional>
#include <utility>

#include "analysis/access.h"
#include "ir/facts.h"

namespace tilelang_ascend_sched {

// True if equal indices into the two buffers, views of one storage, mean equal elements, and
// different indices different ones.
bool SameLayout(const tvm::tirx::Buffer& a, const tvm::tirx::Buffer& b);

// The bits of the storage that an element row of each region occupies: contiguous ranges in terms
// of one element of the dimensions before. Ranges of the variables that stand for those elements
// are added to `facts`. Nothing where an element's place does not follow from strides: TileLang
// lays buffers in L1, L0 and registers out by other rules.
std::optional<std::pair<tvm::Range, tvm::Range>> BitRanges(const Region& a, const Region& b,
                                                           Facts* facts);

}  // namespace tilelang_ascend_sched
