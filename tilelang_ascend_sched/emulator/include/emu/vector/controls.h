// The control operands of SIMD instructions. Each value is a type of its own, so that an
// instruction can choose its variant at compile time from a parameter.
#pragma once

#include <type_traits>

#include "emu/vector/reg.h"

namespace emu {

enum class Part : uint8_t { kEven, kOdd, kP0, kP1, kP2, kP3 };
enum class Half : bool { kLower, kHigher };
enum class Lane : bool { kLowest, kHighest };
enum class Order : bool { kIncreasing, kDecreasing };
enum class Bin : bool { kLow, kHigh };
enum class Saturate : bool { kOff, kOn };
enum class Squeeze : bool { kPlain, kStored };

template <auto Value>
using Control = std::integral_constant<decltype(Value), Value>;

// The value among `Controls` of enumeration E, or `Default`.
template <class E, E Default, class... Controls>
constexpr E control_value() {
  E value = Default;
  (
      [&] {
        if constexpr (std::is_same_v<typename Controls::value_type, E>) value = Controls::value;
      }(),
      ...);
  return value;
}

enum class Pattern : uint8_t {
  kAll,
  kVl1,
  kVl2,
  kVl3,
  kVl4,
  kVl8,
  kVl16,
  kVl32,
  kVl64,
  kVl128,
  kM3,
  kM4,
  kHalf,
  kQuarter,
  kNone = 15,
};

}  // namespace emu

#define EMU_CONTROL(NAME, VALUE) inline constexpr emu::Control<emu::VALUE> NAME{};
EMU_CONTROL(MODE_ZEROING, Merge::kZeroing)
EMU_CONTROL(MODE_MERGING, Merge::kMerging)
EMU_CONTROL(MODE_STORED, Squeeze::kStored)
EMU_CONTROL(MODE_NO_STORED, Squeeze::kPlain)
EMU_CONTROL(PART_EVEN, Part::kEven)
EMU_CONTROL(PART_ODD, Part::kOdd)
EMU_CONTROL(PART_P0, Part::kP0)
EMU_CONTROL(PART_P1, Part::kP1)
EMU_CONTROL(PART_P2, Part::kP2)
EMU_CONTROL(PART_P3, Part::kP3)
EMU_CONTROL(LOWER, Half::kLower)
EMU_CONTROL(HIGHER, Half::kHigher)
EMU_CONTROL(POS_LOWEST, Lane::kLowest)
EMU_CONTROL(POS_HIGHEST, Lane::kHighest)
EMU_CONTROL(INC_ORDER, Order::kIncreasing)
EMU_CONTROL(DEC_ORDER, Order::kDecreasing)
EMU_CONTROL(Bin_N0, Bin::kLow)
EMU_CONTROL(Bin_N1, Bin::kHigh)
EMU_CONTROL(RS_DISABLE, Saturate::kOff)
EMU_CONTROL(RS_ENABLE, Saturate::kOn)
EMU_CONTROL(ROUND_R, Rounding::kNearestEven)
EMU_CONTROL(ROUND_A, Rounding::kNearestAway)
EMU_CONTROL(ROUND_F, Rounding::kDown)
EMU_CONTROL(ROUND_C, Rounding::kUp)
EMU_CONTROL(ROUND_Z, Rounding::kTowardZero)
EMU_CONTROL(ROUND_O, Rounding::kOdd)
EMU_CONTROL(PAT_ALL, Pattern::kAll)
EMU_CONTROL(PAT_VL1, Pattern::kVl1)
EMU_CONTROL(PAT_VL2, Pattern::kVl2)
EMU_CONTROL(PAT_VL3, Pattern::kVl3)
EMU_CONTROL(PAT_VL4, Pattern::kVl4)
EMU_CONTROL(PAT_VL8, Pattern::kVl8)
EMU_CONTROL(PAT_VL16, Pattern::kVl16)
EMU_CONTROL(PAT_VL32, Pattern::kVl32)
EMU_CONTROL(PAT_VL64, Pattern::kVl64)
EMU_CONTROL(PAT_VL128, Pattern::kVl128)
EMU_CONTROL(PAT_M3, Pattern::kM3)
EMU_CONTROL(PAT_M4, Pattern::kM4)
EMU_CONTROL(PAT_H, Pattern::kHalf)
EMU_CONTROL(PAT_Q, Pattern::kQuarter)
EMU_CONTROL(PAT_ALLF, Pattern::kNone)
#undef EMU_CONTROL

struct Post {};
inline constexpr Post POST_UPDATE{};

// Names of the distributions that select an overload by element type alone.
enum dist_t { DINTLV_B8, DINTLV_B16, DINTLV_B32 };

// Which pipeline of a body waits for which: V and S are vector and scalar, LD and ST loads and
// stores.
enum mem_type_t {
  VV_ALL,
  VST_VLD,
  VLD_VST,
  VST_VST,
  VS_ALL,
  VST_LD,
  VLD_ST,
  VST_ST,
  SV_ALL,
  ST_VLD,
  LD_VST,
  ST_VST,
  SS_ALL,
  ST_LD,
  LD_ST,
  ST_ST,
};
EMU_VECTOR void asc_mem_bar(mem_type_t type) {
  using emu::MemBarrier;
  if (type == VV_ALL || type == VST_VLD) emu::vf_barrier(MemBarrier::kVectorStoreToVectorLoad);
  if (type == VV_ALL || type == VLD_VST) emu::vf_barrier(MemBarrier::kVectorLoadToVectorStore);
  if (type == VS_ALL || type == VST_LD) emu::vf_barrier(MemBarrier::kVectorStoreToScalarLoad);
  if (type == VS_ALL || type == VLD_ST) emu::vf_barrier(MemBarrier::kVectorLoadToScalarStore);
  if (type == SV_ALL || type == ST_VLD) emu::vf_barrier(MemBarrier::kScalarStoreToVectorLoad);
}
