// Vector and predicate registers of the SIMD unit, and predication.
//
// A vector register is 256 bytes. A predicate register has one bit for each of them; an element
// of B bytes is governed by the lowest bit of its B, and instructions write only that one.
#pragma once

#include <cstring>
#include <type_traits>

#include "emu/flow.h"
#include "emu/numeric/float16.h"
#include "emu/numeric/float8.h"
#include "emu/vector/counts.h"

namespace emu {

// Leaves a register's content unset, for results about to be written.
struct Raw {};

template <class T>
struct alignas(64) [[gnu::may_alias]] Vec {
  using element = T;
  static constexpr int kLanes = kRegisterBytes / sizeof(T);

  T lane[kLanes];
  Flow flow = 0;

  // A register nobody wrote reads as NaN in every float format.
  EMU_NO_TRACE Vec() { std::memset(static_cast<void*>(lane), 0xff, sizeof(lane)); }
  EMU_INLINE explicit Vec(Raw) {}
};

struct Predicate {
  uint64_t word[4] = {};
  Flow flow = 0;

  EMU_INLINE bool test(int bit) const { return word[bit >> 6] >> (bit & 63) & 1u; }
  EMU_INLINE void set(int bit, bool value) {
    const uint64_t one = uint64_t{1} << (bit & 63);
    word[bit >> 6] = value ? word[bit >> 6] | one : word[bit >> 6] & ~one;
  }
};

// The bits that govern elements of B bytes.
template <int B>
inline constexpr uint64_t kElementBits = B == 1   ? ~uint64_t{0}
                                         : B == 2 ? 0x5555555555555555u
                                         : B == 4 ? 0x1111111111111111u
                                                  : 0x0101010101010101u;

template <class T>
EMU_INLINE bool active(const Predicate& mask, int lane) {
  return mask.test(lane * static_cast<int>(sizeof(T)));
}

template <class T>
EMU_INLINE bool all_active(const Predicate& mask) {
  constexpr uint64_t kBits = kElementBits<sizeof(T)>;
  return (mask.word[0] & mask.word[1] & mask.word[2] & mask.word[3] & kBits) == kBits;
}

template <class T>
using Bits =
    std::conditional_t<sizeof(T) == 1, uint8_t,
                       std::conditional_t<sizeof(T) == 2, uint16_t,
                                          std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

template <class T>
EMU_INLINE Vec<Bits<T>>& as_bits(Vec<T>& v) {
  return reinterpret_cast<Vec<Bits<T>>&>(v);
}
template <class T>
EMU_INLINE const Vec<Bits<T>>& as_bits(const Vec<T>& v) {
  return reinterpret_cast<const Vec<Bits<T>>&>(v);
}

// One all-ones or all-zeros element for each lane.
template <class T>
EMU_INLINE void expand(const Predicate& mask, Bits<T> (&lanes)[Vec<T>::kLanes]) {
  constexpr int kPerWord = 64 / sizeof(T);
  for (int w = 0; w < 4; ++w) {
    for (int i = 0; i < kPerWord; ++i) {
      const uint64_t bit = mask.word[w] >> (i * sizeof(T)) & 1u;
      lanes[w * kPerWord + i] = static_cast<Bits<T>>(0 - bit);
    }
  }
}

// Collects one truth value for each lane into a predicate.
template <class T>
EMU_INLINE Predicate collect(const Bits<T> (&lanes)[Vec<T>::kLanes]) {
  constexpr int kPerWord = 64 / sizeof(T);
  Predicate mask;
  for (int w = 0; w < 4; ++w) {
    uint64_t word = 0;
    for (int i = 0; i < kPerWord; ++i) {
      word |= static_cast<uint64_t>(lanes[w * kPerWord + i] & 1u) << (i * sizeof(T));
    }
    mask.word[w] = word;
  }
  return mask;
}

// `count` bits, less than 64.
constexpr uint64_t low_bytes(size_t count) { return (uint64_t{1} << count) - 1; }

// The bytes of the active elements.
template <class T>
EMU_INLINE ByteSet active_bytes(const Predicate& mask) {
  ByteSet bytes;
  for (int w = 0; w < ByteSet::kWords; ++w) {
    bytes.word[w] = (mask.word[w] & kElementBits<sizeof(T)>)*low_bytes(sizeof(T));
  }
  return bytes;
}

// What masked-off lanes of a result become.
enum class Merge : bool { kZeroing, kMerging };

// `from`: what the lanes of `result` were computed from.
template <Merge M, class T>
EMU_VECTOR void commit(Vec<T>& dst, const Vec<T>& result, const Predicate& mask,
                       Sources from = {}) {
  from.mask = mask.flow;
  if (all_active<T>(mask)) {
    dst = result;
    dst.flow = flow_lanes(sizeof(T), kEveryByte, kEveryByte, from);
    return;
  }
  if constexpr (M == Merge::kMerging) from.kept = dst.flow;
  const ByteSet computed = active_bytes<T>(mask);
  dst.flow = flow_lanes(sizeof(T), computed, computed, from);
  Bits<T> on[Vec<T>::kLanes];
  expand<T>(mask, on);
  Vec<Bits<T>>& out = as_bits(dst);
  const Vec<Bits<T>>& in = as_bits(result);
  for (int i = 0; i < Vec<T>::kLanes; ++i) {
    const Bits<T> kept = M == Merge::kMerging ? out.lane[i] : Bits<T>{0};
    out.lane[i] = static_cast<Bits<T>>((in.lane[i] & on[i]) | (kept & ~on[i]));
  }
}

enum class Cost : uint8_t { kAlu, kDiv, kSpecial };

// Counts one instruction over every lane of T.
template <class T, Cost C = Cost::kAlu>
EMU_INLINE void count() {
  if constexpr (C == Cost::kAlu) active_counts->alu += Vec<T>::kLanes;
  if constexpr (C == Cost::kDiv) active_counts->div += Vec<T>::kLanes;
  if constexpr (C == Cost::kSpecial) active_counts->special += Vec<T>::kLanes;
}

// Element types that the arithmetic instructions know.
template <class T>
concept Arithmetic = std::is_arithmetic_v<T> || is_float16<T>;
template <class T>
concept Floating = std::is_floating_point_v<T> || is_float16<T>;

}  // namespace emu

using vector_bool = emu::Predicate;
using vector_f32 = emu::Vec<float>;
using vector_f16 = emu::Vec<half>;
using vector_bf16 = emu::Vec<bfloat16_t>;
using vector_f8e4m3 = emu::Vec<float8_e4m3_t>;
using vector_f8e5m2 = emu::Vec<float8_e5m2_t>;
using vector_f8e8m0 = emu::Vec<float8_e8m0_t>;
using vector_f4e2m1x2 = emu::Vec<float4_e2m1x2_t>;
using vector_f4e1m2x2 = emu::Vec<float4_e1m2x2_t>;
using vector_s8 = emu::Vec<int8_t>;
using vector_u8 = emu::Vec<uint8_t>;
using vector_s16 = emu::Vec<int16_t>;
using vector_u16 = emu::Vec<uint16_t>;
using vector_s32 = emu::Vec<int32_t>;
using vector_u32 = emu::Vec<uint32_t>;
using vector_s64 = emu::Vec<int64_t>;
using vector_u64 = emu::Vec<uint64_t>;
using vector_int8_t = vector_s8;
using vector_uint8_t = vector_u8;
using vector_int16_t = vector_s16;
using vector_uint16_t = vector_u16;
using vector_int32_t = vector_s32;
using vector_uint32_t = vector_u32;
using vector_int64_t = vector_s64;
using vector_uint64_t = vector_u64;
using vector_half = vector_f16;
using vector_bfloat16_t = vector_bf16;
using vector_float = vector_f32;
