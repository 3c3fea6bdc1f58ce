#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tilelang_ascend_sched {

// A set of execution pipes, one bit each. The bits are those that TileLang's annotations and solver
// entry points use.
using PipeMask = uint16_t;

enum Pipe : PipeMask {
  kMTE1 = 0x01,     // from L1 to L0A and L0B
  kMTE2 = 0x02,     // from GM to L1 and UB
  kMTE3 = 0x04,     // from UB to GM and L1
  kCube = 0x08,     // matrix multiply; spelled M in flags
  kVector = 0x10,   // SIMD and SIMT bodies; spelled V
  kFixpipe = 0x20,  // from L0C to UB and GM; spelled FIX
  kScalar = 0x40,   // control flow, addresses, registers; spelled S
};

inline constexpr std::array<Pipe, 7> kPipes = {kMTE1,   kMTE2,    kMTE3,  kCube,
                                               kVector, kFixpipe, kScalar};
inline constexpr PipeMask kDmaPipes = kMTE1 | kMTE2 | kMTE3 | kFixpipe;
inline constexpr PipeMask kAllPipes = (1 << 7) - 1;

// The name as flags and barriers spell it: MTE1, MTE2, MTE3, M, V, FIX, S.
std::string PipeName(Pipe pipe);

// The names of all pipes in `mask`, joined by "+"; "none" for an empty mask.
std::string PipeNames(PipeMask mask);

// The pipes that a flag, barrier or lock names: PipeName's spellings, with or without "PIPE_", the
// long forms MAD, VEC, VECTOR, FIXPIPE and SCALAR, and ALL. Empty for anything else.
std::optional<PipeMask> ParsePipe(std::string_view name);

// The cores of one block: a bit each, as in the annotation `core_mask`.
using CoreMask = uint8_t;

enum Core : CoreMask {
  kAiv = 1 << 0,  // Vector core; there are two, running the same code
  kAic = 1 << 1,  // Cube core
};

inline constexpr CoreMask kAnyCore = kAiv | kAic;

// "AIV", "AIC", "AIV+AIC" or "none".
std::string CoreNames(CoreMask mask);

// A set of memory ports, one bit each, as the solver's resource conflicts count them. Transfers
// that share a port share its bandwidth, whatever pipes issue them.
using PortMask = uint16_t;

enum Port : PortMask {
  kAivPort = 1 << 0,    // GM <-> UB
  kAicPort = 1 << 1,    // GM -> L1, L0C -> GM
  kStorePort = 1 << 2,  // UB -> GM, L0C -> GM
};

}  // namespace tilelang_ascend_sched
