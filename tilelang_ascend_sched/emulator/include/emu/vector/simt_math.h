// Scalar math of SIMT code. The C library computes; functions that use the special function unit
// and divisions are counted. The names of the C library are taken over by macros, since kernels
// call them unqualified.
#pragma once

#include <cmath>
#include <cstdlib>
#include <type_traits>

#include "emu/numeric/float16.h"
#include "emu/vector/counts.h"

namespace emu::math {

#define EMU_SPECIAL(NAME, EXPRESSION)       \
  EMU_NO_TRACE inline float NAME(float x) { \
    ++active_counts->special;               \
    return EXPRESSION;                      \
  }
EMU_SPECIAL(sqrt_, std::sqrt(x))
EMU_SPECIAL(rsqrt_, 1.0f / std::sqrt(x))
EMU_SPECIAL(exp_, std::exp(x))
EMU_SPECIAL(exp2_, std::exp2(x))
EMU_SPECIAL(exp10_, static_cast<float>(std::pow(10.0, static_cast<double>(x))))
EMU_SPECIAL(expm1_, std::expm1(x))
EMU_SPECIAL(log_, std::log(x))
EMU_SPECIAL(log2_, std::log2(x))
EMU_SPECIAL(log10_, std::log10(x))
EMU_SPECIAL(log1p_, std::log1p(x))
EMU_SPECIAL(tanh_, std::tanh(x))
EMU_SPECIAL(tan_, std::tan(x))
EMU_SPECIAL(sin_, std::sin(x))
EMU_SPECIAL(cos_, std::cos(x))
EMU_SPECIAL(sinh_, std::sinh(x))
EMU_SPECIAL(cosh_, std::cosh(x))
EMU_SPECIAL(asin_, std::asin(x))
EMU_SPECIAL(acos_, std::acos(x))
EMU_SPECIAL(atan_, std::atan(x))
EMU_SPECIAL(asinh_, std::asinh(x))
EMU_SPECIAL(acosh_, std::acosh(x))
EMU_SPECIAL(atanh_, std::atanh(x))
EMU_SPECIAL(erf_, std::erf(x))
EMU_SPECIAL(erfc_, std::erfc(x))
EMU_SPECIAL(cbrt_, std::cbrt(x))
#undef EMU_SPECIAL

EMU_NO_TRACE inline float atan2_(float y, float x) {
  ++active_counts->special;
  return std::atan2(y, x);
}
EMU_NO_TRACE inline float pow_(float x, float y) {
  active_counts->special += 2;  // a logarithm and an exponential
  return std::pow(x, y);
}
EMU_NO_TRACE inline float hypot_(float x, float y) {
  ++active_counts->special;
  return std::hypot(x, y);
}
EMU_NO_TRACE inline float mod_(float x, float y) {
  ++active_counts->div;
  return std::fmod(x, y);
}
EMU_NO_TRACE inline void sincos_(float x, float* s, float* c) {
  active_counts->special += 2;
  *s = std::sin(x);
  *c = std::cos(x);
}
EMU_NO_TRACE inline float divide_(float x, float y) {
  ++active_counts->div;
  return x / y;
}

// A NaN operand yields the other one.
template <class T>
EMU_INLINE constexpr T larger(T a, T b) {
  return a > b || b != b ? a : b;
}
template <class T>
EMU_INLINE constexpr T smaller(T a, T b) {
  return a < b || b != b ? a : b;
}

}  // namespace emu::math

template <class A, class B>
  requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>)
EMU_INLINE constexpr auto max(A a, B b) {
  return emu::math::larger<std::common_type_t<A, B>>(a, b);
}
template <class A, class B>
  requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>)
EMU_INLINE constexpr auto min(A a, B b) {
  return emu::math::smaller<std::common_type_t<A, B>>(a, b);
}
template <class F>
EMU_INLINE constexpr emu::Float16<F> max(emu::Float16<F> a, emu::Float16<F> b) {
  return emu::math::larger(a, b);
}
template <class F>
EMU_INLINE constexpr emu::Float16<F> min(emu::Float16<F> a, emu::Float16<F> b) {
  return emu::math::smaller(a, b);
}

#define sqrtf(x) ::emu::math::sqrt_(x)
#define rsqrtf(x) ::emu::math::rsqrt_(x)
#define expf(x) ::emu::math::exp_(x)
#define exp2f(x) ::emu::math::exp2_(x)
#define exp10f(x) ::emu::math::exp10_(x)
#define expm1f(x) ::emu::math::expm1_(x)
#define logf(x) ::emu::math::log_(x)
#define log2f(x) ::emu::math::log2_(x)
#define log10f(x) ::emu::math::log10_(x)
#define log1pf(x) ::emu::math::log1p_(x)
#define tanhf(x) ::emu::math::tanh_(x)
#define tanf(x) ::emu::math::tan_(x)
#define sinf(x) ::emu::math::sin_(x)
#define cosf(x) ::emu::math::cos_(x)
#define sinhf(x) ::emu::math::sinh_(x)
#define coshf(x) ::emu::math::cosh_(x)
#define asinf(x) ::emu::math::asin_(x)
#define acosf(x) ::emu::math::acos_(x)
#define atanf(x) ::emu::math::atan_(x)
#define asinhf(x) ::emu::math::asinh_(x)
#define acoshf(x) ::emu::math::acosh_(x)
#define atanhf(x) ::emu::math::atanh_(x)
#define erff(x) ::emu::math::erf_(x)
#define erfcf(x) ::emu::math::erfc_(x)
#define cbrtf(x) ::emu::math::cbrt_(x)
#define atan2f(y, x) ::emu::math::atan2_(y, x)
#define powf(x, y) ::emu::math::pow_(x, y)
#define hypotf(x, y) ::emu::math::hypot_(x, y)
#define fmodf(x, y) ::emu::math::mod_(x, y)
#define sincosf(x, s, c) ::emu::math::sincos_(x, s, c)
#define fdividef(x, y) ::emu::math::divide_(x, y)
#define __fdividef(x, y) ::emu::math::divide_(x, y)
#define __expf(x) ::emu::math::exp_(x)
#define __logf(x) ::emu::math::log_(x)
