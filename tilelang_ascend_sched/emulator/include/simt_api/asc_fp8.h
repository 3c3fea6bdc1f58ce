// Conversions between float2 and pairs of fp8 values.
#pragma once

#include "emu/numeric/float8.h"
#include "emu/numeric/vector_types.h"
#include "emu/vector/qualifiers.h"

enum __asc_fp8_interpretation_t { __ASC_E4M3, __ASC_E5M2 };
enum __asc_saturation_t { __ASC_NOSAT, __ASC_SATFINITE };
using __asc_fp8x2_storage_t = unsigned short;

namespace emu::simt {

template <class F>
EMU_INLINE constexpr float2 decode_pair(uint32_t pair) {
  return {numeric::decode<F>(pair & 0xffu), numeric::decode<F>(pair >> 8)};
}

template <class F>
EMU_INLINE constexpr uint32_t encode_fp8(float x, bool saturate) {
  return saturate ? numeric::encode<F, Rounding::kNearestEven, Overflow::kSaturate>(x)
                  : numeric::encode<F, Rounding::kNearestEven, Overflow::kIeee>(x);
}

}  // namespace emu::simt

EMU_INLINE constexpr float2 __e4m3x22float2(float8_e4m3x2_t x) {
  return emu::simt::decode_pair<emu::numeric::E4M3>(x.data);
}
EMU_INLINE constexpr float2 __e5m2x22float2(float8_e5m2x2_t x) {
  return emu::simt::decode_pair<emu::numeric::E5M2>(x.data);
}

EMU_INLINE constexpr __asc_fp8x2_storage_t __asc_cvt_float2_to_fp8x2(
    float2 v, __asc_saturation_t saturation, __asc_fp8_interpretation_t format) {
  const bool saturate = saturation == __ASC_SATFINITE;
  const uint32_t low = format == __ASC_E4M3
                           ? emu::simt::encode_fp8<emu::numeric::E4M3>(v.x, saturate)
                           : emu::simt::encode_fp8<emu::numeric::E5M2>(v.x, saturate);
  const uint32_t high = format == __ASC_E4M3
                            ? emu::simt::encode_fp8<emu::numeric::E4M3>(v.y, saturate)
                            : emu::simt::encode_fp8<emu::numeric::E5M2>(v.y, saturate);
  return static_cast<__asc_fp8x2_storage_t>(low | high << 8);
}
