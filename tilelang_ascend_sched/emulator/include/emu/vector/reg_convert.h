// Conversions between element types.
//
// If the widths differ, the wide elements pair with every Ratio-th narrow one, beginning at the
// part. The mask governs source elements; narrow positions of other parts become zero.
#pragma once

#include <limits>

#include "emu/vector/controls.h"

namespace emu {

template <class T>
inline constexpr bool is_float8 = false;
template <class F>
inline constexpr bool is_float8<Float8<F>> = true;

template <class T>
struct FormatOf {
  using type = void;
};
template <class F>
struct FormatOf<Float16<F>> {
  using type = F;
};
template <class F>
struct FormatOf<Float8<F>> {
  using type = F;
};

// A saturating conversion between floats makes zero of a NaN.
template <class D, Rounding R, Saturate S>
EMU_INLINE D float_to_float(float x) {
  if constexpr (std::is_same_v<D, float>) {
    return x;
  } else {
    using F = typename FormatOf<D>::type;
    constexpr Overflow kOverflow = S == Saturate::kOn ? Overflow::kSaturate : Overflow::kIeee;
    const float in = S == Saturate::kOn && x != x ? 0.0f : x;
    return D::from_bits(numeric::encode<F, R, kOverflow>(in));
  }
}

// NaN gives zero and infinities the extreme values. Other values out of range give the extreme
// values when saturating, else their low bits.
template <class D, Rounding R, Saturate S>
EMU_INLINE D float_to_int(float x) {
  using Limits = std::numeric_limits<D>;
  const double r = numeric::round_integral<R>(x);
  constexpr double kTop = sizeof(D) == 8 ? 0x1p63 : static_cast<double>(Limits::max()) + 1.0;
  constexpr double kBottom = static_cast<double>(Limits::min());
  if (x != x) return 0;
  const bool infinite = x - x != 0.0f;
  if (S == Saturate::kOn || infinite || sizeof(D) == 8) {
    if (r >= kTop) return Limits::max();
    if (r < kBottom) return Limits::min();
    return static_cast<D>(static_cast<int64_t>(r));
  }
  const double wrapped = r - 0x1p32 * __builtin_floor(r * 0x1p-32);
  return static_cast<D>(static_cast<uint64_t>(wrapped));
}

template <Rounding R, class S>
EMU_INLINE float int_to_float(S x) {
  if constexpr (sizeof(S) < 4) return static_cast<float>(x);
  // A double holds every 32-bit integer; of 64 bits the low ones only matter as a sticky bit.
  int64_t wide = x;
  if constexpr (sizeof(S) == 8) {
    const uint64_t magnitude = wide < 0 ? 0 - static_cast<uint64_t>(wide) : wide;
    if (magnitude >> 52 != 0) {
      const uint64_t kept = (magnitude & ~uint64_t{0xfff}) | ((magnitude & 0xfff) != 0) << 12;
      wide = wide < 0 ? static_cast<int64_t>(0 - kept) : static_cast<int64_t>(kept);
    }
  }
  const double exact = static_cast<double>(wide);
  const float nearest = static_cast<float>(exact);
  const double error = exact - static_cast<double>(nearest);
  if (error == 0.0 || R == Rounding::kNearestEven) return nearest;
  const float toward =
      __builtin_nextafterf(nearest, error > 0 ? __builtin_inff() : -__builtin_inff());
  const float low = error > 0 ? nearest : toward;
  const float high = error > 0 ? toward : nearest;
  if constexpr (R == Rounding::kDown) return low;
  if constexpr (R == Rounding::kUp) return high;
  if constexpr (R == Rounding::kTowardZero) return exact > 0 ? low : high;
  const bool tie = exact - low == high - exact;
  return tie ? (exact > 0 ? high : low) : nearest;  // kNearestAway
}

template <class D, Saturate Sat, class S>
EMU_INLINE D int_to_int(S x) {
  using Limits = std::numeric_limits<D>;
  // Widening a negative number to unsigned gives zero.
  if constexpr (std::is_signed_v<S> && !std::is_signed_v<D> && sizeof(D) > sizeof(S)) {
    return x < 0 ? 0 : static_cast<D>(x);
  } else if constexpr (Sat == Saturate::kOn) {
    const int64_t wide = static_cast<int64_t>(x);
    const int64_t top = static_cast<int64_t>(Limits::max());
    const int64_t bottom = static_cast<int64_t>(Limits::min());
    return static_cast<D>(wide > top ? top : wide < bottom ? bottom : wide);
  } else {
    return static_cast<D>(x);
  }
}

template <class D, Rounding R, Saturate Sat, class S>
EMU_INLINE D convert_element(S x) {
  if constexpr (std::is_integral_v<S> && std::is_integral_v<D>) {
    return int_to_int<D, Sat>(x);
  } else if constexpr (std::is_integral_v<S>) {
    if constexpr (std::is_same_v<D, float>) {
      return int_to_float<R>(x);
    } else {
      return float_to_float<D, R, Saturate::kOn>(static_cast<float>(x));
    }
  } else if constexpr (std::is_integral_v<D>) {
    return float_to_int<D, R, Sat>(static_cast<float>(x));
  } else {
    return float_to_float<D, R, Sat>(static_cast<float>(x));
  }
}

constexpr int part_index(Part p) {
  return p == Part::kEven || p == Part::kP0  ? 0
         : p == Part::kOdd || p == Part::kP1 ? 1
         : p == Part::kP2                    ? 2
                                             : 3;
}

// Elements that keep to groups of Size bytes: the bytes `in` of a group's source make the bytes
// `out` of its result where the mask has bit `governor` of the group.
template <int Size>
EMU_VECTOR Flow flow_in_groups(const Predicate& mask, int governor, uint64_t in, uint64_t out,
                               Sources from) {
  from.mask = mask.flow;
  ByteSet taken, made;
  for (int w = 0; w < ByteSet::kWords; ++w) {
    const uint64_t active = mask.word[w] >> governor & kElementBits<Size>;
    taken.word[w] = active * in;
    made.word[w] = active * out;
  }
  return flow_lanes(Size, made, taken, from);
}

template <Rounding R, Saturate Sat, Part P, Merge M, class D, class S>
EMU_VECTOR void convert(Vec<D>& dst, const Vec<S>& src, const Predicate& mask) {
  constexpr int kWide = sizeof(D) > sizeof(S) ? Vec<D>::kLanes : Vec<S>::kLanes;
  constexpr int kNarrowStep = sizeof(D) > sizeof(S) ? sizeof(D) / sizeof(S) : sizeof(S) / sizeof(D);
  constexpr int kPart = kNarrowStep == 1 ? 0 : part_index(P);
  static_assert(kPart < kNarrowStep, "vcvt: no such part at this ratio of widths");
  constexpr int kIn = sizeof(D) > sizeof(S) ? kNarrowStep : 1;
  constexpr int kOut = sizeof(S) > sizeof(D) ? kNarrowStep : 1;
  constexpr int kInPart = kIn > 1 ? kPart : 0;
  constexpr int kOutPart = kOut > 1 ? kPart : 0;
  active_counts->alu += kWide;
  constexpr int kGroup = kRegisterBytes / kWide;
  const Flow flow = flow_in_groups<kGroup>(
      mask, kInPart * sizeof(S), low_bytes(sizeof(S)) << (kInPart * sizeof(S)),
      low_bytes(sizeof(D)) << (kOutPart * sizeof(D)),
      {.kept = M == Merge::kMerging ? dst.flow : 0, .a = src.flow});
  Vec<D> r{Raw{}};
  if constexpr (M == Merge::kMerging) {
    r = dst;
  } else if constexpr (kOut > 1) {
    std::memset(static_cast<void*>(r.lane), 0, kRegisterBytes);
  }
  D lanes[kWide];
  for (int i = 0; i < kWide; ++i) {
    lanes[i] = convert_element<D, R, Sat>(src.lane[i * kIn + kInPart]);
  }
  for (int i = 0; i < kWide; ++i) r.lane[i * kOut + kOutPart] = lanes[i];
  if (!all_active<S>(mask)) {
    for (int i = 0; i < kWide; ++i) {
      if (active<S>(mask, i * kIn + kInPart)) continue;
      const int out = i * kOut + kOutPart;
      if constexpr (M == Merge::kMerging) {
        r.lane[out] = dst.lane[out];
      } else {
        std::memset(static_cast<void*>(&r.lane[out]), 0, sizeof(D));
      }
    }
  }
  dst = r;
  dst.flow = flow;
}

// 4-bit floats come in pairs: a pair of bfloat16 lanes and a byte. The mask counts for the pair
// at its first element.
template <Part P, Merge M, class F>
EMU_VECTOR void unpack_fp4(vector_bf16& dst, const Vec<Float4Pair<F>>& src, const Predicate& mask) {
  constexpr int kPart = part_index(P);
  active_counts->alu += vector_bf16::kLanes;
  vector_bf16 r{Raw{}};
  for (int j = 0; j < vector_bf16::kLanes / 2; ++j) {
    const int byte = 4 * j + kPart;
    for (int k = 0; k < 2; ++k) {
      const int lane = 2 * j + k;
      const bfloat16_t kept = M == Merge::kMerging ? dst.lane[lane] : bfloat16_t::from_bits(0);
      r.lane[lane] = mask.test(byte) ? bfloat16_t(src.lane[byte][k]) : kept;
    }
  }
  r.flow = flow_in_groups<4>(mask, kPart, 1u << kPart, 0xf,
                             {.kept = M == Merge::kMerging ? dst.flow : 0, .a = src.flow});
  dst = r;
}

template <Rounding R, Part P, Merge M, class F>
EMU_VECTOR void pack_fp4(Vec<Float4Pair<F>>& dst, const vector_bf16& src, const Predicate& mask) {
  constexpr int kPart = part_index(P);
  active_counts->alu += vector_bf16::kLanes;
  Vec<Float4Pair<F>> r{Raw{}};
  if constexpr (M == Merge::kMerging) {
    r = dst;
  } else {
    std::memset(static_cast<void*>(r.lane), 0, kRegisterBytes);
  }
  for (int j = 0; j < vector_bf16::kLanes / 2; ++j) {
    if (!active<bfloat16_t>(mask, 2 * j)) continue;
    uint32_t byte = 0;
    for (int k = 0; k < 2; ++k) {
      const uint32_t code =
          numeric::encode<F, R, Overflow::kSaturate>(static_cast<float>(src.lane[2 * j + k]));
      byte |= code << (4 * k);
    }
    r.lane[4 * j + kPart].data = static_cast<uint8_t>(byte);
  }
  r.flow = flow_in_groups<4>(mask, 0, 0xf, 1u << kPart,
                             {.kept = M == Merge::kMerging ? dst.flow : 0, .a = src.flow});
  dst = r;
}

}  // namespace emu

// The controls come in any order; a conversion without rounding is exact or rounds to nearest.
template <class D, class S, class... Controls>
EMU_VECTOR void vcvt(emu::Vec<D>& dst, const emu::Vec<S>& src, vector_bool mask, Controls...) {
  constexpr auto kRound =
      emu::control_value<emu::Rounding, emu::Rounding::kNearestEven, Controls...>();
  constexpr auto kSaturate = emu::control_value<emu::Saturate, emu::Saturate::kOff, Controls...>();
  constexpr auto kPart = emu::control_value<emu::Part, emu::Part::kEven, Controls...>();
  constexpr auto kMerge = emu::control_value<emu::Merge, emu::Merge::kZeroing, Controls...>();
  emu::convert<kRound, kSaturate, kPart, kMerge>(dst, src, mask);
}
template <class F, class... Controls>
EMU_VECTOR void vcvt(vector_bf16& dst, const emu::Vec<emu::Float4Pair<F>>& src, vector_bool mask,
                     Controls...) {
  constexpr auto kPart = emu::control_value<emu::Part, emu::Part::kEven, Controls...>();
  constexpr auto kMerge = emu::control_value<emu::Merge, emu::Merge::kZeroing, Controls...>();
  emu::unpack_fp4<kPart, kMerge>(dst, src, mask);
}
template <class F, class... Controls>
EMU_VECTOR void vcvt(emu::Vec<emu::Float4Pair<F>>& dst, const vector_bf16& src, vector_bool mask,
                     Controls...) {
  constexpr auto kRound =
      emu::control_value<emu::Rounding, emu::Rounding::kNearestEven, Controls...>();
  constexpr auto kPart = emu::control_value<emu::Part, emu::Part::kEven, Controls...>();
  constexpr auto kMerge = emu::control_value<emu::Merge, emu::Merge::kZeroing, Controls...>();
  emu::pack_fp4<kRound, kPart, kMerge>(dst, src, mask);
}
