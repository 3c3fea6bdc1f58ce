// Element types as the data movers and the Cube see them.
#pragma once

#include <cstdint>
#include <type_traits>

namespace emu {

enum class DType : uint8_t { B8, B16, B32, B64, F32, F16, BF16, E4M3, E5M2, E8M0, E2M1x2, E1M2x2,
                             S8, S16, S32 };

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

// Specialized where a numeric type is defined; plain integers are here.
template <class T>
struct DTypeOf {
  static constexpr DType value = sizeof(T) == 8   ? DType::B64
                                 : sizeof(T) == 4 ? DType::B32
                                 : sizeof(T) == 2 ? DType::B16
                                                  : DType::B8;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::F32;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::S32;
};
template <>
struct DTypeOf<int16_t> {
  static constexpr DType value = DType::S16;
};
template <>
struct DTypeOf<int8_t> {
  static constexpr DType value = DType::S8;
};

template <class T>
inline constexpr DType dtype_of = DTypeOf<std::remove_cv_t<T>>::value;

}  // namespace emu
