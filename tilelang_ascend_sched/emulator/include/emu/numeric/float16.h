// half and bfloat16_t: storage of 16 bits, arithmetic that rounds to nearest even after every
// operation. A float holds the exact operands, and its 24 bits are enough for one operation and
// a second rounding to be right (24 >= 2 * 11 + 2).
#pragma once

#include <type_traits>

#include "emu/numeric/minifloat.h"

namespace emu {

template <class F>
struct Float16 {
  using format = F;
  uint16_t bits;

  Float16() = default;

  template <class A>
    requires(std::is_convertible_v<A, float> && !std::is_same_v<A, Float16>)
  EMU_INLINE constexpr Float16(A value)
      : bits(static_cast<uint16_t>(numeric::encode<F>(static_cast<float>(value)))) {}

  EMU_INLINE constexpr operator float() const { return numeric::decode<F>(bits); }

  static EMU_INLINE constexpr Float16 from_bits(uint32_t code) {
    Float16 result;
    result.bits = static_cast<uint16_t>(code);
    return result;
  }
};

template <class T>
inline constexpr bool is_float16 = false;
template <class F>
inline constexpr bool is_float16<Float16<F>> = true;

// A 16-bit float meets an integer: the integer is converted. It meets a float: it is promoted.
#define EMU_FLOAT16_ARITHMETIC(OP)                                          \
  template <class F>                                                        \
  EMU_INLINE constexpr Float16<F> operator OP(Float16<F> a, Float16<F> b) { \
    return static_cast<float>(a) OP static_cast<float>(b);                  \
  }                                                                         \
  template <class F, class A>                                               \
    requires std::is_integral_v<A>                                          \
  EMU_INLINE constexpr Float16<F> operator OP(Float16<F> a, A b) {          \
    return a OP Float16<F>(b);                                              \
  }                                                                         \
  template <class F, class A>                                               \
    requires std::is_integral_v<A>                                          \
  EMU_INLINE constexpr Float16<F> operator OP(A a, Float16<F> b) {          \
    return Float16<F>(a) OP b;                                              \
  }                                                                         \
  template <class F, class A>                                               \
    requires std::is_floating_point_v<A>                                    \
  EMU_INLINE constexpr A operator OP(Float16<F> a, A b) {                   \
    return static_cast<float>(a) OP b;                                      \
  }                                                                         \
  template <class F, class A>                                               \
    requires std::is_floating_point_v<A>                                    \
  EMU_INLINE constexpr A operator OP(A a, Float16<F> b) {                   \
    return a OP static_cast<float>(b);                                      \
  }                                                                         \
  template <class F, class A>                                               \
  EMU_INLINE constexpr Float16<F>& operator OP## = (Float16<F> & a, A b) {  \
    return a = Float16<F>(a OP b);                                          \
  }

EMU_FLOAT16_ARITHMETIC(+)
EMU_FLOAT16_ARITHMETIC(-)
EMU_FLOAT16_ARITHMETIC(*)
EMU_FLOAT16_ARITHMETIC(/)
#undef EMU_FLOAT16_ARITHMETIC

template <class F>
EMU_INLINE constexpr Float16<F> operator-(Float16<F> a) {
  return Float16<F>::from_bits(a.bits ^ 0x8000u);
}

template <class F>
struct Float16Pair {
  Float16<F> x, y;
};

}  // namespace emu

using half = emu::Float16<emu::numeric::Binary16>;
using bfloat16_t = emu::Float16<emu::numeric::Bfloat16>;
using half2 = emu::Float16Pair<emu::numeric::Binary16>;
using bfloat16x2_t = emu::Float16Pair<emu::numeric::Bfloat16>;
