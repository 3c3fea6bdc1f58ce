// Which loaded bytes a SIMD body uses.
//
// A load brings a whole register, of which masks may let a part through. So a load counts as an
// access only where its bytes reach a store, an address, or a lane that decides one. Registers and
// predicates carry the number of a node; a node knows from which nodes its bytes were made. A
// store walks back from the bytes that it takes to the loads that they came from
// (runtime/flow_graph.cc).
#pragma once

#include <cstdint>

#include "emu/issue.h"
#include "emu/numeric/minifloat.h"

namespace emu {

inline constexpr int kRegisterBytes = 256;
inline constexpr int kBlockBytes = 32;

// One bit for each byte of a register.
struct ByteSet {
  static constexpr int kWords = kRegisterBytes / 64;
  uint64_t word[kWords] = {};

  EMU_INLINE bool any() const { return (word[0] | word[1] | word[2] | word[3]) != 0; }
  EMU_INLINE bool test(int i) const { return word[i >> 6] >> (i & 63) & 1u; }
  EMU_INLINE void set(int first, int count) {
    for (int i = first; i < first + count; ++i) word[i >> 6] |= uint64_t{1} << (i & 63);
  }
};
inline constexpr ByteSet kEveryByte = {{~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}}};

// Number of a node; 0 is a value that no load has a part in.
using Flow = uint32_t;

// From the used bytes of a result, those of source `which`, 0 or 1.
using Trace = ByteSet (*)(const ByteSet& used, int which);

// A load of up to a register by elements of `size` bytes. `trace`: from bytes of the register to
// bytes from `address` on; null if they are the same.
Flow flow_load(const void* address, uint64_t bytes, int size, Trace trace);

// Elements of `size` bytes, each computed from those at its place in the sources: the bytes `out`
// of the result from the bytes `in` of the sources. Its other bytes are those of `kept`.
struct Sources {
  Flow kept = 0, a = 0, b = 0, c = 0, mask = 0;
  EMU_INLINE bool none() const { return (kept | a | b | c | mask) == 0; }
};
Flow flow_through_lanes(int size, const ByteSet& out, const ByteSet& in, const Sources& from);
// A result of which any part needs the bytes `in` of `a`, and all of the other sources.
Flow flow_through_all(const ByteSet& in, const Sources& from);
// A result that moves elements of `a` and `b` about.
Flow flow_through_moves(int size, Trace trace, Flow a, Flow b);

// A value loaded from addresses of its own, lane by lane: it comes after the loads before it.
Flow flow_after_loads();
// A store waits for this register or predicate.
void flow_awaited(Flow flow);
// These bytes of a register or predicate leave the registers.
void flow_out(Flow flow, const ByteSet& bytes);

EMU_INLINE Flow flow_lanes(int size, const ByteSet& out, const ByteSet& in, const Sources& from) {
  return from.none() ? 0 : flow_through_lanes(size, out, in, from);
}
EMU_INLINE Flow flow_all(const ByteSet& in, const Sources& from) {
  return from.none() ? 0 : flow_through_all(in, from);
}
EMU_INLINE Flow flow_moves(int size, Trace trace, Flow a, Flow b = 0) {
  return (a | b) == 0 ? 0 : flow_through_moves(size, trace, a, b);
}
EMU_INLINE void flow_use(Flow flow, const ByteSet& bytes = kEveryByte) {
  if (flow != 0) flow_out(flow, bytes);
}

}  // namespace emu
