// Exact conversion between float and the machine's narrower binary formats.
//
// Everything here is branch-free integer arithmetic so that loops over arrays vectorize, and is
// forced inline because traced kernel code and untraced vector code both use it: the compiler
// refuses other inlining across that boundary.
#pragma once

#include <cstdint>

#define EMU_INLINE inline __attribute__((always_inline))

namespace emu {

enum class Rounding { kNearestEven, kNearestAway, kDown, kUp, kTowardZero, kOdd };

// What a finite value too large for the format, or an infinity, becomes.
enum class Overflow {
  kIeee,      // infinity, or NaN in a format without infinities
  kSaturate,  // the largest finite value of the same sign
};

namespace numeric {

// A format of 1 sign, E exponent and M mantissa bits. `kMax` is the code of the largest finite
// value; `kInfinity` and `kNan` are codes without sign. A format without NaN encodes it as zero
// or saturates infinities; see encode().
template <int E, int M, int Bias, uint32_t Max, uint32_t Infinity, uint32_t Nan>
struct Format {
  static constexpr int kExponentBits = E;
  static constexpr int kMantissaBits = M;
  static constexpr int kBias = Bias;
  static constexpr int kSignShift = E + M;
  static constexpr uint32_t kMax = Max;
  static constexpr uint32_t kInfinity = Infinity;
  static constexpr uint32_t kNan = Nan;
};

inline constexpr uint32_t kNoCode = ~0u;

using Binary16 = Format<5, 10, 15, 0x7bff, 0x7c00, 0x7e00>;
using Bfloat16 = Format<8, 7, 127, 0x7f7f, 0x7f80, 0x7fc0>;
using E4M3 = Format<4, 3, 7, 0x7e, kNoCode, 0x7f>;
using E5M2 = Format<5, 2, 15, 0x7b, 0x7c, 0x7e>;
using E2M1 = Format<2, 1, 1, 0x7, kNoCode, kNoCode>;
using E1M2 = Format<1, 2, 1, 0x7, kNoCode, kNoCode>;

// Whether a magnitude with quotient `q` and remainder `rem` of `2 * half` rounds away from zero.
template <Rounding R>
EMU_INLINE constexpr uint32_t round_up(uint32_t q, uint32_t rem, uint32_t half, uint32_t negative) {
  if constexpr (R == Rounding::kNearestEven) return (rem > half) | ((rem == half) & (q & 1));
  if constexpr (R == Rounding::kNearestAway) return rem >= half;
  if constexpr (R == Rounding::kDown) return (rem != 0) & negative;
  if constexpr (R == Rounding::kUp) return (rem != 0) & (negative ^ 1u);
  if constexpr (R == Rounding::kTowardZero) return 0;
  return (rem != 0) & ((q & 1) ^ 1u);  // kOdd
}

// Whether this rounding takes a magnitude above the largest finite one to infinity.
template <Rounding R>
EMU_INLINE constexpr bool overflows(uint32_t negative) {
  if constexpr (R == Rounding::kNearestEven || R == Rounding::kNearestAway) return true;
  if constexpr (R == Rounding::kDown) return negative != 0;
  if constexpr (R == Rounding::kUp) return negative == 0;
  return false;
}

// The code of `x`, sign bit included. Subnormals of both formats are kept.
template <class F, Rounding R = Rounding::kNearestEven, Overflow O = Overflow::kIeee>
EMU_INLINE constexpr uint32_t encode(float x) {
  constexpr int kShift = 23 - F::kMantissaBits;
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  const uint32_t negative = bits >> 31;
  const uint32_t magnitude = bits & 0x7fffffffu;
  const int32_t field = static_cast<int32_t>(magnitude >> 23);
  const uint32_t hidden = field != 0 ? 0x800000u : 0u;
  const uint32_t mantissa = (magnitude & 0x7fffffu) | hidden;
  const int32_t exponent = (field != 0 ? field : 1) - 127 + F::kBias;
  const int32_t below = exponent < 1 ? 1 - exponent : 0;  // places into the subnormal range
  const int32_t places = kShift + below;
  const uint32_t drop = places < 26 ? places : 26;  // a 24-bit mantissa is gone by then
  const uint32_t q = mantissa >> drop;
  const uint32_t rem = mantissa & ((1u << drop) - 1);
  const uint32_t half = 1u << (drop - 1);
  const uint32_t base = static_cast<uint32_t>((exponent < 1 ? 1 : exponent) - 1)
                        << F::kMantissaBits;
  uint32_t code = base + q + round_up<R>(q, rem, half, negative);

  constexpr bool kHasInfinity = F::kInfinity != kNoCode;
  constexpr uint32_t kTop = O == Overflow::kSaturate ? F::kMax
                            : kHasInfinity           ? F::kInfinity
                            : F::kNan != kNoCode     ? F::kNan
                                                     : F::kMax;
  const bool infinite = magnitude == 0x7f800000u;
  const uint32_t large = infinite || overflows<R>(negative) ? kTop : F::kMax;
  code = code > F::kMax || infinite ? large : code;
  code = magnitude > 0x7f800000u ? (F::kNan != kNoCode ? F::kNan : 0u) : code;
  return code | (negative << F::kSignShift);
}

// The exact value of a code.
template <class F>
EMU_INLINE constexpr float decode(uint32_t code) {
  constexpr uint32_t kMantissaMask = (1u << F::kMantissaBits) - 1;
  constexpr uint32_t kExponentMask = (1u << F::kExponentBits) - 1;
  const uint32_t sign = ((code >> F::kSignShift) & 1u) << 31;
  const uint32_t mantissa = code & kMantissaMask;
  const uint32_t field = (code >> F::kMantissaBits) & kExponentMask;
  // 2^(1 - bias - M), the weight of a subnormal's last place; itself subnormal for bfloat16.
  constexpr int kLast = 1 - F::kBias - F::kMantissaBits;
  constexpr uint32_t kLastBits =
      kLast >= -126 ? static_cast<uint32_t>(kLast + 127) << 23 : 1u << (kLast + 149);
  const float tiny =
      static_cast<float>(static_cast<int32_t>(mantissa)) * __builtin_bit_cast(float, kLastBits);
  const uint32_t normal = ((field + 127u - F::kBias) << 23) | (mantissa << (23 - F::kMantissaBits));
  uint32_t bits = field != 0 ? normal : __builtin_bit_cast(uint32_t, tiny);
  if constexpr (F::kInfinity != kNoCode) {
    bits = field == kExponentMask ? 0x7f800000u | (mantissa << (23 - F::kMantissaBits)) : bits;
  } else if constexpr (F::kNan != kNoCode) {
    bits = (code & ((1u << F::kSignShift) - 1)) == F::kNan ? 0x7fc00000u : bits;
  }
  return __builtin_bit_cast(float, bits | sign);
}

// bfloat16 is the upper half of a float.
template <>
EMU_INLINE constexpr float decode<Bfloat16>(uint32_t code) {
  return __builtin_bit_cast(float, code << 16);
}

// The nearest-even conversion to bfloat16 is the hot one; a carry does it all.
template <>
EMU_INLINE constexpr uint32_t encode<Bfloat16, Rounding::kNearestEven, Overflow::kIeee>(float x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const uint32_t nan = ((bits >> 16) & 0x8000u) | Bfloat16::kNan;
  return (bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded;
}

// E8M0 holds a power of two and no sign: 2^(code - 127), 0xff is NaN.
EMU_INLINE constexpr float decode_e8m0(uint32_t code) {
  const uint32_t bits = code == 0 ? 0x400000u : code << 23;
  return __builtin_bit_cast(float, code == 0xff ? 0x7fc00000u : bits);
}

// `x` rounded to an integral value. Exact for every float.
template <Rounding R>
EMU_INLINE float round_integral(float x) {
  const float t = __builtin_truncf(x);
  const float sign = __builtin_copysignf(1.0f, x);
  const float diff = __builtin_fabsf(x - t);  // exact: below 2^23 both share the exponent range
  float away = 0.0f;
  if constexpr (R == Rounding::kNearestEven) {
    const float odd = t - 2.0f * __builtin_truncf(t * 0.5f);
    away = diff > 0.5f || (diff == 0.5f && odd != 0.0f) ? 1.0f : 0.0f;
  } else if constexpr (R == Rounding::kNearestAway) {
    away = diff >= 0.5f ? 1.0f : 0.0f;
  } else if constexpr (R == Rounding::kDown) {
    away = diff != 0.0f && x < 0.0f ? 1.0f : 0.0f;
  } else if constexpr (R == Rounding::kUp) {
    away = diff != 0.0f && x > 0.0f ? 1.0f : 0.0f;
  } else if constexpr (R == Rounding::kOdd) {
    const float odd = t - 2.0f * __builtin_truncf(t * 0.5f);
    away = diff != 0.0f && odd == 0.0f ? 1.0f : 0.0f;
  }
  return __builtin_copysignf(t + sign * away, x);
}

}  // namespace numeric
}  // namespace emu
