// Gathers and scatters: every lane has an address of its own, in UB or in a register.
#pragma once

#include "emu/vector/reg_memory.h"

namespace emu {

// Finds the first of two lanes with the same index.
template <class I, int Count>
class LaneOf {
 public:
  EMU_NO_TRACE LaneOf() { std::memset(lane_, 0xff, sizeof lane_); }
  // The lane that came with this index before; -1: none.
  EMU_NO_TRACE int enter(I index, int lane) {
    uint32_t slot = static_cast<uint32_t>(index) % kSlots;
    for (; lane_[slot] >= 0; slot = (slot + 1) % kSlots) {
      if (index_[slot] == index) return lane_[slot];
    }
    lane_[slot] = static_cast<int16_t>(lane);
    index_[slot] = index;
    return -1;
  }

 private:
  static constexpr uint32_t kSlots = 2 * Count;
  int16_t lane_[kSlots];
  I index_[kSlots];
};

}  // namespace emu

// Elements at `base + index[lane]`. An 8-bit element is extended with zeros to 16 bits.
template <class D, class S, class I>
EMU_VECTOR void asc_gather(emu::Vec<D>& dst, __ubuf__ S* base, const emu::Vec<I>& index,
                           vector_bool mask) {
  static_assert(sizeof(D) == sizeof(S) || (sizeof(S) == 1 && sizeof(D) == 2),
                "asc_gather: element types do not fit");
  emu::check_aligned(base, emu::kBlockBytes, "asc_gather");
  ++emu::active_counts->loads;
  emu::flow_use(index.flow, emu::active_bytes<D>(mask));
  emu::flow_use(mask.flow);
  dst.flow = emu::flow_after_loads();
  for (int i = 0; i < emu::Vec<D>::kLanes; ++i) {
    emu::Bits<D> bits = 0;
    if (emu::active<D>(mask, i)) {
      const S* at = base + index.lane[i];
      emu::vf_read(at, sizeof(S));
      std::memcpy(&bits, at, sizeof(S));
    }
    emu::as_bits(dst).lane[i] = bits;
  }
}

template <class T>
EMU_VECTOR void asc_gather_datablock(emu::Vec<T>& dst, __ubuf__ T* base, vector_u32 index,
                                     vector_bool mask) {
  constexpr int kBlockLanes = emu::kBlockBytes / sizeof(T);
  emu::check_aligned(base, emu::kBlockBytes, "asc_gather_datablock");
  ++emu::active_counts->loads;
  emu::flow_use(index.flow, {{emu::low_bytes(emu::kRegisterBytes / emu::kBlockBytes * 4)}});
  emu::flow_use(mask.flow);
  emu::Vec<T> loaded{emu::Raw{}};
  std::memset(static_cast<void*>(loaded.lane), 0, emu::kRegisterBytes);
  for (int b = 0; b < emu::kRegisterBytes / emu::kBlockBytes; ++b) {
    const char* at = reinterpret_cast<const char*>(base) + index.lane[b];
    bool any = false;
    for (int i = 0; i < kBlockLanes; ++i) {
      if (!emu::active<T>(mask, b * kBlockLanes + i)) continue;
      if (!any) emu::check_aligned(at, emu::kBlockBytes, "asc_gather_datablock index");
      any = true;
      emu::vf_read(at + i * sizeof(T), sizeof(T));
    }
    if (!any) continue;
    std::memcpy(static_cast<void*>(loaded.lane + b * kBlockLanes), at, emu::kBlockBytes);
  }
  emu::commit<emu::Merge::kZeroing>(dst, loaded, mask, {.a = emu::flow_after_loads()});
}
template <class T>
EMU_VECTOR void asc_gather_datablock(emu::Vec<T>& dst, __ubuf__ T* base, vector_u32 index) {
  asc_gather_datablock(dst, base, index, emu::pattern_mask<1, emu::Pattern::kAll>());
}

// Lanes chosen from a register; an index counts modulo the lanes.
template <class T, class I>
EMU_VECTOR void asc_gather(emu::Vec<T>& dst, const emu::Vec<T>& src, const emu::Vec<I>& index) {
  static_assert(sizeof(T) == sizeof(I), "asc_gather: index as wide as the element");
  emu::count<T>();
  emu::Vec<T> result{emu::Raw{}};
  for (int i = 0; i < emu::Vec<T>::kLanes; ++i) {
    result.lane[i] = src.lane[static_cast<emu::Bits<I>>(index.lane[i]) % emu::Vec<T>::kLanes];
  }
  result.flow = emu::flow_all(emu::kEveryByte, {.a = src.flow, .b = index.flow});
  dst = result;
}

// Lane i goes to `base + index[i]`; of 8-bit lanes only the even ones. Which of two lanes with one
// index stays is not defined.
template <class T, class I>
EMU_VECTOR void asc_scatter(__ubuf__ T* base, const emu::Vec<T>& src, const emu::Vec<I>& index,
                            vector_bool mask) {
  constexpr int kStep = sizeof(T) == 1 ? 2 : 1;
  constexpr int kCount = emu::Vec<T>::kLanes / kStep;
  emu::check_aligned(base, emu::kBlockBytes, "asc_scatter");
  ++emu::active_counts->stores;
  emu::ByteSet stored = emu::active_bytes<T>(mask);
  for (uint64_t& word : stored.word)
    word &= emu::low_bytes(sizeof(T)) * emu::kElementBits<sizeof(T) * kStep>;
  emu::flow_use(src.flow, stored);
  emu::flow_use(index.flow, stored);
  emu::flow_use(mask.flow);
  emu::flow_awaited(src.flow);
  emu::flow_awaited(index.flow);
  emu::flow_awaited(mask.flow);
  emu::LaneOf<emu::Bits<I>, kCount> taken;
  for (int i = 0; i < kCount; ++i) {
    if (!emu::active<T>(mask, i * kStep)) continue;
    if (const int other = taken.enter(static_cast<emu::Bits<I>>(index.lane[i]), i); other >= 0) {
      emu::findf("race-simd",
                 "asc_scatter: lanes %d and %d both have the index %llu, and which one "
                 "stays is not defined; line %u",
                 other * kStep, i * kStep, static_cast<unsigned long long>(index.lane[i]),
                 emu::active_counts->line);
    }
    T* at = base + index.lane[i];
    emu::vf_write(at, sizeof(T));
    *at = src.lane[i * kStep];
  }
}
