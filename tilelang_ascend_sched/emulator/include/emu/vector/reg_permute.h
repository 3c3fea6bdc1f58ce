// Broadcasts, index ramps, interleaving, packing, squeezing and histograms of registers.
#pragma once

#include "emu/vector/controls.h"

namespace emu {

// `flow`: of the value, if it comes out of a register.
template <Merge M, class T>
EMU_VECTOR void broadcast(Vec<T>& dst, T value, const Predicate& mask, Flow flow = 0) {
  count<T>();
  Vec<T> r{Raw{}};
  for (T& lane : r.lane) lane = value;
  commit<M>(dst, r, mask, {.a = flow});
}
template <Merge M, class T>
EMU_VECTOR void broadcast_lane(Vec<T>& dst, const Vec<T>& src, int lane, const Predicate& mask) {
  ByteSet bytes;
  bytes.set(lane * sizeof(T), sizeof(T));
  broadcast<M>(dst, T(src.lane[lane]), mask, flow_all(bytes, {.a = src.flow}));
}

// Lane `from` of a source, if `bytes` has lane `to` of the result.
template <class Result, class Source>
EMU_INLINE void trace_lane(ByteSet& taken, const ByteSet& bytes, int to, int from) {
  constexpr int kTaken = sizeof(Source) < sizeof(Result) ? sizeof(Source) : sizeof(Result);
  if (bytes.test(to * sizeof(Result))) taken.set(from * sizeof(Source), kTaken);
}

template <Half H, class N, class W>
EMU_VECTOR ByteSet trace_pack(const ByteSet& used, int) {
  constexpr int kBase = H == Half::kLower ? 0 : Vec<W>::kLanes;
  ByteSet taken;
  for (int i = 0; i < Vec<W>::kLanes; ++i) trace_lane<N, W>(taken, used, kBase + i, i);
  return taken;
}
template <Half H, class W, class N>
EMU_VECTOR ByteSet trace_unpack(const ByteSet& used, int) {
  constexpr int kBase = H == Half::kLower ? 0 : Vec<W>::kLanes;
  ByteSet taken;
  for (int i = 0; i < Vec<W>::kLanes; ++i) trace_lane<W, N>(taken, used, i, kBase + i);
  return taken;
}
// Half H of two registers interleaved, and lanes Odd, Odd + 2, ... of two in a row.
template <Half H, class T>
EMU_VECTOR ByteSet trace_interleaved(const ByteSet& used, int which) {
  constexpr int kHalf = Vec<T>::kLanes / 2;
  constexpr int kBase = H == Half::kLower ? 0 : kHalf;
  ByteSet taken;
  for (int i = 0; i < kHalf; ++i) trace_lane<T, T>(taken, used, 2 * i + which, kBase + i);
  return taken;
}
template <int Odd, class T>
EMU_VECTOR ByteSet trace_deinterleaved(const ByteSet& used, int which) {
  constexpr int kHalf = Vec<T>::kLanes / 2;
  ByteSet taken;
  for (int i = 0; i < kHalf; ++i) trace_lane<T, T>(taken, used, which * kHalf + i, 2 * i + Odd);
  return taken;
}

// One half of the narrow register takes the low halves of the wide elements.
template <Half H, class N, class W>
EMU_VECTOR void pack(Vec<N>& dst, const Vec<W>& src) {
  static_assert(sizeof(W) == 2 * sizeof(N), "asc_pack: half as wide a result");
  count<N>();
  Vec<N> r{Raw{}};
  std::memset(static_cast<void*>(r.lane), 0, kRegisterBytes);
  constexpr int kBase = H == Half::kLower ? 0 : Vec<W>::kLanes;
  for (int i = 0; i < Vec<W>::kLanes; ++i) {
    as_bits(r).lane[kBase + i] = static_cast<Bits<N>>(as_bits(src).lane[i]);
  }
  r.flow = flow_moves(sizeof(N), trace_pack<H, N, W>, src.flow);
  dst = r;
}

// Half of the narrow integers, extended.
template <Half H, class W, class N>
EMU_VECTOR void unpack(Vec<W>& dst, const Vec<N>& src) {
  static_assert(std::is_integral_v<N> && sizeof(W) == 2 * sizeof(N), "asc_unpack: integers");
  count<W>();
  Vec<W> r{Raw{}};
  constexpr int kBase = H == Half::kLower ? 0 : Vec<W>::kLanes;
  for (int i = 0; i < Vec<W>::kLanes; ++i) r.lane[i] = static_cast<W>(src.lane[kBase + i]);
  r.flow = flow_moves(sizeof(W), trace_unpack<H, W, N>, src.flow);
  dst = r;
}

// Adds to lane n how many active elements have the value n, or at most n, counted from the
// first value of the bin.
template <Bin B, bool Cumulative>
EMU_VECTOR void histogram(vector_u16& dst, const vector_u8& src, const Predicate& mask) {
  count<uint8_t>();
  dst.flow =
      flow_all(active_bytes<uint8_t>(mask), {.kept = dst.flow, .a = src.flow, .mask = mask.flow});
  uint16_t counts[256] = {};
  for (int i = 0; i < vector_u8::kLanes; ++i) counts[src.lane[i]] += mask.test(i);
  constexpr int kFirst = B == Bin::kLow ? 0 : 128;
  uint16_t below = 0;
  for (int v = 0; v < kFirst; ++v) below = static_cast<uint16_t>(below + counts[v]);
  for (int i = 0; i < vector_u16::kLanes; ++i) {
    below = static_cast<uint16_t>(below + counts[kFirst + i]);
    const uint16_t add = Cumulative ? below : counts[kFirst + i];
    dst.lane[i] = static_cast<uint16_t>(dst.lane[i] + add);
  }
}

}  // namespace emu

template <class T, class S>
EMU_VECTOR void asc_duplicate_scalar(emu::Vec<T>& dst, S value, vector_bool mask) {
  emu::broadcast<emu::Merge::kZeroing>(dst, static_cast<T>(value), mask);
}
template <class T>
EMU_VECTOR void asc_duplicate(emu::Vec<T>& dst, const emu::Vec<T>& src, vector_bool mask) {
  emu::broadcast_lane<emu::Merge::kZeroing>(dst, src, 0, mask);
}
template <class T>
EMU_VECTOR void asc_duplicate_highest(emu::Vec<T>& dst, const emu::Vec<T>& src, vector_bool mask) {
  emu::broadcast_lane<emu::Merge::kZeroing>(dst, src, emu::Vec<T>::kLanes - 1, mask);
}
template <class T, class S, emu::Merge M>
EMU_VECTOR void vdup(emu::Vec<T>& dst, S value, vector_bool mask, emu::Control<M>) {
  emu::broadcast<M>(dst, static_cast<T>(value), mask);
}
template <class T, emu::Lane L, emu::Merge M>
EMU_VECTOR void vdup(emu::Vec<T>& dst, const emu::Vec<T>& src, vector_bool mask, emu::Control<L>,
                     emu::Control<M>) {
  constexpr int kLane = L == emu::Lane::kLowest ? 0 : emu::Vec<T>::kLanes - 1;
  emu::broadcast_lane<M>(dst, src, kLane, mask);
}

template <class T, class S>
EMU_VECTOR void asc_arange(emu::Vec<T>& dst, S first) {
  emu::count<T>();
  dst.flow = 0;
  for (int i = 0; i < emu::Vec<T>::kLanes; ++i) {
    dst.lane[i] = static_cast<T>(static_cast<T>(first) + static_cast<T>(i));
  }
}
// Downwards to `last`, which is the highest lane.
template <class T, class S>
EMU_VECTOR void asc_arange_descend(emu::Vec<T>& dst, S last) {
  emu::count<T>();
  dst.flow = 0;
  for (int i = 0; i < emu::Vec<T>::kLanes; ++i) {
    dst.lane[i] =
        static_cast<T>(static_cast<T>(last) + static_cast<T>(emu::Vec<T>::kLanes - 1 - i));
  }
}

template <class T>
EMU_VECTOR void asc_intlv(emu::Vec<T>& d0, emu::Vec<T>& d1, const emu::Vec<T>& a,
                          const emu::Vec<T>& b) {
  constexpr int kHalf = emu::Vec<T>::kLanes / 2;
  emu::count<T>();
  emu::Vec<T> low{emu::Raw{}}, high{emu::Raw{}};
  for (int i = 0; i < kHalf; ++i) {
    low.lane[2 * i] = a.lane[i];
    low.lane[2 * i + 1] = b.lane[i];
    high.lane[2 * i] = a.lane[kHalf + i];
    high.lane[2 * i + 1] = b.lane[kHalf + i];
  }
  low.flow =
      emu::flow_moves(sizeof(T), emu::trace_interleaved<emu::Half::kLower, T>, a.flow, b.flow);
  high.flow =
      emu::flow_moves(sizeof(T), emu::trace_interleaved<emu::Half::kHigher, T>, a.flow, b.flow);
  d0 = low;
  d1 = high;
}
template <class T>
EMU_VECTOR void asc_deintlv(emu::Vec<T>& d0, emu::Vec<T>& d1, const emu::Vec<T>& a,
                            const emu::Vec<T>& b) {
  constexpr int kHalf = emu::Vec<T>::kLanes / 2;
  emu::count<T>();
  emu::Vec<T> even{emu::Raw{}}, odd{emu::Raw{}};
  for (int i = 0; i < kHalf; ++i) {
    even.lane[i] = a.lane[2 * i];
    odd.lane[i] = a.lane[2 * i + 1];
    even.lane[kHalf + i] = b.lane[2 * i];
    odd.lane[kHalf + i] = b.lane[2 * i + 1];
  }
  even.flow = emu::flow_moves(sizeof(T), emu::trace_deinterleaved<0, T>, a.flow, b.flow);
  odd.flow = emu::flow_moves(sizeof(T), emu::trace_deinterleaved<1, T>, a.flow, b.flow);
  d0 = even;
  d1 = odd;
}

template <class N, class W>
EMU_VECTOR void asc_pack_to_low(emu::Vec<N>& dst, const emu::Vec<W>& src) {
  emu::pack<emu::Half::kLower>(dst, src);
}
template <class N, class W>
EMU_VECTOR void asc_pack_to_high(emu::Vec<N>& dst, const emu::Vec<W>& src) {
  emu::pack<emu::Half::kHigher>(dst, src);
}
template <class W, class N>
EMU_VECTOR void asc_unpack_lower(emu::Vec<W>& dst, const emu::Vec<N>& src) {
  emu::unpack<emu::Half::kLower>(dst, src);
}
template <class W, class N>
EMU_VECTOR void asc_unpack_upper(emu::Vec<W>& dst, const emu::Vec<N>& src) {
  emu::unpack<emu::Half::kHigher>(dst, src);
}

// The active lanes moved together at the low end, zeros after them.
template <class T>
EMU_VECTOR void asc_squeeze(emu::Vec<T>& dst, const emu::Vec<T>& src, vector_bool mask) {
  emu::count<T>();
  emu::Vec<T> r{emu::Raw{}};
  std::memset(static_cast<void*>(r.lane), 0, emu::kRegisterBytes);
  int next = 0;
  for (int i = 0; i < emu::Vec<T>::kLanes; ++i) {
    if (emu::active<T>(mask, i)) r.lane[next++] = src.lane[i];
  }
  r.flow = emu::flow_all(emu::active_bytes<T>(mask), {.a = src.flow, .mask = mask.flow});
  dst = r;
}

// Lane i gets the number of active lanes below it.
template <class T>
EMU_VECTOR void asc_unsqueeze(emu::Vec<T>& dst, vector_bool mask) {
  emu::count<T>();
  int before = 0;
  for (int i = 0; i < emu::Vec<T>::kLanes; ++i) {
    dst.lane[i] = static_cast<T>(before);
    before += emu::active<T>(mask, i);
  }
  dst.flow = emu::flow_all(emu::kEveryByte, {.mask = mask.flow});
}

EMU_VECTOR void asc_frequency_histogram_bin0(vector_u16& dst, const vector_u8& src,
                                             vector_bool mask) {
  emu::histogram<emu::Bin::kLow, false>(dst, src, mask);
}
EMU_VECTOR void asc_frequency_histogram_bin1(vector_u16& dst, const vector_u8& src,
                                             vector_bool mask) {
  emu::histogram<emu::Bin::kHigh, false>(dst, src, mask);
}
EMU_VECTOR void asc_cumulative_histogram_bin0(vector_u16& dst, const vector_u8& src,
                                              vector_bool mask) {
  emu::histogram<emu::Bin::kLow, true>(dst, src, mask);
}
EMU_VECTOR void asc_cumulative_histogram_bin1(vector_u16& dst, const vector_u8& src,
                                              vector_bool mask) {
  emu::histogram<emu::Bin::kHigh, true>(dst, src, mask);
}
