// What vector code keeps about the body being run.
#pragma once

#include "emu/vector/qualifiers.h"

namespace emu {

// Takes the counts of code that runs outside any vector function.
inline VfCounts uncounted;

// The operation counts of the body being run, for the time model.
inline VfCounts* active_counts = &uncounted;

// Whether this body has already been found to use a misaligned address.
inline bool misaligned_found = false;

EMU_NO_TRACE inline void begin_body() {
  active_counts = &vf_counts();
  misaligned_found = false;
}

// What a straight run of a SIMT body computes in one thread; calls are put into the text.
[[gnu::noinline]] EMU_NO_TRACE inline void simt_work(uint32_t alu, uint32_t div) {
  active_counts->alu += alu;
  active_counts->div += div;
}

// The line of a SIMD body that runs next; calls are put into the text.
[[gnu::noinline]] EMU_NO_TRACE inline void simd_line(uint32_t line) { active_counts->line = line; }

}  // namespace emu
