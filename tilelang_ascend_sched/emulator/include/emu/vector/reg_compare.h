// Comparisons, which make predicates, and selection by a predicate.
#pragma once

#include "emu/vector/controls.h"

namespace emu {

#define EMU_COMPARISON(NAME, OP)                                \
  struct NAME {                                                 \
    template <Arithmetic T>                                     \
    static EMU_INLINE bool apply(T a, T b) {                    \
      if constexpr (is_float16<T>) return float(a) OP float(b); \
      return a OP b;                                            \
    }                                                           \
  };
EMU_COMPARISON(EqOp, ==)
EMU_COMPARISON(NeOp, !=)
EMU_COMPARISON(GtOp, >)
EMU_COMPARISON(GeOp, >=)
EMU_COMPARISON(LtOp, <)
EMU_COMPARISON(LeOp, <=)
#undef EMU_COMPARISON

template <class T>
EMU_VECTOR void keep(Predicate& dst, const Bits<T> (&truth)[Vec<T>::kLanes], const Predicate& mask,
                     Sources from) {
  from.mask = mask.flow;
  const ByteSet computed = active_bytes<T>(mask);
  dst.flow = flow_lanes(sizeof(T), computed, computed, from);
  const Predicate result = collect<T>(truth);
  for (int w = 0; w < 4; ++w) dst.word[w] = result.word[w] & mask.word[w];
}

template <class Op, class T>
EMU_VECTOR void compare(Predicate& dst, const Vec<T>& a, const Vec<T>& b, const Predicate& mask) {
  count<T>();
  Bits<T> truth[Vec<T>::kLanes];
  for (int i = 0; i < Vec<T>::kLanes; ++i) truth[i] = Op::apply(a.lane[i], b.lane[i]);
  keep<T>(dst, truth, mask, {.a = a.flow, .b = b.flow});
}
template <class Op, class T>
EMU_VECTOR void compare_scalar(Predicate& dst, const Vec<T>& a, T b, const Predicate& mask) {
  count<T>();
  Bits<T> truth[Vec<T>::kLanes];
  for (int i = 0; i < Vec<T>::kLanes; ++i) truth[i] = Op::apply(a.lane[i], b);
  keep<T>(dst, truth, mask, {.a = a.flow});
}

}  // namespace emu

#define EMU_COMPARE(NAME, OP)                                                              \
  template <class T>                                                                       \
  EMU_VECTOR void asc_##NAME(vector_bool& dst, const emu::Vec<T>& a, const emu::Vec<T>& b, \
                             vector_bool mask) {                                           \
    emu::compare<emu::OP>(dst, a, b, mask);                                                \
  }                                                                                        \
  template <class T, class S>                                                              \
  EMU_VECTOR void asc_##NAME##_scalar(vector_bool& dst, const emu::Vec<T>& a, S b,         \
                                      vector_bool mask) {                                  \
    emu::compare_scalar<emu::OP>(dst, a, static_cast<T>(b), mask);                         \
  }
EMU_COMPARE(eq, EqOp)
EMU_COMPARE(ne, NeOp)
EMU_COMPARE(gt, GtOp)
EMU_COMPARE(ge, GeOp)
EMU_COMPARE(lt, LtOp)
EMU_COMPARE(le, LeOp)
#undef EMU_COMPARE

template <class T>
EMU_VECTOR void asc_select(emu::Vec<T>& dst, const emu::Vec<T>& a, const emu::Vec<T>& b,
                           vector_bool mask) {
  emu::count<T>();
  emu::Vec<T> r = b;
  emu::commit<emu::Merge::kMerging>(r, a, mask, {.a = a.flow});
  dst = r;
}
