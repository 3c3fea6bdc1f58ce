// Loads and stores between UB and registers. Each reports the bytes it touches, for masked stores
// the active lanes only.
#pragma once

#include "emu/vector/controls.h"
#include "emu/vector/reg_mask.h"
#include "emu/vector/reg_permute.h"

namespace emu {

// UB addresses of an instruction are multiples of its alignment, in bytes. The first one of a
// body that is not is reported.
EMU_VECTOR void check_aligned(const void* address, uintptr_t alignment, const char* instruction) {
  const uintptr_t offset =
      reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(ub_base());
  if (offset % alignment == 0 || misaligned_found) return;
  misaligned_found = true;
  findf("alignment", "%s: UB address %llu is not a multiple of %llu bytes", instruction,
        static_cast<unsigned long long>(offset), static_cast<unsigned long long>(alignment));
}

EMU_VECTOR void note_load(const void* address, uint64_t bytes) {
  ++active_counts->loads;
  vf_read(address, bytes);
}

// Lane i, a multiple of Step, holds element i / Divisor, counted modulo Period. Other lanes hold
// nothing loaded.
template <class T, int Step, int Divisor, int Period>
EMU_VECTOR ByteSet trace_loaded(const ByteSet& used, int) {
  ByteSet taken;
  for (int i = 0; i < Vec<T>::kLanes; i += Step) {
    trace_lane<T, T>(taken, used, i, i / Divisor % Period);
  }
  return taken;
}
EMU_VECTOR void note_store(const void* address, uint64_t bytes) {
  ++active_counts->stores;
  vf_write(address, bytes);
}

// Two registers in a row.
struct FlowPair {
  Flow low, high;
};
template <class T>
EMU_VECTOR FlowPair load_two(const T* src) {
  ++active_counts->loads;
  return {flow_load(src, kRegisterBytes, sizeof(T), nullptr),
          flow_load(src + Vec<T>::kLanes, kRegisterBytes, sizeof(T), nullptr)};
}

template <class T>
EMU_VECTOR void load_norm(Vec<T>& dst, const T* src) {
  check_aligned(src, kBlockBytes, "asc_loadalign");
  ++active_counts->loads;
  dst.flow = flow_load(src, kRegisterBytes, sizeof(T), nullptr);
  std::memcpy(static_cast<void*>(dst.lane), src, kRegisterBytes);
}

template <class T>
EMU_VECTOR void load_brc_elem(Vec<T>& dst, const T* src) {
  check_aligned(src, sizeof(T), "asc_loadalign_brc_elem");
  ++active_counts->loads;
  dst.flow = flow_load(src, sizeof(T), sizeof(T), trace_loaded<T, 1, 1, 1>);
  const T value = *src;
  for (int i = 0; i < Vec<T>::kLanes; ++i) dst.lane[i] = value;
}

template <class T>
EMU_VECTOR void load_upsample(Vec<T>& dst, const T* src) {
  static_assert(sizeof(T) <= 2, "asc_loadalign_upsample: element of 8 or 16 bits");
  check_aligned(src, kBlockBytes, "asc_loadalign_upsample");
  ++active_counts->loads;
  dst.flow = flow_load(src, kRegisterBytes / 2, sizeof(T), trace_loaded<T, 1, 2, Vec<T>::kLanes>);
  for (int i = 0; i < Vec<T>::kLanes; ++i) dst.lane[i] = src[i / 2];
}

template <class T>
EMU_VECTOR void load_downsample(Vec<T>& dst, const T* src) {
  static_assert(sizeof(T) <= 2, "asc_loadalign_downsample: element of 8 or 16 bits");
  check_aligned(src, kBlockBytes, "asc_loadalign_downsample");
  const FlowPair flow = load_two(src);
  dst.flow = flow_moves(sizeof(T), trace_deinterleaved<0, T>, flow.low, flow.high);
  for (int i = 0; i < Vec<T>::kLanes; ++i) dst.lane[i] = src[2 * i];
}

// Every element is followed by Ratio - 1 elements of zero.
template <int Ratio, class T>
EMU_VECTOR void load_unpack(Vec<T>& dst, const T* src) {
  static_assert(Ratio == 2 ? sizeof(T) <= 4 : sizeof(T) == 1,
                "asc_loadalign_unpack: element too wide");
  check_aligned(src, kBlockBytes, "asc_loadalign_unpack");
  ++active_counts->loads;
  dst.flow = flow_load(src, kRegisterBytes / Ratio, sizeof(T),
                       trace_loaded<T, Ratio, Ratio, Vec<T>::kLanes>);
  std::memset(static_cast<void*>(dst.lane), 0, kRegisterBytes);
  for (int i = 0; i < Vec<T>::kLanes / Ratio; ++i) dst.lane[i * Ratio] = src[i];
}
template <class T>
EMU_VECTOR void load_unpack2(Vec<T>& dst, const T* src) {
  load_unpack<2>(dst, src);
}
template <class T>
EMU_VECTOR void load_unpack4(Vec<T>& dst, const T* src) {
  load_unpack<4>(dst, src);
}

template <class T>
EMU_VECTOR void load_brc_datablock(Vec<T>& dst, const T* src) {
  check_aligned(src, kBlockBytes, "asc_loadalign_brc_datablock");
  ++active_counts->loads;
  dst.flow =
      flow_load(src, kBlockBytes, sizeof(T), trace_loaded<T, 1, 1, kBlockBytes / int{sizeof(T)}>);
  char* out = reinterpret_cast<char*>(dst.lane);
  for (int b = 0; b < kRegisterBytes; b += kBlockBytes) std::memcpy(out + b, src, kBlockBytes);
}

template <class T>
EMU_VECTOR void load_brc_elem2datablock(Vec<T>& dst, const T* src) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4,
                "asc_loadalign_brc_elem2datablock: element of 16 or 32 bits");
  constexpr int kBlockLanes = kBlockBytes / sizeof(T);
  check_aligned(src, 8 * sizeof(T), "asc_loadalign_brc_elem2datablock");
  ++active_counts->loads;
  dst.flow =
      flow_load(src, 8 * sizeof(T), sizeof(T), trace_loaded<T, 1, kBlockLanes, Vec<T>::kLanes>);
  for (int i = 0; i < Vec<T>::kLanes; ++i) dst.lane[i] = src[i / kBlockLanes];
}

// Active lanes leave the registers; which ones, the mask decides.
template <class T>
EMU_VECTOR void leave(const Vec<T>& src, const Predicate& mask) {
  flow_use(src.flow, active_bytes<T>(mask));
  flow_use(mask.flow);
  flow_awaited(src.flow);
  flow_awaited(mask.flow);
}

template <class T>
EMU_VECTOR void store_lanes(T* dst, const Vec<T>& src, const Predicate& mask) {
  ++active_counts->stores;
  leave(src, mask);
  if (all_active<T>(mask)) {
    vf_write(dst, kRegisterBytes);
    std::memcpy(static_cast<void*>(dst), src.lane, kRegisterBytes);
    return;
  }
  int first = 0;
  while (first < Vec<T>::kLanes) {
    if (!active<T>(mask, first)) {
      ++first;
      continue;
    }
    int last = first;
    for (; last < Vec<T>::kLanes && active<T>(mask, last); ++last) dst[last] = src.lane[last];
    vf_write(dst + first, (last - first) * sizeof(T));
    first = last;
  }
}

// The low sizeof(Narrow) bytes of every active lane, one after the other.
template <class Narrow, class Wide>
EMU_VECTOR void store_packed(void* dst, const Vec<Wide>& src, const Predicate& mask) {
  check_aligned(dst, kBlockBytes, "asc_storealign_pack");
  ++active_counts->stores;
  leave(src, mask);
  char* out = static_cast<char*>(dst);
  for (int i = 0; i < Vec<Wide>::kLanes; ++i) {
    if (!active<Wide>(mask, i)) continue;
    char* at = out + i * sizeof(Narrow);
    vf_write(at, sizeof(Narrow));
    std::memcpy(at, &src.lane[i], sizeof(Narrow));
  }
}

// Eight blocks of 32 bytes, `block_stride` blocks apart. Blocks without an active lane are left
// out.
template <class T>
EMU_VECTOR void store_blocks(T* dst, const Vec<T>& src, uint32_t block_stride,
                             const Predicate& mask) {
  constexpr int kBlockLanes = kBlockBytes / sizeof(T);
  check_aligned(dst, kBlockBytes, "asc_storealign");
  ++active_counts->stores;
  leave(src, mask);
  for (int b = 0; b < kRegisterBytes / kBlockBytes; ++b) {
    T* out = dst + b * block_stride * kBlockLanes;
    const T* in = src.lane + b * kBlockLanes;
    const uint32_t bits = static_cast<uint32_t>(mask.word[b / 2] >> (b % 2 * 32)) &
                          static_cast<uint32_t>(kElementBits<sizeof(T)>);
    if (bits == static_cast<uint32_t>(kElementBits<sizeof(T)>)) {
      vf_write(out, kBlockBytes);
      std::memcpy(static_cast<void*>(out), in, kBlockBytes);
      continue;
    }
    for (int i = 0; i < kBlockLanes; ++i) {
      if ((bits >> (i * sizeof(T)) & 1u) == 0) continue;
      vf_write(out + i, sizeof(T));
      out[i] = in[i];
    }
  }
}

// A register that the loop around it moves on by a step each time it comes round, in elements of
// Bits bits. Calls of asc_update_addr_reg are put into the text in this form.
struct AddressRegister {
  int64_t bytes;
};
template <int Bits>
EMU_VECTOR AddressRegister address_register(int64_t trips, uint32_t step) {
  return {trips * step * (Bits / 8)};
}

}  // namespace emu

// Loads by distribution. The form with postupdate reads at the old address and then advances it.
#define EMU_LOAD(NAME, LOAD)                                                            \
  template <class T>                                                                    \
  EMU_VECTOR void NAME(emu::Vec<T>& dst, __ubuf__ T* src, int32_t offset) {             \
    emu::LOAD(dst, src + offset);                                                       \
  }                                                                                     \
  template <class T>                                                                    \
  EMU_VECTOR void NAME(emu::Vec<T>& dst, __ubuf__ T* src) {                             \
    emu::LOAD(dst, src);                                                                \
  }                                                                                     \
  template <class T>                                                                    \
  EMU_VECTOR void NAME##_postupdate(emu::Vec<T>& dst, __ubuf__ T*& src, int32_t step) { \
    emu::LOAD(dst, src);                                                                \
    src += step;                                                                        \
  }
EMU_LOAD(asc_loadalign, load_norm)
EMU_LOAD(asc_loadalign_brc_elem, load_brc_elem)
EMU_LOAD(asc_loadalign_upsample, load_upsample)
EMU_LOAD(asc_loadalign_downsample, load_downsample)
EMU_LOAD(asc_loadalign_unpack, load_unpack2)
EMU_LOAD(asc_loadalign_unpack4, load_unpack4)
EMU_LOAD(asc_loadalign_brc_datablock, load_brc_datablock)
EMU_LOAD(asc_loadalign_brc_elem2datablock, load_brc_elem2datablock)
#undef EMU_LOAD

// Two registers from twice the bytes: even elements and odd elements.
template <class T>
EMU_VECTOR void asc_loadalign_deintlv(emu::Vec<T>& even, emu::Vec<T>& odd, __ubuf__ T* src,
                                      int32_t offset = 0) {
  src += offset;
  emu::check_aligned(src, emu::kBlockBytes, "asc_loadalign_deintlv");
  const emu::FlowPair flow = emu::load_two(src);
  even.flow = emu::flow_moves(sizeof(T), emu::trace_deinterleaved<0, T>, flow.low, flow.high);
  odd.flow = emu::flow_moves(sizeof(T), emu::trace_deinterleaved<1, T>, flow.low, flow.high);
  for (int i = 0; i < emu::Vec<T>::kLanes; ++i) {
    even.lane[i] = src[2 * i];
    odd.lane[i] = src[2 * i + 1];
  }
}

template <class T>
EMU_VECTOR void asc_loadalign_deintlv(emu::Vec<T>& even, emu::Vec<T>& odd, __ubuf__ T* src,
                                      emu::AddressRegister offset) {
  asc_loadalign_deintlv(even, odd, src + offset.bytes / static_cast<int64_t>(sizeof(T)));
}

template <class T>
EMU_VECTOR void asc_storealign(__ubuf__ T* dst, const emu::Vec<T>& src, int32_t offset,
                               vector_bool mask) {
  emu::check_aligned(dst + offset, emu::kBlockBytes, "asc_storealign");
  emu::store_lanes(dst + offset, src, mask);
}

// The first lane, whatever the mask.
template <class T>
EMU_VECTOR void asc_storealign_1st(__ubuf__ T* dst, const emu::Vec<T>& src, int32_t offset) {
  dst += offset;
  emu::check_aligned(dst, sizeof(T), "asc_storealign_1st");
  emu::ByteSet first;
  first.set(0, sizeof(T));
  emu::flow_use(src.flow, first);
  emu::flow_awaited(src.flow);
  emu::note_store(dst, sizeof(T));
  *dst = src.lane[0];
}

template <class P, class T>
EMU_VECTOR void asc_storealign_pack(__ubuf__ P* dst, const emu::Vec<T>& src, int32_t offset,
                                    vector_bool mask) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4, "asc_storealign_pack: 16 or 32 bits");
  using Half = std::conditional_t<sizeof(T) == 2, uint8_t, uint16_t>;
  emu::store_packed<Half>(dst + offset, src, mask);
}

template <class P, class T>
EMU_VECTOR void asc_storealign_pack_quarter(__ubuf__ P* dst, const emu::Vec<T>& src, int32_t offset,
                                            vector_bool mask) {
  static_assert(sizeof(T) == 4, "asc_storealign_pack_quarter: 32 bits");
  emu::store_packed<uint8_t>(dst + offset, src, mask);
}

// Block stores. Without postupdate the address already includes the repeat stride.
template <class T>
EMU_VECTOR void asc_storealign(__ubuf__ T* dst, const emu::Vec<T>& src, uint16_t block_stride,
                               uint16_t repeat_stride, vector_bool mask) {
  constexpr int kBlockLanes = emu::kBlockBytes / sizeof(T);
  emu::store_blocks(dst + repeat_stride * kBlockLanes, src, block_stride, mask);
}
template <class T>
EMU_VECTOR void asc_storealign_postupdate(__ubuf__ T*& dst, const emu::Vec<T>& src,
                                          uint16_t block_stride, uint16_t repeat_stride,
                                          vector_bool mask) {
  constexpr int kBlockLanes = emu::kBlockBytes / sizeof(T);
  emu::store_blocks(dst, src, block_stride, mask);
  dst += repeat_stride * kBlockLanes;
}

// Predicates: 32 bytes as they are, each bit twice from 16, every other bit of 64; offsets in
// bytes.
EMU_VECTOR void asc_loadalign(vector_bool& dst, __ubuf__ uint32_t* src, int32_t offset) {
  const char* at = reinterpret_cast<const char*>(src) + offset;
  emu::check_aligned(at, 32, "asc_loadalign of a predicate");
  emu::note_load(at, sizeof(dst.word));
  dst.flow = emu::flow_after_loads();
  std::memcpy(dst.word, at, sizeof(dst.word));
}
EMU_VECTOR void asc_loadalign_upsample(vector_bool& dst, __ubuf__ uint32_t* src, int32_t offset) {
  const char* at = reinterpret_cast<const char*>(src) + offset;
  emu::check_aligned(at, 16, "asc_loadalign_upsample of a predicate");
  emu::note_load(at, 16);
  dst.flow = emu::flow_after_loads();
  uint32_t in[4];
  std::memcpy(in, at, sizeof(in));
  for (int w = 0; w < 4; ++w) {
    const uint64_t bits = emu::spread_bits(in[w]);
    dst.word[w] = bits | bits << 1;
  }
}
EMU_VECTOR void asc_loadalign_downsample(vector_bool& dst, __ubuf__ uint32_t* src, int32_t offset) {
  const char* at = reinterpret_cast<const char*>(src) + offset;
  emu::check_aligned(at, 32, "asc_loadalign_downsample of a predicate");
  emu::note_load(at, 64);
  dst.flow = emu::flow_after_loads();
  uint64_t in[8];
  std::memcpy(in, at, sizeof(in));
  for (int w = 0; w < 4; ++w) {
    dst.word[w] = emu::even_bits(in[2 * w]) | emu::even_bits(in[2 * w + 1]) << 32;
  }
}
EMU_VECTOR void asc_storealign(__ubuf__ uint32_t* dst, vector_bool src, int32_t offset) {
  char* at = reinterpret_cast<char*>(dst) + offset;
  emu::check_aligned(at, 32, "asc_storealign of a predicate");
  emu::flow_use(src.flow);
  emu::flow_awaited(src.flow);
  emu::note_store(at, sizeof(src.word));
  std::memcpy(at, src.word, sizeof(src.word));
}
EMU_VECTOR void asc_storealign_pack(__ubuf__ uint32_t* dst, vector_bool src, int32_t offset) {
  char* at = reinterpret_cast<char*>(dst) + offset;
  emu::check_aligned(at, 16, "asc_storealign_pack of a predicate");
  emu::flow_use(src.flow);
  emu::flow_awaited(src.flow);
  emu::note_store(at, 16);
  uint32_t out[4];
  for (int w = 0; w < 4; ++w) out[w] = static_cast<uint32_t>(emu::even_bits(src.word[w]));
  std::memcpy(at, out, sizeof(out));
}
