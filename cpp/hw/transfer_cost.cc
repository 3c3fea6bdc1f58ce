#include "hw/transfer_cost.h"

#include <algorithm>
#include <limits>

namespace tilelang_ascend_sched {

namespace {

bool IsNarrow(const StridedRows& rows, int64_t row_bytes) { return row_bytes < rows.transaction; }

int64_t StridedRate(const StridedRows& rows, int64_t bandwidth, int64_t row_bytes) {
  if (row_bytes == 0) return rows.unknown;
  if (IsNarrow(rows, row_bytes)) return rows.narrow;
  if (row_bytes >= 4 * rows.transaction) return bandwidth;
  if (row_bytes >= 2 * rows.transaction) return std::min(bandwidth, rows.wide);
  const int64_t moved = rows.transaction * CeilDiv(row_bytes, rows.transaction);
  return std::clamp<int64_t>(row_bytes * rows.peak / moved, 1, bandwidth);
}

int64_t PackedRate(const PackedRows& rows, int64_t bandwidth, int64_t row_bytes) {
  if (row_bytes == 0) return rows.unknown;
  if (row_bytes >= rows.full_row) return std::min(bandwidth, row_bytes);
  return std::clamp<int64_t>(row_bytes * rows.numerator / rows.denominator, 1, bandwidth);
}

int64_t DualRate(const DualCopy& dual, int64_t row_bytes) {
  const int64_t rate =
      row_bytes == 0 ? dual.unknown : SaturatingMultiply(row_bytes, dual.row_scale);
  return std::min(dual.bandwidth, rate);
}

// Bytes a cycle and fixed cycles of a copy, which for some routes depend on its rows.
struct Pace {
  int64_t rate;
  int64_t latency;
};

Pace StridedPace(const StridedRows& rows, int64_t bandwidth, int64_t row_bytes) {
  return {StridedRate(rows, bandwidth, row_bytes),
          IsNarrow(rows, row_bytes) ? rows.narrow_latency : rows.latency};
}

Pace PaceOf(const CopyWork& copy, const Machine& machine) {
  const Transfer& transfer = machine.transfer(copy.route);
  if (copy.dual) return {DualRate(machine.dual, copy.row_bytes), machine.dual.latency};
  if (!copy.contiguous) {
    switch (copy.route) {
      case Route::kGmToUb:
        return StridedPace(machine.gm_to_ub_rows, transfer.bandwidth, copy.row_bytes);
      case Route::kUbToGm:
        return StridedPace(machine.ub_to_gm_rows, transfer.bandwidth, copy.row_bytes);
      case Route::kUbToL1:
        return {PackedRate(machine.ub_to_l1_rows, transfer.bandwidth, copy.row_bytes),
                transfer.latency};
      default:
        break;
    }
  }
  return {transfer.bandwidth, transfer.latency};
}

// Figures of these routes count what all AIVs of a block move together.
bool CountsAllAivs(const CopyWork& copy) {
  return copy.route == Route::kGmToUb || copy.route == Route::kUbToGm ||
         copy.route == Route::kUbToL1 || copy.dual;
}

}  // namespace

int64_t CeilDiv(int64_t numerator, int64_t denominator) {
  return numerator / denominator + (numerator % denominator != 0);
}

int64_t SaturatingMultiply(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return a > kMost / b ? kMost : a * b;
}

TransferCost CostOf(const CopyWork& copy, const Machine& machine) {
  const Transfer& transfer = machine.transfer(copy.route);
  const int64_t bytes =
      SaturatingMultiply(copy.bytes, CountsAllAivs(copy) ? machine.aivs_per_block : 1);
  const Pace pace = PaceOf(copy, machine);
  TransferCost cost{pace.latency + CeilDiv(bytes, pace.rate), 0};
  if (bytes == 0) return cost;
  // The common end of a dual copy runs at its own rate, however narrow the rows.
  const int64_t end_rate = copy.dual ? machine.dual.bandwidth : pace.rate;
  cost.interval = std::max({transfer.min_interval, transfer.issue + CeilDiv(bytes, end_rate),
                            CeilDiv(bytes, pace.rate)});
  return cost;
}

}  // namespace tilelang_ascend_sched
