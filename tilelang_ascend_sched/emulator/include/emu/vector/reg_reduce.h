// Reductions across the lanes of a register.
#pragma once

#include <limits>

#include "emu/vector/reg_arith.h"

namespace emu {

// Neighbours are added first, then neighbouring sums, in the element type of the result.
template <class D>
EMU_VECTOR D tree_sum(D* lanes, int n) {
  for (; n > 1; n /= 2) {
    for (int i = 0; i < n / 2; ++i) lanes[i] = AddOp::apply(lanes[2 * i], lanes[2 * i + 1]);
  }
  return lanes[0];
}

template <class T>
EMU_INLINE T lowest_value() {
  if constexpr (is_float16<T>) {
    return T(-__builtin_inff());
  } else if constexpr (std::is_floating_point_v<T>) {
    return -std::numeric_limits<T>::infinity();
  } else {
    return std::numeric_limits<T>::lowest();
  }
}
template <class T>
EMU_INLINE T highest_value() {
  if constexpr (is_float16<T>) {
    return T(__builtin_inff());
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::numeric_limits<T>::infinity();
  } else {
    return std::numeric_limits<T>::max();
  }
}

// Where an extreme value stands first.
template <class T>
struct Extreme {
  T value;
  int index;
};
template <bool Maximum, class T>
EMU_VECTOR Extreme<T> extreme(const Vec<T>& src, const Predicate& mask, int first, int last) {
  Extreme<T> best{Maximum ? lowest_value<T>() : highest_value<T>(), first};
  bool any = false;
  for (int i = first; i < last; ++i) {
    if (!active<T>(mask, i)) continue;
    const T x = src.lane[i];
    const bool better = Maximum ? x > best.value : x < best.value;
    if (!any || better || (x != x && best.value == best.value)) best = {x, i};
    any = true;
  }
  return best;
}

// A reduction takes all the active lanes.
template <class T>
EMU_VECTOR Flow flow_of_active(const Vec<T>& src, const Predicate& mask) {
  return flow_all(active_bytes<T>(mask), {.a = src.flow, .mask = mask.flow});
}

template <class T>
EMU_VECTOR void clear(Vec<T>& v) {
  std::memset(static_cast<void*>(v.lane), 0, kRegisterBytes);
}

// Lane 0 the value, lane 1 its index as an integer.
template <bool Maximum, class T>
EMU_VECTOR void reduce_extreme(Vec<T>& dst, const Vec<T>& src, const Predicate& mask) {
  count<T>();
  const Extreme<T> best = extreme<Maximum>(src, mask, 0, Vec<T>::kLanes);
  dst.flow = flow_of_active(src, mask);
  clear(dst);
  dst.lane[0] = best.value;
  as_bits(dst).lane[1] = static_cast<Bits<T>>(best.index);
}

// One value for each 32-byte block, at the low end.
template <bool Maximum, class T>
EMU_VECTOR void reduce_blocks(Vec<T>& dst, const Vec<T>& src, const Predicate& mask) {
  constexpr int kBlockLanes = kBlockBytes / sizeof(T);
  count<T>();
  Vec<T> r{Raw{}};
  r.flow = flow_of_active(src, mask);
  clear(r);
  for (int b = 0; b < kRegisterBytes / kBlockBytes; ++b) {
    r.lane[b] = extreme<Maximum>(src, mask, b * kBlockLanes, (b + 1) * kBlockLanes).value;
  }
  dst = r;
}

template <class D, class S>
EMU_VECTOR void load_active(D* lanes, const Vec<S>& src, const Predicate& mask) {
  for (int i = 0; i < Vec<S>::kLanes; ++i) {
    lanes[i] = active<S>(mask, i) ? static_cast<D>(src.lane[i]) : D(0);
  }
}

}  // namespace emu

template <class D, class S>
EMU_VECTOR void asc_reduce_sum(emu::Vec<D>& dst, const emu::Vec<S>& src, vector_bool mask) {
  emu::count<S>();
  D lanes[emu::Vec<S>::kLanes];
  emu::load_active(lanes, src, mask);
  dst.flow = emu::flow_of_active(src, mask);
  emu::clear(dst);
  dst.lane[0] = emu::tree_sum(lanes, emu::Vec<S>::kLanes);
}
template <class T>
EMU_VECTOR void asc_reduce_max(emu::Vec<T>& dst, const emu::Vec<T>& src, vector_bool mask) {
  emu::reduce_extreme<true>(dst, emu::Vec<T>(src), mask);
}
template <class T>
EMU_VECTOR void asc_reduce_min(emu::Vec<T>& dst, const emu::Vec<T>& src, vector_bool mask) {
  emu::reduce_extreme<false>(dst, emu::Vec<T>(src), mask);
}
template <class T>
EMU_VECTOR void asc_reduce_max_datablock(emu::Vec<T>& dst, const emu::Vec<T>& src,
                                         vector_bool mask) {
  emu::reduce_blocks<true>(dst, src, mask);
}
template <class T>
EMU_VECTOR void asc_reduce_min_datablock(emu::Vec<T>& dst, const emu::Vec<T>& src,
                                         vector_bool mask) {
  emu::reduce_blocks<false>(dst, src, mask);
}
template <class T>
EMU_VECTOR void asc_reduce_sum_datablock(emu::Vec<T>& dst, const emu::Vec<T>& src,
                                         vector_bool mask) {
  constexpr int kBlockLanes = emu::kBlockBytes / sizeof(T);
  emu::count<T>();
  T lanes[emu::Vec<T>::kLanes];
  emu::load_active(lanes, src, mask);
  dst.flow = emu::flow_of_active(src, mask);
  emu::clear(dst);
  for (int b = 0; b < emu::kRegisterBytes / emu::kBlockBytes; ++b) {
    dst.lane[b] = emu::tree_sum(lanes + b * kBlockLanes, kBlockLanes);
  }
}
// Sums of neighbours in the lower half, zeros above.
template <class T>
EMU_VECTOR void asc_pair_reduce_sum(emu::Vec<T>& dst, const emu::Vec<T>& src, vector_bool mask) {
  emu::count<T>();
  T lanes[emu::Vec<T>::kLanes];
  emu::load_active(lanes, src, mask);
  dst.flow = emu::flow_of_active(src, mask);
  emu::clear(dst);
  for (int i = 0; i < emu::Vec<T>::kLanes / 2; ++i) {
    dst.lane[i] = emu::AddOp::apply(lanes[2 * i], lanes[2 * i + 1]);
  }
}

// Merging keeps the lanes a reduction does not write: all but the first, or the first two.
#define EMU_REDUCTION(NAME, CAPI, RESULTS)                                         \
  template <class D, class S, emu::Merge M>                                        \
  EMU_VECTOR void NAME(emu::Vec<D>& dst, const emu::Vec<S>& src, vector_bool mask, \
                       emu::Control<M>) {                                          \
    emu::Vec<D> r{emu::Raw{}};                                                     \
    CAPI(r, src, mask);                                                            \
    if constexpr (M == emu::Merge::kZeroing) {                                     \
      dst = r;                                                                     \
    } else {                                                                       \
      std::memcpy(static_cast<void*>(dst.lane), r.lane, (RESULTS) * sizeof(D));    \
      dst.flow = emu::flow_all(emu::kEveryByte, {.a = r.flow, .b = dst.flow});     \
    }                                                                              \
  }
EMU_REDUCTION(vcadd, asc_reduce_sum, 1)
EMU_REDUCTION(vcmax, asc_reduce_max, 2)
EMU_REDUCTION(vcmin, asc_reduce_min, 2)
EMU_REDUCTION(vcgadd, asc_reduce_sum_datablock, emu::kRegisterBytes / emu::kBlockBytes)
EMU_REDUCTION(vcgmax, asc_reduce_max_datablock, emu::kRegisterBytes / emu::kBlockBytes)
EMU_REDUCTION(vcgmin, asc_reduce_min_datablock, emu::kRegisterBytes / emu::kBlockBytes)
EMU_REDUCTION(vcpadd, asc_pair_reduce_sum, emu::Vec<D>::kLanes / 2)
#undef EMU_REDUCTION
