// What a kernel's text is wrapped with: its entry, and the names every kernel may use.
#pragma once

#include <cstring>
#include <tuple>
#include <utility>

#include "emu/issue.h"

namespace emu {

template <class T>
EMU_NO_TRACE T argument(const uint64_t slot) {
  T value;
  std::memcpy(&value, &slot, sizeof(T));
  return value;
}

// Calls the kernel with the arguments of `slots`, 8 bytes each.
template <class... A, size_t... I>
EMU_NO_TRACE void call_kernel(void (*kernel)(A...), const uint64_t* slots,
                              std::index_sequence<I...>) {
  kernel(argument<A>(slots[I])...);
}
template <class... A>
EMU_NO_TRACE void call_kernel(void (*kernel)(A...), const uint64_t* slots) {
  call_kernel(kernel, slots, std::index_sequence_for<A...>{});
}

// What the kernel's text calls in place of the functions of these names.
void* seen_memcpy(void* to, const void* from, size_t bytes);
void* seen_memmove(void* to, const void* from, size_t bytes);
void* seen_memset(void* to, int value, size_t bytes);

}  // namespace emu

#define EMU_KERNEL(name)                                                      \
  extern "C" EMU_NO_TRACE void emu_entry_##name(const unsigned long* slots) { \
    emu::call_kernel(&name, slots);                                           \
  }

inline void asc_init() {}
inline int32_t asc_get_sub_block_id() { return emu::sub_block(); }
inline int32_t asc_get_block_num() { return int32_t(emu::block_count()); }
inline int32_t asc_get_block_idx() { return int32_t(emu::block_index()); }
