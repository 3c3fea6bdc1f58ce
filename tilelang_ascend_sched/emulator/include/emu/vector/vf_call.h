// Launching vector functions on the V pipe.
#pragma once

#include "emu/vector/counts.h"
#include "emu/vector/simt_region.h"

namespace emu {

struct SimtLaunch {
  cce::dim3 dims;
  std::source_location loc;
  // Implicit: a call names the dims alone. NOLINTNEXTLINE(runtime/explicit)
  SimtLaunch(cce::dim3 d, std::source_location l = std::source_location::current())
      : dims(d), loc(l) {}
};

// Issues `Fn(args...)` as one SIMD instruction.
template <auto Fn, class... Args>
EMU_NO_TRACE inline void simd_call(const std::source_location& loc, Args... args) {
  Instr instr("simd_vf", Pipe::V, loc);
  instr.work.kind = kVfSimd;
  instr.body = Body([args...]() EMU_NO_TRACE {
    begin_body();
    Fn(args...);
  });
  issue(std::move(instr));
}

}  // namespace emu

// Issues one SIMT instruction that runs `Fn(args...)` for every thread of the launch.
template <auto Fn, class... Args>
EMU_NO_TRACE inline void asc_vf_call(emu::SimtLaunch launch, Args... args) {
  emu::Instr instr("asc_vf_call", emu::Pipe::V, launch.loc);
  instr.work.kind = emu::kVfSimt;
  auto thread = [args...] { Fn(args...); };
  instr.body = emu::Body([dims = launch.dims, thread]() mutable EMU_NO_TRACE {
    emu::begin_body();
    emu::simt::region().run(
        dims, [](void* closure) { (*static_cast<decltype(thread)*>(closure))(); }, &thread);
  });
  emu::issue(std::move(instr));
}
