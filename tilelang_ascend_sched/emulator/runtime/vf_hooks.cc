// How kernel code reaches the trace of a vector function: the emulator's calls, and the hooks that
// the compiler puts into kernels.
#include <cstring>
#include <utility>

#include "runtime/findings.h"
#include "runtime/ledger.h"
#include "runtime/places.h"
#include "runtime/vf_trace.h"

namespace emu {

void vf_thread(uint32_t thread, uint32_t barriers, uint32_t warp_syncs) {
  vf_trace().thread(thread, barriers, warp_syncs);
}

namespace simt {

bool earlier(const std::source_location& a, const std::source_location& b) {
  const int file = std::strcmp(a.file_name(), b.file_name());
  return file != 0 ? file < 0 : std::pair(a.line(), a.column()) < std::pair(b.line(), b.column());
}

uint32_t line_of(const std::source_location& site) { return site.line(); }

}  // namespace simt

VfCounts& vf_counts() { return vf_trace().counts(); }
void vf_barrier(MemBarrier which) { vf_trace().barrier(which); }

const char* vf_place(const void* address) {
  static std::string text;
  const Machine& m = machine();
  const auto at = reinterpret_cast<uint64_t>(address);
  const LocalMemory& ub = m.core->memory[int(Space::UB)];
  const uint64_t offset = at - reinterpret_cast<uint64_t>(ub.data);
  const GmArray* array = find_array(at);
  if (ub.data && offset < ub.size) {
    text = "UB byte " + std::to_string(offset);
  } else if (array) {
    text = "byte " + std::to_string(at - array->begin) + " of " + array->name;
  } else {
    text.clear();
  }
  return text.c_str();
}

namespace {

// Plain accesses of kernel code to UB and GM; the compiler says that their type is aligned.
void check_natural(const void* address, uint64_t bytes) {
  if (reinterpret_cast<uint64_t>(address) % bytes == 0 || !machine().core) return;
  const char* place = vf_place(address);
  if (*place) {
    findf("alignment", "an access of %u bytes at an address that is no multiple of them: %s",
          unsigned(bytes), place);
  }
}

inline void touch(const void* pointer, uint64_t bytes, Mode mode, const void* return_address,
                  bool vector = false) {
  // Locals of the caller, by far the most accesses: just above this frame on the stack.
  constexpr uint64_t kFrames = 16 * 1024;
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const auto frame = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  if (address - frame < kFrames) return;
  Machine& m = machine();
  const auto caller = reinterpret_cast<uint64_t>(return_address);
  if (m.entry) {
    vf_trace().touch(address, bytes, mode, caller, vector);
  } else if (m.core) {
    scalar_touch(*m.core, address, bytes, mode, code_place(caller, m.core->last_at));
  }
}

}  // namespace

#define EMU_CALLER __builtin_return_address(0)
void vf_read(const void* address, uint64_t bytes) {
  touch(address, bytes, Mode::Read, EMU_CALLER, true);
}
void vf_write(const void* address, uint64_t bytes) {
  touch(address, bytes, Mode::Write, EMU_CALLER, true);
}
void vf_atomic(const void* address, uint64_t bytes) {
  touch(address, bytes, Mode::Atomic, EMU_CALLER, true);
}

Flow flow_load(const void* pointer, uint64_t bytes, int size, Trace trace) {
  if (!machine().entry) {
    touch(pointer, bytes, Mode::Read, EMU_CALLER, true);
    return 0;
  }
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const auto caller = reinterpret_cast<uint64_t>(EMU_CALLER);
  return vf_trace().load(address, bytes, size, trace, caller);
}

Flow flow_after_loads() { return vf_trace().after_loads(); }
void flow_awaited(Flow flow) { vf_trace().awaited(flow); }
void flow_out(Flow flow, const ByteSet& bytes) { vf_trace().flow_out(flow, bytes); }

Flow flow_through_lanes(int size, const ByteSet& out, const ByteSet& in, const Sources& from) {
  VfTrace& trace = vf_trace();
  if (!trace.flow().full()) return trace.flow().lanes(size, out, in, from);
  for (Flow source : {from.a, from.b, from.c}) trace.flow_out(source, in);
  for (Flow source : {from.kept, from.mask}) trace.flow_out(source, kEveryByte);
  return 0;
}

Flow flow_through_all(const ByteSet& in, const Sources& from) {
  VfTrace& trace = vf_trace();
  if (!trace.flow().full()) return trace.flow().all(in, from);
  trace.flow_out(from.a, in);
  for (Flow source : {from.b, from.c, from.kept, from.mask}) trace.flow_out(source, kEveryByte);
  return 0;
}

Flow flow_through_moves(int size, Trace trace, Flow a, Flow b) {
  VfTrace& body = vf_trace();
  if (!body.flow().full()) return body.flow().moves(size, trace, a, b);
  for (Flow source : {a, b}) body.flow_out(source, kEveryByte);
  return 0;
}

void* seen_memcpy(void* to, const void* from, size_t bytes) {
  touch(from, bytes, Mode::Read, EMU_CALLER);
  touch(to, bytes, Mode::Write, EMU_CALLER);
  return std::memcpy(to, from, bytes);
}
void* seen_memmove(void* to, const void* from, size_t bytes) {
  touch(from, bytes, Mode::Read, EMU_CALLER);
  touch(to, bytes, Mode::Write, EMU_CALLER);
  return std::memmove(to, from, bytes);
}
void* seen_memset(void* to, int value, size_t bytes) {
  touch(to, bytes, Mode::Write, EMU_CALLER);
  return std::memset(to, value, bytes);
}

}  // namespace emu

// The compiler's own hooks: kernels are compiled with -fsanitize=thread and linked with these.
extern "C" {
#define EMU_HOOK_AS(name, bytes, mode) \
  void __tsan_##name##bytes(void* p) { emu::touch(p, bytes, emu::Mode::mode, EMU_CALLER); }
#define EMU_ALIGNED_HOOK(name, bytes, mode)            \
  void __tsan_##name##bytes(void* p) {                 \
    emu::check_natural(p, bytes);                      \
    emu::touch(p, bytes, emu::Mode::mode, EMU_CALLER); \
  }
#define EMU_HOOK(bytes)                          \
  EMU_ALIGNED_HOOK(read, bytes, Read)            \
  EMU_ALIGNED_HOOK(write, bytes, Write)          \
  EMU_ALIGNED_HOOK(volatile_read, bytes, Read)   \
  EMU_ALIGNED_HOOK(volatile_write, bytes, Write) \
  EMU_HOOK_AS(unaligned_read, bytes, Read)       \
  EMU_HOOK_AS(unaligned_write, bytes, Write)
EMU_HOOK(1)
EMU_HOOK(2)
EMU_HOOK(4)
EMU_HOOK(8)
EMU_HOOK(16)
#undef EMU_HOOK
#undef EMU_ALIGNED_HOOK
#undef EMU_HOOK_AS
void __tsan_read_range(void* p, unsigned long n) { emu::touch(p, n, emu::Mode::Read, EMU_CALLER); }
void __tsan_write_range(void* p, unsigned long n) {
  emu::touch(p, n, emu::Mode::Write, EMU_CALLER);
}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_init() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_atomic_thread_fence(int) {}
}
