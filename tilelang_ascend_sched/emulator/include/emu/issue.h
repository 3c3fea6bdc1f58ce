// How a stub instruction reaches a pipe, and how it says which bytes it touches.
//
// A stub runs on a core's scalar program. It checks its operands, declares its accesses, captures
// its arguments by value and calls issue(). The body runs later, when the scheduler picks the pipe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <source_location>
#include <type_traits>
#include <utility>

#if defined(__SANITIZE_THREAD__)
// Marks emulator code whose loads and stores are not the kernel's own.
#define EMU_NO_TRACE __attribute__((no_sanitize_thread))
#else
#define EMU_NO_TRACE
#endif

// Last parameter of every stub: where the kernel called it.
#define EMU_LOC std::source_location loc = std::source_location::current()

namespace emu {

enum class Pipe : uint8_t { S, V, M, MTE1, MTE2, MTE3, FIX };
inline constexpr int kPipes = 7;

// MXA and MXB hold the block scales of the operands in L0A and L0B.
enum class Space : uint8_t { GM, UB, L1, L0A, L0B, L0C, MXA, MXB };
inline constexpr int kSpaces = 8;

enum class Mode : uint8_t { Read, Write, Atomic };

// `rows` runs of `row_bytes` bytes, `stride` bytes apart. `begin` is a byte offset in the space;
// for GM a host address. `sub` names the core whose memory is meant when it is another's: AIV 0 or
// 1 as an AIC instruction writes UB, kAic as an AIV writes L1; -1 is the issuing core's own.
inline constexpr int8_t kAic = 2;
struct Access {
  Space space;
  Mode mode;
  int8_t sub = -1;
  uint64_t begin;
  uint64_t row_bytes;
  uint32_t rows = 1;
  int64_t stride = 0;
};

// What the time model needs to know of one instruction. Work that is only known after running
// (a vector function) is added through VfCounts below.
struct Work {
  uint64_t bytes = 0;        // moved
  uint64_t mmad_macs = 0;    // multiply-accumulates
  uint8_t kind = 0;          // WorkKind
  uint32_t descriptors = 1;  // L1 to L0 fractal rows, MTE bursts
};

enum WorkKind : uint8_t {
  kNone,
  kGmToL1,
  kGmToUb,
  kUbToGm,
  kUbToL1,
  kL1ToL0,
  kL1Fill,
  kL0cToUb,
  kL0cToUbDual,
  kL0cToGm,
  kMxScale,
  kMmadB16,
  kMmadF8,
  kMmadF4,
  kMmadHf32,
  kMmadF32,
  kMmadMx8,
  kMmadMx4,
  kVfSimt,
  kVfSimd,
  kScalar,
};

struct Loc {
  const char* file;
  uint32_t line;       // of the stub's call
  uint32_t call_site;  // line of the kernel's text when `file` is a template of the wheel
};
Loc make_loc(const std::source_location& at);

// A callable of any size kept in place; only run once.
class Body {
 public:
  static constexpr size_t kBytes = 232;
  Body() = default;
  template <class F>
  EMU_NO_TRACE explicit Body(F f) {
    static_assert(sizeof(F) <= kBytes && std::is_trivially_copyable_v<F>,
                  "an instruction captures plain values only");
    new (bytes_) F(f);
    run_ = [](void* p) { (*static_cast<F*>(p))(); };
  }
  void operator()() { run_(bytes_); }
  explicit operator bool() const { return run_ != nullptr; }

 private:
  void (*run_)(void*) = nullptr;
  alignas(16) unsigned char bytes_[kBytes];
};

inline constexpr int kMaxAccesses = 5;

struct Instr {
  const char* name;
  Pipe pipe;
  Loc loc;
  Work work;
  uint8_t access_count = 0;
  Access access[kMaxAccesses];
  Body body;

  Instr(const char* n, Pipe p, const std::source_location& at)
      : name(n), pipe(p), loc(make_loc(at)) {}
  Instr& reads(const Access& a) { return add(a, Mode::Read); }
  Instr& writes(const Access& a) { return add(a, Mode::Write); }
  Instr& atomics(const Access& a) { return add(a, Mode::Atomic); }

 private:
  Instr& add(Access a, Mode mode) {
    a.mode = mode;
    access[access_count++] = a;
    return *this;
  }
};

// Puts the instruction on its pipe of the running core. Suspends the scalar program while the
// queue is full. Bounds, alignment and initialization of the declared accesses are checked when
// it runs, and reported at its line.
void issue(Instr&& instr);

// The running core.
bool is_aic();
int sub_block();  // 0 or 1 on an AIV, 0 on an AIC
uint32_t block_index();
uint32_t block_count();
char* ub_base();  // host address of this core's UB; the AIC's is a view never dereferenced

// ---- Vector functions (SIMT and SIMD bodies) -----------------------------------------------
// Issue with Pipe::V, Work.kind kVfSimt or kVfSimd and no declared accesses: what the body loads
// and stores is recorded while it runs.

// A load or store of the running body, in SIMD bodies one of the vector unit: byte-exact, checked
// against UB and the GM arrays; other addresses (its own stack) are ignored. Code compiled with
// -fsanitize=thread gets such calls for its own accesses, which are scalar ones; call these only
// from EMU_NO_TRACE code.
void vf_read(const void* address, uint64_t bytes);
void vf_write(const void* address, uint64_t bytes);
void vf_atomic(const void* address, uint64_t bytes);

// What a barrier of a SIMD body makes wait for what: a later load for the stores before, a later
// store for the loads before. Stores keep their order by themselves.
enum class MemBarrier : uint8_t {
  kVectorStoreToVectorLoad,
  kVectorStoreToScalarLoad,
  kScalarStoreToVectorLoad,
  kVectorLoadToVectorStore,
  kVectorLoadToScalarStore,
};
void vf_barrier(MemBarrier which);

// Which SIMT thread runs from here on, and how many block-wide barriers it has passed. Accesses
// of two threads to one byte conflict unless a barrier lies between.
void vf_thread(uint32_t thread, uint32_t barriers, uint32_t warp_syncs);

// The address in words, "UB byte 12" or "byte 6 of X"; valid until the next call.
const char* vf_place(const void* address);

// Operation counts of the running body, in lanes, for the time model.
struct VfCounts {
  uint32_t line = 0;                       // of a SIMD body, as far as it is known
  uint64_t alu = 0, div = 0, special = 0;  // special: exp, ln, sqrt
  uint64_t loads = 0, stores = 0;          // slots of 256 bytes (SIMD) or accesses (SIMT)
};
VfCounts& vf_counts();

// Ends the run with this message at the running instruction's line: for a mode not modelled and
// for misuse that leaves no sensible result. `argument` names the operand.
[[noreturn]] void fail(const char* what, const char* argument = "");
[[noreturn]] void failf(const char* format, ...) __attribute__((format(printf, 1, 2)));
// Reports a finding of this kind at the running instruction and goes on.
void findf(const char* kind, const char* format, ...) __attribute__((format(printf, 2, 3)));

}  // namespace emu
