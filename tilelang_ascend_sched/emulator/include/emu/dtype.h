// Element types as the data movers and the Cube see them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "emu/numeric/float16.h"
#include "emu/numeric/float8.h"

// The wheel's own 8-bit types, defined in its templates.
namespace tl {
struct float_e4m3_t;
struct float_e5m2_t;
}  // namespace tl

namespace emu {

enum class DType : uint8_t {
  B8,
  B16,
  B32,
  B64,
  F32,
  F16,
  BF16,
  E4M3,
  E5M2,
  E8M0,
  E2M1x2,
  E1M2x2,
  S8,
  S16,
  S32,
  U8,
};

constexpr const char* dtype_name(DType t) {
  constexpr const char* kNames[] = {"8-bit",       "16-bit",      "32-bit",      "64-bit",
                                    "float32",     "float16",     "bfloat16",    "float8_e4m3",
                                    "float8_e5m2", "float8_e8m0", "float4_e2m1", "float4_e1m2",
                                    "int8",        "int16",       "int32",       "uint8"};
  return kNames[int(t)];
}

// Two elements share a byte.
constexpr bool is_float4(DType t) { return t == DType::E2M1x2 || t == DType::E1M2x2; }
constexpr bool is_integer(DType t) {
  return t == DType::S8 || t == DType::S16 || t == DType::S32 || t == DType::U8;
}

constexpr uint32_t dtype_bytes(DType t) {
  switch (t) {
    case DType::B16:
    case DType::F16:
    case DType::BF16:
    case DType::S16:
      return 2;
    case DType::B32:
    case DType::F32:
    case DType::S32:
      return 4;
    case DType::B64:
      return 8;
    default:
      return 1;
  }
}

template <class T>
struct DTypeOf {
  static constexpr DType value = sizeof(T) == 8   ? DType::B64
                                 : sizeof(T) == 4 ? DType::B32
                                 : sizeof(T) == 2 ? DType::B16
                                                  : DType::B8;
};

#define EMU_DTYPE(type, dtype)                   \
  template <>                                    \
  struct DTypeOf<type> {                         \
    static constexpr DType value = DType::dtype; \
  };
EMU_DTYPE(float, F32)
EMU_DTYPE(int32_t, S32)
EMU_DTYPE(int16_t, S16)
EMU_DTYPE(int8_t, S8)
EMU_DTYPE(uint8_t, U8)
EMU_DTYPE(half, F16)
EMU_DTYPE(bfloat16_t, BF16)
EMU_DTYPE(float8_e4m3_t, E4M3)
EMU_DTYPE(float8_e5m2_t, E5M2)
EMU_DTYPE(tl::float_e4m3_t, E4M3)
EMU_DTYPE(tl::float_e5m2_t, E5M2)
EMU_DTYPE(float8_e8m0_t, E8M0)
EMU_DTYPE(float4_e2m1x2_t, E2M1x2)
EMU_DTYPE(float4_e1m2x2_t, E1M2x2)
#undef EMU_DTYPE

template <class T>
inline constexpr DType dtype_of = DTypeOf<std::remove_cv_t<T>>::value;

}  // namespace emu
