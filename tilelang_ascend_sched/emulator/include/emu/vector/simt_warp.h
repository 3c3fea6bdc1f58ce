// Warp-wide operations: votes, shuffles and reductions over the active lanes.
//
// A lane that reads an inactive lane gets whatever the register held; here all ones, a NaN.
#pragma once

#include "emu/numeric/float16.h"
#include "emu/vector/simt_region.h"

namespace emu::simt {

template <class T>
EMU_NO_TRACE inline uint64_t pack(T value) {
  static_assert(sizeof(T) <= sizeof(uint64_t));
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <class T>
EMU_NO_TRACE inline T unpack(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

template <class T>
EMU_NO_TRACE inline T lane_value(const Exchange& e, uint32_t lane) {
  return unpack<T>(e.active >> lane & 1u ? e.value[lane] : ~uint64_t{0});
}

EMU_NO_TRACE inline uint32_t check_width(int32_t width) {
  if (width < 1 || width > 32 || (width & (width - 1)) != 0) {
    failf("warp shuffle: width %d is not a power of two up to 32", width);
  }
  return static_cast<uint32_t>(width);
}

// Sums, maxima and minima fold halves of the warp onto each other, so the order of a float sum
// does not depend on which lanes are active.
template <class T, class Fold>
EMU_NO_TRACE inline T reduce(const Exchange& e, T identity, Fold fold) {
  T lanes[kWarp];
  for (uint32_t i = 0; i < kWarp; ++i) {
    lanes[i] = e.active >> i & 1u ? unpack<T>(e.value[i]) : identity;
  }
  for (uint32_t half = kWarp / 2; half > 0; half /= 2) {
    for (uint32_t i = 0; i < half; ++i) lanes[i] = fold(lanes[i], lanes[i + half]);
  }
  return lanes[0];
}

// The first active lane's value: an identity for maximum and minimum in every type.
template <class T>
EMU_NO_TRACE inline T any_value(const Exchange& e) {
  return unpack<T>(e.value[__builtin_ctz(e.active)]);
}

template <class T>
struct Add {
  EMU_NO_TRACE T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct Max {
  EMU_NO_TRACE T operator()(T a, T b) const { return a > b || b != b ? a : b; }
};
template <class T>
struct Min {
  EMU_NO_TRACE T operator()(T a, T b) const { return a < b || b != b ? a : b; }
};

}  // namespace emu::simt

EMU_NO_TRACE inline uint32_t asc_ballot(int32_t predicate, EMU_LOC) {
  const auto& e = emu::simt::region().meet(predicate != 0, loc);
  uint32_t mask = 0;
  for (uint32_t i = 0; i < emu::simt::kWarp; ++i) {
    mask |= static_cast<uint32_t>(e.active >> i & 1u && e.value[i] != 0) << i;
  }
  return mask;
}

EMU_NO_TRACE inline uint32_t asc_activemask(EMU_LOC) {
  return emu::simt::region().meet(0, loc).active;
}

EMU_NO_TRACE inline int32_t asc_any(int32_t predicate, EMU_LOC) {
  return asc_ballot(predicate, loc) != 0;
}

EMU_NO_TRACE inline int32_t asc_all(int32_t predicate, EMU_LOC) {
  return asc_ballot(predicate == 0, loc) == 0;
}

template <class T>
EMU_NO_TRACE inline T asc_shfl(T value, int32_t src_lane, int32_t width = warpSize, EMU_LOC) {
  const uint32_t w = emu::simt::check_width(width);
  const auto& e = emu::simt::region().meet(emu::simt::pack(value), loc);
  const uint32_t base = laneid() & ~(w - 1);
  return emu::simt::lane_value<T>(e, base + (static_cast<uint32_t>(src_lane) & (w - 1)));
}

template <class T>
EMU_NO_TRACE inline T asc_shfl_up(T value, uint32_t delta, int32_t width = warpSize, EMU_LOC) {
  const uint32_t w = emu::simt::check_width(width);
  const auto& e = emu::simt::region().meet(emu::simt::pack(value), loc);
  const uint32_t lane = laneid();
  return (lane & (w - 1)) < delta ? value : emu::simt::lane_value<T>(e, lane - delta);
}

template <class T>
EMU_NO_TRACE inline T asc_shfl_down(T value, uint32_t delta, int32_t width = warpSize, EMU_LOC) {
  const uint32_t w = emu::simt::check_width(width);
  const auto& e = emu::simt::region().meet(emu::simt::pack(value), loc);
  const uint32_t lane = laneid();
  return (lane & (w - 1)) + delta >= w ? value : emu::simt::lane_value<T>(e, lane + delta);
}

template <class T>
EMU_NO_TRACE inline T asc_shfl_xor(T value, int32_t lane_mask, int32_t width = warpSize, EMU_LOC) {
  const uint32_t w = emu::simt::check_width(width);
  const auto& e = emu::simt::region().meet(emu::simt::pack(value), loc);
  const uint32_t lane = laneid();
  const uint32_t target = lane ^ static_cast<uint32_t>(lane_mask);
  return target > (lane | (w - 1)) ? value : emu::simt::lane_value<T>(e, target);
}

template <class T>
EMU_NO_TRACE inline T asc_reduce_add(T value, EMU_LOC) {
  const auto& e = emu::simt::region().meet(emu::simt::pack(value), loc);
  return emu::simt::reduce(e, T(0), emu::simt::Add<T>{});
}

template <class T>
EMU_NO_TRACE inline T asc_reduce_max(T value, EMU_LOC) {
  const auto& e = emu::simt::region().meet(emu::simt::pack(value), loc);
  return emu::simt::reduce(e, emu::simt::any_value<T>(e), emu::simt::Max<T>{});
}

template <class T>
EMU_NO_TRACE inline T asc_reduce_min(T value, EMU_LOC) {
  const auto& e = emu::simt::region().meet(emu::simt::pack(value), loc);
  return emu::simt::reduce(e, emu::simt::any_value<T>(e), emu::simt::Min<T>{});
}
