// Atomic read-modify-write of UB and GM, returning the old value. One host thread runs
// everything, so an atomic access is an ordinary one that the race check is told of.
#pragma once

#include "emu/numeric/float16.h"
#include "emu/vector/qualifiers.h"

namespace emu::simt {

template <class T>
struct Same {
  using type = T;
};
// The value operand converts to the pointer's type instead of taking part in deduction.
template <class T>
using operand_t = typename Same<T>::type;

template <class T, class Update>
EMU_NO_TRACE inline T read_modify_write(T* address, Update update) {
  vf_atomic(address, sizeof(T));
  const T old = *address;
  *address = update(old);
  return old;
}

}  // namespace emu::simt

#define EMU_ATOMIC(NAME, RESULT)                                                     \
  template <class T>                                                                 \
  EMU_NO_TRACE inline T asc_atomic_##NAME(T* address, emu::simt::operand_t<T> val) { \
    return emu::simt::read_modify_write(                                             \
        address, [val](T old) EMU_NO_TRACE { return static_cast<T>(RESULT); });      \
  }
EMU_ATOMIC(add, old + val)
EMU_ATOMIC(sub, old - val)
EMU_ATOMIC(exch, val)
EMU_ATOMIC(max, val > old ? val : old)
EMU_ATOMIC(min, val < old ? val : old)
EMU_ATOMIC(and, old& val)
EMU_ATOMIC(or, old | val)
EMU_ATOMIC(xor, old ^ val)
EMU_ATOMIC(inc, old >= val ? T(0) : old + 1)
EMU_ATOMIC(dec, old == T(0) || old > val ? val : old - 1)
#undef EMU_ATOMIC

template <class T>
EMU_NO_TRACE inline T asc_atomic_cas(T* address, emu::simt::operand_t<T> compare,
                                     emu::simt::operand_t<T> val) {
  return emu::simt::read_modify_write(
      address, [compare, val](T old) EMU_NO_TRACE { return old == compare ? val : old; });
}

// A pair is updated element by element.
#define EMU_ATOMIC_PAIR(NAME, RESULT)                                                      \
  template <class F>                                                                       \
  EMU_NO_TRACE inline emu::Float16Pair<F> asc_atomic_##NAME(emu::Float16Pair<F>* address,  \
                                                            emu::Float16Pair<F> v) {       \
    return emu::simt::read_modify_write(address, [v](emu::Float16Pair<F> o) EMU_NO_TRACE { \
      return emu::Float16Pair<F>{RESULT(o.x, v.x), RESULT(o.y, v.y)};                      \
    });                                                                                    \
  }
#define EMU_PAIR_ADD(a, b) ((a) + (b))
#define EMU_PAIR_SUB(a, b) ((a) - (b))
#define EMU_PAIR_MAX(a, b) ((b) > (a) ? (b) : (a))
#define EMU_PAIR_MIN(a, b) ((b) < (a) ? (b) : (a))
EMU_ATOMIC_PAIR(add, EMU_PAIR_ADD)
EMU_ATOMIC_PAIR(sub, EMU_PAIR_SUB)
EMU_ATOMIC_PAIR(max, EMU_PAIR_MAX)
EMU_ATOMIC_PAIR(min, EMU_PAIR_MIN)
#undef EMU_PAIR_ADD
#undef EMU_PAIR_SUB
#undef EMU_PAIR_MAX
#undef EMU_PAIR_MIN
#undef EMU_ATOMIC_PAIR
