// Array conversions of the number headers, called through ctypes.
#include <cstdint>

#include "emu/numeric/float16.h"
#include "emu/numeric/float8.h"

namespace {

using emu::Overflow;
using emu::Rounding;
namespace numeric = emu::numeric;

template <class F, Rounding R, Overflow O>
void encode_all(const float* in, uint32_t* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = numeric::encode<F, R, O>(in[i]);
}

template <class F, Overflow O>
void encode_mode(int mode, const float* in, uint32_t* out, int64_t n) {
  switch (static_cast<Rounding>(mode)) {
    case Rounding::kNearestEven:
      return encode_all<F, Rounding::kNearestEven, O>(in, out, n);
    case Rounding::kNearestAway:
      return encode_all<F, Rounding::kNearestAway, O>(in, out, n);
    case Rounding::kDown:
      return encode_all<F, Rounding::kDown, O>(in, out, n);
    case Rounding::kUp:
      return encode_all<F, Rounding::kUp, O>(in, out, n);
    case Rounding::kTowardZero:
      return encode_all<F, Rounding::kTowardZero, O>(in, out, n);
    case Rounding::kOdd:
      return encode_all<F, Rounding::kOdd, O>(in, out, n);
  }
}

template <Rounding R>
void round_all(const float* in, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = numeric::round_integral<R>(in[i]);
}

}  // namespace

#define FORMAT(NAME, F)                                                                 \
  extern "C" void encode_##NAME(int mode, int saturate, const float* in, uint32_t* out, \
                                int64_t n) {                                            \
    saturate ? encode_mode<numeric::F, Overflow::kSaturate>(mode, in, out, n)           \
             : encode_mode<numeric::F, Overflow::kIeee>(mode, in, out, n);              \
  }                                                                                     \
  extern "C" void decode_##NAME(const uint32_t* in, float* out, int64_t n) {            \
    for (int64_t i = 0; i < n; ++i) out[i] = numeric::decode<numeric::F>(in[i]);        \
  }
FORMAT(float16, Binary16)
FORMAT(bfloat16, Bfloat16)
FORMAT(float8_e4m3fn, E4M3)
FORMAT(float8_e5m2, E5M2)
FORMAT(float4_e2m1fn, E2M1)
FORMAT(float4_e1m2, E1M2)

extern "C" void decode_float8_e8m0fnu(const uint32_t* in, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = numeric::decode_e8m0(in[i]);
}

extern "C" void round_integral(int mode, const float* in, float* out, int64_t n) {
  switch (static_cast<Rounding>(mode)) {
    case Rounding::kNearestEven:
      return round_all<Rounding::kNearestEven>(in, out, n);
    case Rounding::kNearestAway:
      return round_all<Rounding::kNearestAway>(in, out, n);
    case Rounding::kDown:
      return round_all<Rounding::kDown>(in, out, n);
    case Rounding::kUp:
      return round_all<Rounding::kUp>(in, out, n);
    case Rounding::kTowardZero:
      return round_all<Rounding::kTowardZero>(in, out, n);
    case Rounding::kOdd:
      return round_all<Rounding::kOdd>(in, out, n);
  }
}

// Arithmetic of the 16-bit types: add, subtract, multiply, divide.
template <class T>
void arithmetic(int op, const uint16_t* a, const uint16_t* b, uint16_t* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const T x = T::from_bits(a[i]), y = T::from_bits(b[i]);
    out[i] = (op == 0 ? x + y : op == 1 ? x - y : op == 2 ? x * y : x / y).bits;
  }
}
extern "C" void arithmetic_float16(int op, const uint16_t* a, const uint16_t* b, uint16_t* out,
                                   int64_t n) {
  arithmetic<half>(op, a, b, out, n);
}
extern "C" void arithmetic_bfloat16(int op, const uint16_t* a, const uint16_t* b, uint16_t* out,
                                    int64_t n) {
  arithmetic<bfloat16_t>(op, a, b, out, n);
}
