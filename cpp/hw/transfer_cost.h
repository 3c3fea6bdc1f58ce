#pragma once

#include <cstdint>

#include "hw/machine.h"

namespace tilelang_ascend_sched {

// One copy, as a copy engine is asked for it.
struct CopyWork {
  Route route{};
  int64_t bytes = 0;       // that arrive, at one AIV where AIVs are involved
  bool contiguous = true;  // both ends are one run of bytes
  int64_t row_bytes = 0;   // of a strided copy; 0: unknown
  bool dual = false;       // L0C -> UB that feeds both AIVs
};

struct TransferCost {
  int64_t latency = 0;   // cycles from its begin until the data are there
  int64_t interval = 0;  // cycles that it keeps its pipe from the next copy
};

TransferCost CostOf(const CopyWork& copy, const Machine& machine);

// ceil(numerator / denominator) for a numerator of 0 or more, without overflow.
int64_t CeilDiv(int64_t numerator, int64_t denominator);

// a * b for factors of 0 or more; the largest number if that is too large.
int64_t SaturatingMultiply(int64_t a, int64_t b);

}  // namespace tilelang_ascend_sched
