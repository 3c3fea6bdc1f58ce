// Runs one SIMT body: every thread in order, each to its end unless it meets a barrier or a
// warp-wide operation.
//
// A thread runs on a worker fiber. A worker whose thread returns takes the next one, so a body
// without barriers costs one fiber in all; a worker whose thread waits keeps it, and the next
// thread gets another worker.
//
// A warp-wide operation is carried out when no thread of the warp can go on, for the threads
// waiting at the same place in the source. If they wait at several places, the one that comes
// first in the source goes first, so that threads still in a loop catch up with those past it.
#pragma once

#include <cstring>
#include <source_location>

#include "emu/fiber.h"
#include "emu/vector/qualifiers.h"

namespace cce {

struct dim3 {
  uint32_t x, y, z;
  // Implicit, as in the interface it stands for. NOLINTNEXTLINE(runtime/explicit)
  constexpr dim3(uint32_t x_ = 1, uint32_t y_ = 1, uint32_t z_ = 1) : x(x_), y(y_), z(z_) {}
};

}  // namespace cce

using dim3 = cce::dim3;

namespace emu::simt {

// Of the runtime: std::source_location's own functions would be traced here.
// True when `a` comes before `b` in the source.
bool earlier(const std::source_location& a, const std::source_location& b);
uint32_t line_of(const std::source_location& site);

inline constexpr uint32_t kWarp = 32;
inline constexpr uint32_t kMaxThreads = 2048;
inline constexpr size_t kStackBytes = 64 * 1024;

enum class State : uint8_t { kNotStarted, kRunning, kAtWarp, kAtBarrier, kDone };

struct Thread {
  State state = State::kNotStarted;
  uint32_t index = 0;
  Fiber* fiber = nullptr;
  std::source_location site;
  uint64_t value = 0;  // brought to a warp-wide operation
  bool orders_memory = false;
};

// What the threads of a warp-wide operation brought, by lane.
struct Exchange {
  uint32_t active = 0;
  uint64_t value[kWarp] = {};
};

class Region {
 public:
  using Body = void (*)(void*);

  // Runs `body(closure)` once for every thread of `dims`.
  EMU_NO_TRACE void run(cce::dim3 dims, Body body, void* closure);

  EMU_NO_TRACE cce::dim3 dims() const { return dims_; }
  EMU_NO_TRACE cce::dim3 thread_index() const {
    const uint32_t t = self_->index;
    return {t % dims_.x, t / dims_.x % dims_.y, t / (dims_.x * dims_.y)};
  }
  EMU_NO_TRACE uint32_t lane() const { return self_->index % kWarp; }

  // Waits for the warp; the result is valid until the thread waits again.
  EMU_NO_TRACE const Exchange& meet(uint64_t value, const std::source_location& site,
                                    bool orders_memory = false) {
    self_->value = value;
    self_->orders_memory = orders_memory;
    wait(State::kAtWarp, site);
    return exchange_;
  }
  EMU_NO_TRACE void barrier(const std::source_location& site) { wait(State::kAtBarrier, site); }

 private:
  EMU_NO_TRACE static void work(void* region);
  EMU_NO_TRACE void start_threads();
  EMU_NO_TRACE void settle_warp(uint32_t first);
  EMU_NO_TRACE void pass_barrier(uint32_t waiting);
  EMU_NO_TRACE const Thread* first_waiting() const {
    const Thread* t = threads_;
    while (t->state != State::kAtBarrier) ++t;
    return t;
  }
  EMU_NO_TRACE void enter(Thread& t) {
    self_ = &t;
    t.state = State::kRunning;
    vf_thread(t.index, barriers_, warp_syncs_[t.index / kWarp]);
  }
  EMU_NO_TRACE void resume(Thread& t) {
    enter(t);
    t.fiber->resume();
  }
  EMU_NO_TRACE void wait(State state, const std::source_location& site) {
    self_->state = state;
    self_->site = site;
    self_->fiber = Fiber::current();
    Fiber::suspend();
  }
  cce::dim3 dims_;
  Body body_ = nullptr;
  void* closure_ = nullptr;
  uint32_t size_ = 0;  // threads
  uint32_t next_ = 0;
  uint32_t barriers_ = 0;
  uint32_t warp_syncs_[kMaxThreads / kWarp] = {};  // synchronizations of the whole warp
  Thread* self_ = nullptr;
  Exchange exchange_;
  Thread threads_[kMaxThreads];
  Fiber* workers_[kMaxThreads] = {};  // kept for the next body
};

// The SIMT body being run; there is only ever one, since a body runs to its end.
inline Region the_region;
EMU_NO_TRACE inline Region& region() { return the_region; }

EMU_NO_TRACE inline void Region::run(cce::dim3 dims, Body body, void* closure) {
  const uint64_t size = uint64_t{dims.x} * dims.y * dims.z;
  if (size > kMaxThreads) {
    failf("asc_vf_call: %llu threads, at most %u", static_cast<unsigned long long>(size),
          kMaxThreads);
  }
  dims_ = dims;
  body_ = body;
  closure_ = closure;
  size_ = static_cast<uint32_t>(size);
  next_ = 0;
  barriers_ = 0;
  std::memset(warp_syncs_, 0, sizeof warp_syncs_);
  for (uint32_t t = 0; t < size_; ++t) {
    threads_[t].state = State::kNotStarted;
    threads_[t].index = t;
  }
  start_threads();
  for (;;) {
    for (uint32_t first = 0; first < size_; first += kWarp) settle_warp(first);
    uint32_t waiting = 0;
    for (uint32_t t = 0; t < size_; ++t) waiting += threads_[t].state == State::kAtBarrier;
    if (waiting == 0) return;
    pass_barrier(waiting);
  }
}

EMU_NO_TRACE inline void Region::work(void* region) {
  Region& r = *static_cast<Region*>(region);
  while (r.next_ < r.size_) {
    r.enter(r.threads_[r.next_++]);
    r.body_(r.closure_);
    r.self_->state = State::kDone;
  }
}

EMU_NO_TRACE inline void Region::start_threads() {
  for (uint32_t used = 0; next_ < size_; ++used) {
    if (workers_[used] == nullptr) workers_[used] = new Fiber(kStackBytes);
    workers_[used]->start(&Region::work, this);
    workers_[used]->resume();
  }
}

EMU_NO_TRACE inline void Region::settle_warp(uint32_t first) {
  const uint32_t last = first + kWarp < size_ ? first + kWarp : size_;
  for (;;) {
    const Thread* leader = nullptr;
    for (uint32_t t = first; t < last; ++t) {
      if (threads_[t].state != State::kAtWarp) continue;
      if (leader == nullptr || earlier(threads_[t].site, leader->site)) leader = &threads_[t];
    }
    if (leader == nullptr) return;
    const std::source_location site = leader->site;
    exchange_.active = 0;
    for (uint32_t t = first; t < last; ++t) {
      const Thread& thread = threads_[t];
      if (thread.state != State::kAtWarp || earlier(site, thread.site)) continue;
      exchange_.active |= 1u << (t - first);
      exchange_.value[t - first] = thread.value;
    }
    const uint32_t group = exchange_.active;
    // A part of the warp orders nothing for the lanes that are elsewhere.
    const bool whole = uint32_t(__builtin_popcount(group)) == last - first;
    if (whole && leader->orders_memory) ++warp_syncs_[first / kWarp];
    for (uint32_t t = first; t < last; ++t) {
      if (group >> (t - first) & 1u) resume(threads_[t]);
    }
  }
}

// A thread that returned counts as arrived, but the device may wait for it forever.
EMU_NO_TRACE inline void Region::pass_barrier(uint32_t waiting) {
  if (waiting != size_) {
    findf("barrier", "asc_syncthreads at line %u: %u of %u threads return without reaching it",
          line_of(first_waiting()->site), size_ - waiting, size_);
  }
  ++barriers_;
  for (uint32_t t = 0; t < size_; ++t) {
    if (threads_[t].state == State::kAtBarrier) resume(threads_[t]);
  }
}

// The address of an access of several elements at once, which the device wants aligned to all of
// them; calls are put into the text.
[[gnu::noinline]] EMU_NO_TRACE inline void report_misaligned(const volatile void* address,
                                                             uint32_t bytes) {
  if (misaligned_found) return;
  misaligned_found = true;
  findf("alignment", "an access of %u bytes at an address that is no multiple of them: %s", bytes,
        vf_place(const_cast<const void*>(address)));
}
template <class T, class P>
EMU_INLINE P* whole(P* address) {
  if (reinterpret_cast<uintptr_t>(address) % sizeof(T)) report_misaligned(address, sizeof(T));
  return address;
}

// The coordinates of the running thread. One thread's calls may share a result, which keeps the
// read out of its loops; the body is entered through a pointer, so threads never share one.
[[gnu::noinline, gnu::const]] EMU_NO_TRACE inline cce::dim3 thread_index() {
  return region().thread_index();
}
[[gnu::noinline, gnu::const]] EMU_NO_TRACE inline cce::dim3 block_dim() { return region().dims(); }
[[gnu::noinline]] EMU_NO_TRACE inline cce::dim3 block_coordinates() { return {block_index()}; }
[[gnu::noinline]] EMU_NO_TRACE inline cce::dim3 grid_dim() { return {block_count()}; }

}  // namespace emu::simt

#define threadIdx (::emu::simt::thread_index())
#define blockDim (::emu::simt::block_dim())
#define blockIdx (::emu::simt::block_coordinates())
#define gridDim (::emu::simt::grid_dim())
inline constexpr int32_t warpSize = 32;

// The thread's place in its warp.
[[gnu::noinline]] EMU_NO_TRACE inline uint32_t laneid() { return emu::simt::region().lane(); }

EMU_NO_TRACE inline void asc_syncthreads(EMU_LOC) { emu::simt::region().barrier(loc); }
EMU_NO_TRACE inline void asc_threadfence() {}
EMU_NO_TRACE inline void asc_threadfence_block() {}
