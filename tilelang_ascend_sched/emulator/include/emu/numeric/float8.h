// The 8-bit and 4-bit formats. They are storage: conversions to and from float, no arithmetic.
// A conversion from float rounds to nearest even and saturates, as the device's casts do.
#pragma once

#include <type_traits>

#include "emu/numeric/minifloat.h"

namespace emu {

template <class F>
struct Float8 {
  uint8_t data;

  Float8() = default;
  template <class A>
    requires(std::is_convertible_v<A, float> && !std::is_same_v<A, Float8>)
  EMU_INLINE constexpr explicit Float8(A value)
      : data(static_cast<uint8_t>(numeric::encode<F, Rounding::kNearestEven, Overflow::kSaturate>(
            static_cast<float>(value)))) {}

  EMU_INLINE constexpr operator float() const { return numeric::decode<F>(data); }

  static EMU_INLINE constexpr Float8 from_bits(uint32_t code) {
    Float8 result;
    result.data = static_cast<uint8_t>(code);
    return result;
  }
};

// Two values in one 16-bit word, the first in the low byte.
template <class F>
struct Float8Pair {
  uint16_t data;
};

// Two 4-bit values in one byte, the first in the low nibble.
template <class F>
struct Float4Pair {
  uint8_t data;

  EMU_INLINE constexpr float operator[](int i) const {
    return numeric::decode<F>((data >> (4 * i)) & 0xfu);
  }
};

}  // namespace emu

using float8_e4m3_t = emu::Float8<emu::numeric::E4M3>;
using float8_e5m2_t = emu::Float8<emu::numeric::E5M2>;
using float8_e4m3x2_t = emu::Float8Pair<emu::numeric::E4M3>;
using float8_e5m2x2_t = emu::Float8Pair<emu::numeric::E5M2>;
using float4_e2m1x2_t = emu::Float4Pair<emu::numeric::E2M1>;
using float4_e1m2x2_t = emu::Float4Pair<emu::numeric::E1M2>;

// A power of two without sign, the scale of a block in the MX formats.
struct float8_e8m0_t {
  uint8_t data;
  EMU_INLINE constexpr operator float() const { return emu::numeric::decode_e8m0(data); }
};
using fp8_e8m0_t = float8_e8m0_t;
