// The small vectors of SIMT code: float2, uint4, ... with their make_ functions and elementwise
// operators. No over-alignment: a misaligned access is the checker's to report, not a crash.
#pragma once

#include <cstdint>
#include <type_traits>

#include "emu/numeric/minifloat.h"

namespace emu {

// A cast such as (float2)(int2) converts every lane.
#define EMU_SMALL_LANES(N, ...)                                  \
  template <class T>                                             \
  struct Small<T, N> {                                           \
    T __VA_ARGS__;                                               \
    template <class U>                                           \
      requires(!std::is_same_v<T, U>)                            \
    EMU_INLINE constexpr explicit operator Small<U, N>() const { \
      return convert<U>(*this);                                  \
    }                                                            \
  };

template <class T, int N>
struct Small;

template <class To, class From, int N>
EMU_INLINE constexpr Small<To, N> convert(const Small<From, N>& v) {
  Small<To, N> r{};
  r.x = static_cast<To>(v.x);
  if constexpr (N > 1) r.y = static_cast<To>(v.y);
  if constexpr (N > 2) r.z = static_cast<To>(v.z);
  if constexpr (N > 3) r.w = static_cast<To>(v.w);
  return r;
}

EMU_SMALL_LANES(1, x)
EMU_SMALL_LANES(2, x, y)
EMU_SMALL_LANES(3, x, y, z)
EMU_SMALL_LANES(4, x, y, z, w)
#undef EMU_SMALL_LANES

#define EMU_SMALL_OPERATOR(OP)                                                 \
  template <class T, int N>                                                    \
  EMU_INLINE constexpr Small<T, N> operator OP(Small<T, N> a, Small<T, N> b) { \
    Small<T, N> r;                                                             \
    r.x = static_cast<T>(a.x OP b.x);                                          \
    if constexpr (N > 1) r.y = static_cast<T>(a.y OP b.y);                     \
    if constexpr (N > 2) r.z = static_cast<T>(a.z OP b.z);                     \
    if constexpr (N > 3) r.w = static_cast<T>(a.w OP b.w);                     \
    return r;                                                                  \
  }
EMU_SMALL_OPERATOR(+)
EMU_SMALL_OPERATOR(-)
EMU_SMALL_OPERATOR(*)
EMU_SMALL_OPERATOR(/)
EMU_SMALL_OPERATOR(%)
EMU_SMALL_OPERATOR(&)
EMU_SMALL_OPERATOR(|)
EMU_SMALL_OPERATOR(^)
EMU_SMALL_OPERATOR(<<)
EMU_SMALL_OPERATOR(>>)
#undef EMU_SMALL_OPERATOR

template <class T, int N>
EMU_INLINE constexpr Small<T, N> operator~(Small<T, N> a) {
  a.x = static_cast<T>(~a.x);
  if constexpr (N > 1) a.y = static_cast<T>(~a.y);
  if constexpr (N > 2) a.z = static_cast<T>(~a.z);
  if constexpr (N > 3) a.w = static_cast<T>(~a.w);
  return a;
}

}  // namespace emu

#define EMU_SMALL_TYPE(NAME, T)                                                    \
  using NAME##1 = emu::Small<T, 1>;                                                \
  using NAME##2 = emu::Small<T, 2>;                                                \
  using NAME##3 = emu::Small<T, 3>;                                                \
  using NAME##4 = emu::Small<T, 4>;                                                \
  EMU_INLINE constexpr NAME##1 make_##NAME##1(T x) { return {x}; }                 \
  EMU_INLINE constexpr NAME##2 make_##NAME##2(T x, T y) { return {x, y}; }         \
  EMU_INLINE constexpr NAME##3 make_##NAME##3(T x, T y, T z) { return {x, y, z}; } \
  EMU_INLINE constexpr NAME##4 make_##NAME##4(T x, T y, T z, T w) { return {x, y, z, w}; }

EMU_SMALL_TYPE(float, float)
EMU_SMALL_TYPE(char, signed char)
EMU_SMALL_TYPE(uchar, unsigned char)
EMU_SMALL_TYPE(short, short)
EMU_SMALL_TYPE(ushort, unsigned short)
EMU_SMALL_TYPE(int, int)
EMU_SMALL_TYPE(uint, unsigned int)
EMU_SMALL_TYPE(long, long)
EMU_SMALL_TYPE(ulong, unsigned long)
EMU_SMALL_TYPE(longlong, long long)
EMU_SMALL_TYPE(ulonglong, unsigned long long)
#undef EMU_SMALL_TYPE
