// Launching vector functions on the V pipe.
#pragma once

#include "emu/vector/counts.h"
#include "emu/vector/simt_region.h"

namespace emu {

// UB pointers of the scalar program are offsets; a body runs on host addresses.
inline constexpr uintptr_t kUbWindow = 1u << 20;

template <class T>
EMU_NO_TRACE inline T host_argument(T value) {
  if constexpr (std::is_pointer_v<T>) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(value);
    if (address < kUbWindow) return reinterpret_cast<T>(ub_base() + address);
  }
  return value;
}

struct SimtLaunch {
  cce::dim3 dims;
  std::source_location loc;
  SimtLaunch(cce::dim3 d, std::source_location l = std::source_location::current())
      : dims(d), loc(l) {}
};

// Issues `Fn(args...)` as one SIMD instruction.
template <auto Fn, class... Args>
EMU_NO_TRACE inline void simd_call(const std::source_location& loc, Args... args) {
  Instr instr("simd_vf", Pipe::V, loc);
  instr.work.kind = kVfSimd;
  instr.body = Body([... a = host_argument(args)]() EMU_NO_TRACE {
    active_counts = &vf_counts();
    Fn(a...);
  });
  issue(std::move(instr));
}

}  // namespace emu

// Issues one SIMT instruction that runs `Fn(args...)` for every thread of the launch.
template <auto Fn, class... Args>
EMU_NO_TRACE inline void asc_vf_call(emu::SimtLaunch launch, Args... args) {
  emu::Instr instr("asc_vf_call", emu::Pipe::V, launch.loc);
  instr.work.kind = emu::kVfSimt;
  auto thread = [... a = emu::host_argument(args)] { Fn(a...); };
  instr.body = emu::Body([dims = launch.dims, thread]() mutable EMU_NO_TRACE {
    emu::active_counts = &emu::vf_counts();
    emu::simt::region().run(
        dims, [](void* closure) { (*static_cast<decltype(thread)*>(closure))(); }, &thread);
  });
  emu::issue(std::move(instr));
}
