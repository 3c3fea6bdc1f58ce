// Scalar conversions of SIMT code with an explicit rounding mode.
#pragma once

#include "emu/numeric/float16.h"
#include "emu/numeric/float8.h"
#include "emu/numeric/vector_types.h"
#include "emu/vector/simt_math.h"

namespace emu::simt {

template <class T, Rounding R, Overflow O>
EMU_INLINE constexpr T to_float16(float x) {
  return T::from_bits(numeric::encode<typename T::format, R, O>(x));
}

template <class T2, Rounding R, Overflow O>
EMU_INLINE constexpr T2 to_float16_pair(float2 v) {
  using T = decltype(T2::x);
  return {to_float16<T, R, O>(v.x), to_float16<T, R, O>(v.y)};
}

}  // namespace emu::simt

// Conversions from float named by rounding mode, and the arithmetic helpers, of one 16-bit type.
#define EMU_16BIT_ROUNDED(T, T2, S, S2, SUFFIX, MODE)                                        \
  EMU_INLINE constexpr T __float2##S##_##SUFFIX(float x) {                                   \
    return emu::simt::to_float16<T, emu::Rounding::MODE, emu::Overflow::kIeee>(x);           \
  }                                                                                          \
  EMU_INLINE constexpr T __float2##S##_##SUFFIX##_sat(float x) {                             \
    return emu::simt::to_float16<T, emu::Rounding::MODE, emu::Overflow::kSaturate>(x);       \
  }                                                                                          \
  EMU_INLINE constexpr T2 __float22##S2##_##SUFFIX(float2 x) {                               \
    return emu::simt::to_float16_pair<T2, emu::Rounding::MODE, emu::Overflow::kIeee>(x);     \
  }                                                                                          \
  EMU_INLINE constexpr T2 __float22##S2##_##SUFFIX##_sat(float2 x) {                         \
    return emu::simt::to_float16_pair<T2, emu::Rounding::MODE, emu::Overflow::kSaturate>(x); \
  }

#define EMU_16BIT_UNARY(T, NAME, EXPRESSION) \
  EMU_NO_TRACE inline T NAME(T v) {          \
    const float x = v;                       \
    return EXPRESSION;                       \
  }

#define EMU_16BIT_FUNCTIONS(T, T2, S, S2)                                          \
  EMU_16BIT_ROUNDED(T, T2, S, S2, rn, kNearestEven)                                \
  EMU_16BIT_ROUNDED(T, T2, S, S2, rna, kNearestAway)                               \
  EMU_16BIT_ROUNDED(T, T2, S, S2, rz, kTowardZero)                                 \
  EMU_16BIT_ROUNDED(T, T2, S, S2, rd, kDown)                                       \
  EMU_16BIT_ROUNDED(T, T2, S, S2, ru, kUp)                                         \
  EMU_16BIT_UNARY(T, hsqrt, emu::math::sqrt_(x))                                   \
  EMU_16BIT_UNARY(T, hrsqrt, emu::math::rsqrt_(x))                                 \
  EMU_16BIT_UNARY(T, hexp, emu::math::exp_(x))                                     \
  EMU_16BIT_UNARY(T, hexp2, emu::math::exp2_(x))                                   \
  EMU_16BIT_UNARY(T, hexp10, emu::math::exp10_(x))                                 \
  EMU_16BIT_UNARY(T, hlog, emu::math::log_(x))                                     \
  EMU_16BIT_UNARY(T, hlog2, emu::math::log2_(x))                                   \
  EMU_16BIT_UNARY(T, hlog10, emu::math::log10_(x))                                 \
  EMU_16BIT_UNARY(T, htanh, emu::math::tanh_(x))                                   \
  EMU_16BIT_UNARY(T, hsin, emu::math::sin_(x))                                     \
  EMU_16BIT_UNARY(T, hcos, emu::math::cos_(x))                                     \
  EMU_16BIT_UNARY(T, hrcp, emu::math::divide_(1.0f, x))                            \
  EMU_16BIT_UNARY(T, hfloor, std::floor(x))                                        \
  EMU_16BIT_UNARY(T, hceil, std::ceil(x))                                          \
  EMU_16BIT_UNARY(T, htrunc, std::trunc(x))                                        \
  EMU_16BIT_UNARY(T, hrint, std::nearbyint(x))                                     \
  EMU_16BIT_UNARY(T, __habs, std::fabs(x))                                         \
  /* Names that TileLang calls although the toolkit's headers do not have them. */ \
  EMU_16BIT_UNARY(T, hfabs, std::fabs(x))                                          \
  EMU_16BIT_UNARY(T, hround, std::round(x))                                        \
  EMU_16BIT_UNARY(T, hlog1p, emu::math::log1p_(x))                                 \
  EMU_16BIT_UNARY(T, htan, emu::math::tan_(x))                                     \
  EMU_16BIT_UNARY(T, hatan, emu::math::atan_(x))                                   \
  EMU_16BIT_UNARY(T, herf, emu::math::erf_(x))                                     \
  EMU_NO_TRACE inline T hatan2(T y, T x) { return emu::math::atan2_(y, x); }       \
  EMU_INLINE bool __hisnan(T x) { return x != x; }                                 \
  EMU_INLINE bool __hisinf(T x) { return __builtin_isinf(float(x)); }              \
  EMU_INLINE T __hmax(T x, T y) { return emu::math::larger(x, y); }                \
  EMU_INLINE T __hmin(T x, T y) { return emu::math::smaller(x, y); }               \
  EMU_INLINE T __hfma(T x, T y, T z) { return static_cast<float>(static_cast<double>(x) * y + z); }
