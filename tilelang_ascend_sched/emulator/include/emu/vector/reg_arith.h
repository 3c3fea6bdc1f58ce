// Elementwise arithmetic, logic and shifts.
//
// Every operation is computed for all lanes and then committed under the mask: the asc_ form
// zeroes masked-off lanes, the form named after the instruction takes the mode.
#pragma once

#include <cmath>

#include "emu/vector/controls.h"

namespace emu {

// Integers wrap: they are computed in an unsigned type no narrower than int.
template <class T>
using Compute = std::conditional_t<std::is_integral_v<T>,
                                   std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>, T>;

template <class T>
EMU_INLINE T magnitude(T a) {
  if constexpr (std::is_integral_v<T>) {
    return a < T(0) ? static_cast<T>(0 - static_cast<Compute<T>>(a)) : a;
  } else {
    constexpr Bits<T> kSign = Bits<T>{1} << (8 * sizeof(T) - 1);
    return __builtin_bit_cast(T, static_cast<Bits<T>>(__builtin_bit_cast(Bits<T>, a) & ~kSign));
  }
}

// The special function unit and the divider take and give subnormal floats as zero.
template <class T>
EMU_INLINE T flush(T x) {
  if constexpr (std::is_same_v<T, float>) {
    return __builtin_fabsf(x) < 0x1p-126f ? __builtin_copysignf(0.0f, x) : x;
  } else {
    return x;
  }
}

template <class T>
EMU_INLINE T multiply_add(T a, T b, T c) {
  if constexpr (std::is_integral_v<T>) {
    using C = Compute<T>;
    return static_cast<T>(static_cast<C>(a) * static_cast<C>(b) + static_cast<C>(c));
  } else {
    return static_cast<T>(
        __builtin_fmaf(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)));
  }
}

#define EMU_OPERATION2(NAME, COST, CONCEPT, EXPRESSION) \
  struct NAME {                                         \
    static constexpr Cost kCost = Cost::COST;           \
    template <CONCEPT T>                                \
    static EMU_INLINE T apply(T a, T b) {               \
      using C [[maybe_unused]] = Compute<T>;            \
      return static_cast<T>(EXPRESSION);                \
    }                                                   \
  };
#define EMU_OPERATION1(NAME, COST, CONCEPT, EXPRESSION) \
  struct NAME {                                         \
    static constexpr Cost kCost = Cost::COST;           \
    template <CONCEPT T>                                \
    static EMU_INLINE T apply(T a) {                    \
      return static_cast<T>(EXPRESSION);                \
    }                                                   \
  };

EMU_OPERATION2(AddOp, kAlu, Arithmetic, static_cast<C>(a) + static_cast<C>(b))
EMU_OPERATION2(SubOp, kAlu, Arithmetic, static_cast<C>(a) - static_cast<C>(b))
EMU_OPERATION2(MulOp, kAlu, Arithmetic, static_cast<C>(a) * static_cast<C>(b))
EMU_OPERATION2(MaxOp, kAlu, Arithmetic, a > b || a != a ? a : b)  // a NaN stays
EMU_OPERATION2(MinOp, kAlu, Arithmetic, a < b || a != a ? a : b)
EMU_OPERATION2(AbsSubOp, kAlu, Floating, magnitude(static_cast<T>(a - b)))
EMU_OPERATION2(PreluOp, kAlu, Floating, a > T(0) ? a : static_cast<T>(a * b))
EMU_OPERATION2(ExpSubOp, kSpecial, Floating,
               flush(std::exp(static_cast<float>(a) - static_cast<float>(b))))
EMU_OPERATION2(AndOp, kAlu, std::unsigned_integral, a& b)
EMU_OPERATION2(OrOp, kAlu, std::unsigned_integral, a | b)
EMU_OPERATION2(XorOp, kAlu, std::unsigned_integral, a ^ b)

EMU_OPERATION1(AbsOp, kAlu, Arithmetic, magnitude(a))
EMU_OPERATION1(NegOp, kAlu, Arithmetic,
               std::is_integral_v<T> ? T(Compute<T>(0) - Compute<T>(a)) : T(-a))
EMU_OPERATION1(ReluOp, kAlu, Arithmetic, a > T(0) ? a : T(0))
EMU_OPERATION1(NotOp, kAlu, std::unsigned_integral, ~a)
EMU_OPERATION1(ExpOp, kSpecial, Floating, flush(std::exp(flush(static_cast<float>(a)))))
EMU_OPERATION1(LnOp, kSpecial, Floating, flush(std::log(flush(static_cast<float>(a)))))
EMU_OPERATION1(SqrtOp, kSpecial, Floating, flush(std::sqrt(flush(static_cast<float>(a)))))
#undef EMU_OPERATION1
#undef EMU_OPERATION2

// Division by an integer zero yields all ones.
struct DivOp {
  static constexpr Cost kCost = Cost::kDiv;
  template <Arithmetic T>
  static EMU_INLINE T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return static_cast<T>(~T{0});
      if (std::is_signed_v<T> && b == static_cast<T>(-1)) {
        return static_cast<T>(0 - static_cast<Compute<T>>(a));
      }
      return static_cast<T>(a / b);
    } else {
      return flush(static_cast<T>(flush(a) / flush(b)));
    }
  }
};

// A signed left shift keeps the sign bit. An amount as large as the width gives zero; a signed
// right shift then gives the sign.
struct ShlOp {
  static constexpr Cost kCost = Cost::kAlu;
  template <std::integral T>
  static EMU_INLINE T apply(T a, uint64_t n) {
    constexpr unsigned kBits = 8 * sizeof(T);
    constexpr Bits<T> kSign = std::is_signed_v<T> ? Bits<T>{1} << (kBits - 1) : Bits<T>{0};
    if (n >= kBits) return 0;
    const Bits<T> bits = static_cast<Bits<T>>(a);
    const Bits<T> shifted = static_cast<Bits<T>>(static_cast<Compute<T>>(bits) << n);
    return static_cast<T>((bits & kSign) | (shifted & static_cast<Bits<T>>(~kSign)));
  }
};
struct ShrOp {
  static constexpr Cost kCost = Cost::kAlu;
  template <std::integral T>
  static EMU_INLINE T apply(T a, uint64_t n) {
    constexpr unsigned kBits = 8 * sizeof(T);
    if (n >= kBits) return a < T(0) ? static_cast<T>(-1) : T(0);
    return static_cast<T>(a >> n);
  }
};

template <class Op, Merge M, class T>
EMU_VECTOR void unary(Vec<T>& dst, const Vec<T>& a, const Predicate& mask) {
  count<T, Op::kCost>();
  Vec<T> r{Raw{}};
  for (int i = 0; i < Vec<T>::kLanes; ++i) r.lane[i] = Op::apply(a.lane[i]);
  commit<M>(dst, r, mask, {.a = a.flow});
}

template <class Op, Merge M, class T>
EMU_VECTOR void binary(Vec<T>& dst, const Vec<T>& a, const Vec<T>& b, const Predicate& mask) {
  count<T, Op::kCost>();
  Vec<T> r{Raw{}};
  for (int i = 0; i < Vec<T>::kLanes; ++i) r.lane[i] = Op::apply(a.lane[i], b.lane[i]);
  commit<M>(dst, r, mask, {.a = a.flow, .b = b.flow});
}

template <class Op, Merge M, class T, class S>
EMU_VECTOR void binary_scalar(Vec<T>& dst, const Vec<T>& a, S b, const Predicate& mask) {
  count<T, Op::kCost>();
  Vec<T> r{Raw{}};
  for (int i = 0; i < Vec<T>::kLanes; ++i) r.lane[i] = Op::apply(a.lane[i], b);
  commit<M>(dst, r, mask, {.a = a.flow});
}

template <class Op, Merge M, class T, class N>
EMU_VECTOR void shift(Vec<T>& dst, const Vec<T>& a, const Vec<N>& n, const Predicate& mask) {
  static_assert(sizeof(T) == sizeof(N), "shift amounts as wide as the elements");
  count<T, Op::kCost>();
  Vec<T> r{Raw{}};
  for (int i = 0; i < Vec<T>::kLanes; ++i) {
    r.lane[i] = Op::apply(a.lane[i], static_cast<Bits<N>>(n.lane[i]));
  }
  commit<M>(dst, r, mask, {.a = a.flow, .b = n.flow});
}

}  // namespace emu

#define EMU_UNARY(NAME, CAPI, OP)                                                    \
  template <class T>                                                                 \
  EMU_VECTOR void CAPI(emu::Vec<T>& dst, const emu::Vec<T>& src, vector_bool mask) { \
    emu::unary<emu::OP, emu::Merge::kZeroing>(dst, src, mask);                       \
  }                                                                                  \
  template <class T, emu::Merge M>                                                   \
  EMU_VECTOR void NAME(emu::Vec<T>& dst, const emu::Vec<T>& src, vector_bool mask,   \
                       emu::Control<M>) {                                            \
    emu::unary<emu::OP, M>(dst, src, mask);                                          \
  }
EMU_UNARY(vabs, asc_abs, AbsOp)
EMU_UNARY(vneg, asc_neg, NegOp)
EMU_UNARY(vrelu, asc_relu, ReluOp)
EMU_UNARY(vexp, asc_exp, ExpOp)
EMU_UNARY(vln, asc_ln, LnOp)
EMU_UNARY(vsqrt, asc_sqrt, SqrtOp)
#undef EMU_UNARY

#define EMU_BINARY(NAME, CAPI, OP)                                                   \
  template <class T>                                                                 \
  EMU_VECTOR void CAPI(emu::Vec<T>& dst, const emu::Vec<T>& a, const emu::Vec<T>& b, \
                       vector_bool mask) {                                           \
    emu::binary<emu::OP, emu::Merge::kZeroing>(dst, a, b, mask);                     \
  }                                                                                  \
  template <class T, emu::Merge M>                                                   \
  EMU_VECTOR void NAME(emu::Vec<T>& dst, const emu::Vec<T>& a, const emu::Vec<T>& b, \
                       vector_bool mask, emu::Control<M>) {                          \
    emu::binary<emu::OP, M>(dst, a, b, mask);                                        \
  }
EMU_BINARY(vadd, asc_add, AddOp)
EMU_BINARY(vsub, asc_sub, SubOp)
EMU_BINARY(vmul, asc_mul, MulOp)
EMU_BINARY(vdiv, asc_div, DivOp)
EMU_BINARY(vmax, asc_max, MaxOp)
EMU_BINARY(vmin, asc_min, MinOp)
EMU_BINARY(vabsdif, asc_abs_sub, AbsSubOp)
#undef EMU_BINARY

#define EMU_BINARY_SCALAR(NAME, CAPI, OP)                                               \
  template <class T, class S>                                                           \
  EMU_VECTOR void CAPI(emu::Vec<T>& dst, const emu::Vec<T>& a, S b, vector_bool mask) { \
    emu::binary_scalar<emu::OP, emu::Merge::kZeroing>(dst, a, static_cast<T>(b), mask); \
  }                                                                                     \
  template <class T, class S, emu::Merge M>                                             \
  EMU_VECTOR void NAME(emu::Vec<T>& dst, const emu::Vec<T>& a, S b, vector_bool mask,   \
                       emu::Control<M>) {                                               \
    emu::binary_scalar<emu::OP, M>(dst, a, static_cast<T>(b), mask);                    \
  }
EMU_BINARY_SCALAR(vadds, asc_add_scalar, AddOp)
EMU_BINARY_SCALAR(vmuls, asc_mul_scalar, MulOp)
EMU_BINARY_SCALAR(vmaxs, asc_max_scalar, MaxOp)
EMU_BINARY_SCALAR(vmins, asc_min_scalar, MinOp)
#undef EMU_BINARY_SCALAR

// Logic works on the bits of any element type.
#define EMU_LOGIC(NAME, CAPI, OP)                                                       \
  template <class T>                                                                    \
  EMU_VECTOR void CAPI(emu::Vec<T>& dst, const emu::Vec<T>& a, const emu::Vec<T>& b,    \
                       vector_bool mask) {                                              \
    emu::binary<emu::OP, emu::Merge::kZeroing>(emu::as_bits(dst), emu::as_bits(a),      \
                                               emu::as_bits(b), mask);                  \
  }                                                                                     \
  template <class T, emu::Merge M>                                                      \
  EMU_VECTOR void NAME(emu::Vec<T>& dst, const emu::Vec<T>& a, const emu::Vec<T>& b,    \
                       vector_bool mask, emu::Control<M>) {                             \
    emu::binary<emu::OP, M>(emu::as_bits(dst), emu::as_bits(a), emu::as_bits(b), mask); \
  }
EMU_LOGIC(vand, asc_and, AndOp)
EMU_LOGIC(vor, asc_or, OrOp)
EMU_LOGIC(vxor, asc_xor, XorOp)
#undef EMU_LOGIC

template <class T>
EMU_VECTOR void asc_not(emu::Vec<T>& dst, const emu::Vec<T>& src, vector_bool mask) {
  emu::unary<emu::NotOp, emu::Merge::kZeroing>(emu::as_bits(dst), emu::as_bits(src), mask);
}
template <class T, emu::Merge M>
EMU_VECTOR void vnot(emu::Vec<T>& dst, const emu::Vec<T>& src, vector_bool mask, emu::Control<M>) {
  emu::unary<emu::NotOp, M>(emu::as_bits(dst), emu::as_bits(src), mask);
}

#define EMU_SHIFT(NAME, NAMES, CAPI, OP)                                                         \
  template <class T, class N>                                                                    \
  EMU_VECTOR void CAPI(emu::Vec<T>& dst, const emu::Vec<T>& a, const emu::Vec<N>& n,             \
                       vector_bool mask) {                                                       \
    emu::shift<emu::OP, emu::Merge::kZeroing>(dst, a, n, mask);                                  \
  }                                                                                              \
  template <class T, class N, emu::Merge M>                                                      \
  EMU_VECTOR void NAME(emu::Vec<T>& dst, const emu::Vec<T>& a, const emu::Vec<N>& n,             \
                       vector_bool mask, emu::Control<M>) {                                      \
    emu::shift<emu::OP, M>(dst, a, n, mask);                                                     \
  }                                                                                              \
  template <class T, class N>                                                                    \
  EMU_VECTOR void CAPI##_scalar(emu::Vec<T>& dst, const emu::Vec<T>& a, N n, vector_bool mask) { \
    emu::binary_scalar<emu::OP, emu::Merge::kZeroing>(dst, a, static_cast<uint64_t>(n), mask);   \
  }                                                                                              \
  template <class T, class N, emu::Merge M>                                                      \
  EMU_VECTOR void NAMES(emu::Vec<T>& dst, const emu::Vec<T>& a, N n, vector_bool mask,           \
                        emu::Control<M>) {                                                       \
    emu::binary_scalar<emu::OP, M>(dst, a, static_cast<uint64_t>(n), mask);                      \
  }
EMU_SHIFT(vshl, vshls, asc_shiftleft, ShlOp)
EMU_SHIFT(vshr, vshrs, asc_shiftright, ShrOp)
#undef EMU_SHIFT

template <class T>
EMU_VECTOR void asc_exp_sub(emu::Vec<T>& dst, const emu::Vec<T>& a, const emu::Vec<T>& b,
                            vector_bool mask) {
  emu::binary<emu::ExpSubOp, emu::Merge::kZeroing>(dst, a, b, mask);
}
template <class T>
EMU_VECTOR void asc_prelu(emu::Vec<T>& dst, const emu::Vec<T>& a, const emu::Vec<T>& b,
                          vector_bool mask) {
  emu::binary<emu::PreluOp, emu::Merge::kZeroing>(dst, a, b, mask);
}
template <class T, class S>
EMU_VECTOR void asc_leakyrelu(emu::Vec<T>& dst, const emu::Vec<T>& a, S slope, vector_bool mask) {
  emu::binary_scalar<emu::PreluOp, emu::Merge::kZeroing>(dst, a, static_cast<T>(slope), mask);
}

// Fused multiply and add: dst + a * b, dst * a + b, dst + a * scalar.
namespace emu {
template <Merge M, class T>
EMU_VECTOR void fused(Vec<T>& dst, const Vec<T>& a, const Vec<T>& b, const Vec<T>& c,
                      const Predicate& mask) {
  count<T>();
  Vec<T> r{Raw{}};
  for (int i = 0; i < Vec<T>::kLanes; ++i) {
    r.lane[i] = multiply_add(a.lane[i], b.lane[i], c.lane[i]);
  }
  commit<M>(dst, r, mask, {.a = a.flow, .b = b.flow, .c = c.flow});
}
}  // namespace emu

template <emu::Arithmetic T, emu::Merge M>
EMU_VECTOR void vmula(emu::Vec<T>& dst, const emu::Vec<T>& a, const emu::Vec<T>& b,
                      vector_bool mask, emu::Control<M>) {
  emu::fused<M>(dst, a, b, dst, mask);
}
template <emu::Arithmetic T, emu::Merge M>
EMU_VECTOR void vmadd(emu::Vec<T>& dst, const emu::Vec<T>& a, const emu::Vec<T>& b,
                      vector_bool mask, emu::Control<M>) {
  emu::fused<M>(dst, dst, a, b, mask);
}
template <emu::Arithmetic T>
EMU_VECTOR void asc_madd(emu::Vec<T>& dst, const emu::Vec<T>& a, const emu::Vec<T>& b,
                         vector_bool mask) {
  emu::fused<emu::Merge::kZeroing>(dst, dst, a, b, mask);
}
template <emu::Arithmetic T, class S, emu::Merge M>
EMU_VECTOR void vaxpy(emu::Vec<T>& dst, const emu::Vec<T>& a, S scalar, vector_bool mask,
                      emu::Control<M>) {
  emu::Vec<T> b{emu::Raw{}};
  for (T& lane : b.lane) lane = static_cast<T>(scalar);
  emu::fused<M>(dst, a, b, dst, mask);
}
template <emu::Arithmetic T, class S>
EMU_VECTOR void asc_axpy(emu::Vec<T>& dst, const emu::Vec<T>& a, S scalar, vector_bool mask) {
  vaxpy(dst, a, scalar, mask, MODE_ZEROING);
}

// 32-bit integers with carry. The carry of a subtraction is set where nothing was borrowed.
namespace emu {
template <class Step>
EMU_VECTOR void with_carry(Predicate& carry, vector_u32& dst, const vector_u32& a,
                           const vector_u32& b, Flow in, const Predicate& mask, Step step) {
  count<uint32_t>();
  Predicate out;
  vector_u32 r{Raw{}};
  for (int i = 0; i < vector_u32::kLanes; ++i) {
    const uint64_t wide = step(uint64_t{a.lane[i]}, uint64_t{b.lane[i]}, i);
    r.lane[i] = static_cast<uint32_t>(wide);
    out.set(4 * i, (wide >> 32 & 1u) != 0 && mask.test(4 * i));
  }
  const Sources from{.a = a.flow, .b = b.flow, .c = in, .mask = mask.flow};
  const ByteSet computed = active_bytes<uint32_t>(mask);
  carry = out;
  carry.flow = flow_lanes(sizeof(uint32_t), computed, computed, from);
  commit<Merge::kZeroing>(dst, r, mask, from);
}
}  // namespace emu

EMU_VECTOR void asc_add(vector_bool& carry, vector_u32& dst, const vector_u32& a,
                        const vector_u32& b, vector_bool mask) {
  emu::with_carry(carry, dst, a, b, 0, mask,
                  [](uint64_t x, uint64_t y, int) EMU_NO_TRACE { return x + y; });
}
EMU_VECTOR void asc_sub(vector_bool& carry, vector_u32& dst, const vector_u32& a,
                        const vector_u32& b, vector_bool mask) {
  emu::with_carry(carry, dst, a, b, 0, mask, [](uint64_t x, uint64_t y, int) EMU_NO_TRACE {
    return x + (y ^ 0xffffffffu) + 1;
  });
}
EMU_VECTOR void asc_addc(vector_bool& carry, vector_u32& dst, const vector_u32& a,
                         const vector_u32& b, vector_bool in, vector_bool mask) {
  emu::with_carry(carry, dst, a, b, in.flow, mask,
                  [in](uint64_t x, uint64_t y, int i)
                      EMU_NO_TRACE { return x + y + in.test(4 * i); });
}
EMU_VECTOR void asc_subc(vector_bool& carry, vector_u32& dst, const vector_u32& a,
                         const vector_u32& b, vector_bool in, vector_bool mask) {
  emu::with_carry(carry, dst, a, b, in.flow, mask,
                  [in](uint64_t x, uint64_t y, int i)
                      EMU_NO_TRACE { return x + (y ^ 0xffffffffu) + in.test(4 * i); });
}

// The low and the high half of a 32 by 32 bit product.
template <class T>
  requires(std::is_integral_v<T> && sizeof(T) == 4)
EMU_VECTOR void asc_mull(emu::Vec<T>& low, emu::Vec<T>& high, const emu::Vec<T>& a,
                         const emu::Vec<T>& b, vector_bool mask) {
  using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
  emu::count<T>();
  emu::Vec<T> l{emu::Raw{}}, h{emu::Raw{}};
  for (int i = 0; i < emu::Vec<T>::kLanes; ++i) {
    const Wide product = Wide{a.lane[i]} * Wide{b.lane[i]};
    l.lane[i] = static_cast<T>(product);
    h.lane[i] = static_cast<T>(product >> 32);
  }
  const emu::Sources from{.a = a.flow, .b = b.flow};
  emu::commit<emu::Merge::kZeroing>(low, l, mask, from);
  emu::commit<emu::Merge::kZeroing>(high, h, mask, from);
}
