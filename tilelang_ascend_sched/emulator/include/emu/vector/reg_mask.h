// Predicate registers: patterns, tails, logic, packing and interleaving.
#pragma once

#include "emu/vector/controls.h"

namespace emu {

// Lanes [0, n) of elements of B bytes.
template <int B>
EMU_VECTOR Predicate first_lanes(uint32_t n) {
  constexpr uint32_t kPerWord = 64 / B;
  Predicate mask;
  for (uint32_t w = 0; w < 4; ++w) {
    const uint32_t before = w * kPerWord;
    const uint32_t lanes = n <= before ? 0 : n - before < kPerWord ? n - before : kPerWord;
    const uint64_t low = lanes == kPerWord ? ~uint64_t{0} : (uint64_t{1} << (lanes * B)) - 1;
    mask.word[w] = kElementBits<B> & low;
  }
  return mask;
}

template <int B>
EMU_VECTOR Predicate every_lane(int step) {
  Predicate mask;
  for (int i = 0; i < kRegisterBytes / B; i += step) mask.set(i * B, true);
  return mask;
}

template <int B, Pattern P>
EMU_VECTOR Predicate pattern_mask() {
  constexpr uint32_t kLanes = kRegisterBytes / B;
  switch (P) {
    case Pattern::kAll:
      return first_lanes<B>(kLanes);
    case Pattern::kVl1:
      return first_lanes<B>(1);
    case Pattern::kVl2:
      return first_lanes<B>(2);
    case Pattern::kVl3:
      return first_lanes<B>(3);
    case Pattern::kVl4:
      return first_lanes<B>(4);
    case Pattern::kVl8:
      return first_lanes<B>(8);
    case Pattern::kVl16:
      return first_lanes<B>(16);
    case Pattern::kVl32:
      return first_lanes<B>(32);
    case Pattern::kVl64:
      return first_lanes<B>(64);
    case Pattern::kVl128:
      return first_lanes<B>(128);
    case Pattern::kM3:
      return every_lane<B>(3);
    case Pattern::kM4:
      return every_lane<B>(4);
    case Pattern::kHalf:
      return first_lanes<B>(kLanes / 2);
    case Pattern::kQuarter:
      return first_lanes<B>(kLanes / 4);
    case Pattern::kNone:
      return Predicate{};
  }
  __builtin_unreachable();
}

// The next tail mask of a count of elements; the count goes down by a register.
template <int B>
EMU_VECTOR Predicate next_tail(uint32_t& value) {
  constexpr uint32_t kLanes = kRegisterBytes / B;
  const Predicate mask = first_lanes<B>(value);
  value = value < kLanes ? 0 : value - kLanes;
  return mask;
}

// Bits 0, 2, 4, ... of 64 squeezed into the low 32.
EMU_VECTOR uint64_t even_bits(uint64_t x) {
  x &= 0x5555555555555555u;
  x = (x | x >> 1) & 0x3333333333333333u;
  x = (x | x >> 2) & 0x0f0f0f0f0f0f0f0fu;
  x = (x | x >> 4) & 0x00ff00ff00ff00ffu;
  x = (x | x >> 8) & 0x0000ffff0000ffffu;
  return (x | x >> 16) & 0xffffffffu;
}

// The reverse: the low 32 bits moved to 0, 2, 4, ...
EMU_VECTOR uint64_t spread_bits(uint64_t x) {
  x &= 0xffffffffu;
  x = (x | x << 16) & 0x0000ffff0000ffffu;
  x = (x | x << 8) & 0x00ff00ff00ff00ffu;
  x = (x | x << 4) & 0x0f0f0f0f0f0f0f0fu;
  x = (x | x << 2) & 0x3333333333333333u;
  return (x | x << 1) & 0x5555555555555555u;
}

template <int Group>
EMU_VECTOR uint32_t group_of(const Predicate& p, int index) {
  const int bit = index * Group;
  return static_cast<uint32_t>(p.word[bit >> 6] >> (bit & 63)) & ((1u << Group) - 1);
}
template <int Group>
EMU_VECTOR void put_group(Predicate& p, int index, uint32_t bits) {
  const int bit = index * Group;
  p.word[bit >> 6] |= static_cast<uint64_t>(bits) << (bit & 63);
}

template <int Group>
EMU_VECTOR void interleave(Predicate& d0, Predicate& d1, Predicate a, Predicate b) {
  constexpr int kGroups = kRegisterBytes / Group;
  Predicate r[2];
  for (int i = 0; i < kGroups; ++i) {
    Predicate& out = r[i >= kGroups / 2];
    const int at = 2 * (i % (kGroups / 2));
    put_group<Group>(out, at, group_of<Group>(a, i));
    put_group<Group>(out, at + 1, group_of<Group>(b, i));
  }
  d0 = r[0];
  d1 = r[1];
  d0.flow = d1.flow = flow_all(kEveryByte, {.a = a.flow, .b = b.flow});
}

template <int Group>
EMU_VECTOR void deinterleave(Predicate& d0, Predicate& d1, Predicate a, Predicate b) {
  constexpr int kGroups = kRegisterBytes / Group;
  Predicate r[2];
  for (int i = 0; i < kGroups; ++i) {
    const Predicate& in = i < kGroups / 2 ? a : b;
    const int at = 2 * (i % (kGroups / 2));
    put_group<Group>(r[0], i, group_of<Group>(in, at));
    put_group<Group>(r[1], i, group_of<Group>(in, at + 1));
  }
  d0 = r[0];
  d1 = r[1];
  d0.flow = d1.flow = flow_all(kEveryByte, {.a = a.flow, .b = b.flow});
}

}  // namespace emu

#define EMU_MASK_WIDTH(WIDTH, BYTES)                                                   \
  template <emu::Pattern P>                                                            \
  EMU_VECTOR vector_bool asc_create_mask_##WIDTH(emu::Control<P>) {                    \
    return emu::pattern_mask<BYTES, P>();                                              \
  }                                                                                    \
  EMU_VECTOR vector_bool asc_update_mask_##WIDTH(uint32_t& value) {                    \
    return emu::next_tail<BYTES>(value);                                               \
  }                                                                                    \
  EMU_VECTOR void asc_intlv_##WIDTH(vector_bool& d0, vector_bool& d1, vector_bool a,   \
                                    vector_bool b) {                                   \
    emu::interleave<BYTES>(d0, d1, a, b);                                              \
  }                                                                                    \
  EMU_VECTOR void asc_deintlv_##WIDTH(vector_bool& d0, vector_bool& d1, vector_bool a, \
                                      vector_bool b) {                                 \
    emu::deinterleave<BYTES>(d0, d1, a, b);                                            \
  }
EMU_MASK_WIDTH(b8, 1)
EMU_MASK_WIDTH(b16, 2)
EMU_MASK_WIDTH(b32, 4)
#undef EMU_MASK_WIDTH
template <emu::Pattern P>
EMU_VECTOR vector_bool asc_create_mask_b64(emu::Control<P>) {
  return emu::pattern_mask<8, P>();
}

namespace emu {
// Each bit made of those at its place, the masked ones zero.
EMU_VECTOR Flow flow_of_bits(Sources from, const Predicate& mask) {
  from.mask = mask.flow;
  ByteSet computed;
  for (int w = 0; w < ByteSet::kWords; ++w) computed.word[w] = mask.word[w];
  return flow_lanes(1, computed, computed, from);
}
}  // namespace emu

#define EMU_MASK_LOGIC(NAME, EXPRESSION)                                                         \
  EMU_VECTOR void asc_##NAME(vector_bool& dst, vector_bool a, vector_bool b, vector_bool mask) { \
    dst.flow = emu::flow_of_bits({.a = a.flow, .b = b.flow}, mask);                              \
    for (int w = 0; w < 4; ++w) dst.word[w] = (EXPRESSION) & mask.word[w];                       \
  }
EMU_MASK_LOGIC(and, a.word[w] & b.word[w])
EMU_MASK_LOGIC(or, a.word[w] | b.word[w])
EMU_MASK_LOGIC(xor, a.word[w] ^ b.word[w])
#undef EMU_MASK_LOGIC

EMU_VECTOR void asc_not(vector_bool& dst, vector_bool a, vector_bool mask) {
  dst.flow = emu::flow_of_bits({.a = a.flow}, mask);
  for (int w = 0; w < 4; ++w) dst.word[w] = ~a.word[w] & mask.word[w];
}

EMU_VECTOR void asc_select(vector_bool& dst, vector_bool a, vector_bool b, vector_bool mask) {
  dst.flow = emu::flow_lanes(1, emu::kEveryByte, emu::kEveryByte,
                             {.a = a.flow, .b = b.flow, .mask = mask.flow});
  for (int w = 0; w < 4; ++w) {
    dst.word[w] = (a.word[w] & mask.word[w]) | (b.word[w] & ~mask.word[w]);
  }
}

// Even bits go to one half of the result, the other half is zero.
EMU_VECTOR void asc_pack_to_low(vector_bool& dst, vector_bool src) {
  dst = {{emu::even_bits(src.word[0]) | emu::even_bits(src.word[1]) << 32,
          emu::even_bits(src.word[2]) | emu::even_bits(src.word[3]) << 32, 0, 0}};
  dst.flow = emu::flow_all(emu::kEveryByte, {.a = src.flow});
}
EMU_VECTOR void asc_pack_to_high(vector_bool& dst, vector_bool src) {
  dst = {{0, 0, emu::even_bits(src.word[0]) | emu::even_bits(src.word[1]) << 32,
          emu::even_bits(src.word[2]) | emu::even_bits(src.word[3]) << 32}};
  dst.flow = emu::flow_all(emu::kEveryByte, {.a = src.flow});
}
// Each bit of one half becomes two, the upper of them zero.
EMU_VECTOR void asc_unpack_lower(vector_bool& dst, vector_bool src) {
  dst = {{emu::spread_bits(src.word[0]), emu::spread_bits(src.word[0] >> 32),
          emu::spread_bits(src.word[1]), emu::spread_bits(src.word[1] >> 32)}};
  dst.flow = emu::flow_all(emu::kEveryByte, {.a = src.flow});
}
EMU_VECTOR void asc_unpack_upper(vector_bool& dst, vector_bool src) {
  dst = {{emu::spread_bits(src.word[2]), emu::spread_bits(src.word[2] >> 32),
          emu::spread_bits(src.word[3]), emu::spread_bits(src.word[3] >> 32)}};
  dst.flow = emu::flow_all(emu::kEveryByte, {.a = src.flow});
}
