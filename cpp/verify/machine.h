#pragma once

#include <cstdint>

namespace tilelang_ascend_sched::verify {

// One block runs on one AIC (Cube) and up to two AIVs (Vector).
enum class Core : uint8_t { kAic, kAiv0, kAiv1 };
inline constexpr int kCores = 3;

enum class Pipe : uint8_t { kS, kV, kM, kMte1, kMte2, kMte3, kFix };
inline constexpr int kPipes = 7;

// A pipe of a core: what happens-before orders. Its events are numbered from 1.
using Thread = uint8_t;
inline constexpr int kThreads = kCores * kPipes;
// What the scalar unit of a core has waited for is numbered apart: it goes on only once a wait is
// met, though what it wrote before may still be under way.
inline constexpr int kClocked = kThreads + kCores;
inline constexpr Thread WaitsOf(int core) { return static_cast<Thread>(kThreads + core); }

inline constexpr Thread ThreadOf(Core core, Pipe pipe) {
  return static_cast<Thread>(static_cast<int>(core) * kPipes + static_cast<int>(pipe));
}
inline constexpr Core CoreOf(Thread thread) { return static_cast<Core>(thread / kPipes); }
inline constexpr Pipe PipeOf(Thread thread) { return static_cast<Pipe>(thread % kPipes); }

// Memories that a block can address. The scale shadows of L0A and L0B have addresses of their own.
enum class Space : uint8_t { kUb0, kUb1, kL1, kL0a, kL0b, kL0c, kL0aScale, kL0bScale, kGm };
inline constexpr int kOnChipSpaces = 8;

inline constexpr Space UbOf(Core core) { return core == Core::kAiv1 ? Space::kUb1 : Space::kUb0; }

inline constexpr int kCrossFlagIds = 16;   // the AIC reaches AIV1 by ids from here on
inline constexpr int kQueueDepth = 32;     // instructions that wait on one pipe
inline constexpr int kFractalBytes = 512;  // L0 and L1 matrices are tiled by 16 rows of 32 bytes
inline constexpr int kBlockBytes = 32;

inline constexpr const char* NameOf(Core core) {
  constexpr const char* names[] = {"AIC", "AIV0", "AIV1"};
  return names[static_cast<int>(core)];
}
inline constexpr const char* NameOf(Pipe pipe) {
  constexpr const char* names[] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX"};
  return names[static_cast<int>(pipe)];
}
inline constexpr const char* NameOf(Space space) {
  constexpr const char* names[] = {"UB",  "UB",        "L1",        "L0A", "L0B",
                                   "L0C", "L0A scale", "L0B scale", "GM"};
  return names[static_cast<int>(space)];
}

}  // namespace tilelang_ascend_sched::verify
