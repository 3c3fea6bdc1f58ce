// Stackful coroutines on one OS thread: the scalar program of a core is one, and so is each
// thread of a SIMT body that meets a barrier.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emu {

class Fiber {
 public:
  using Entry = void (*)(void*);

  // The stack is mapped on first start and kept until destruction, with a guard page below.
  explicit Fiber(size_t stack_bytes = 256 * 1024);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Prepares `entry(arg)` to run at the next resume(). A finished fiber may be started again.
  void start(Entry entry, void* arg);

  // Runs the fiber until it suspends or returns. May be called from another fiber; a fiber
  // always goes back to the one that resumed it. Not on a finished fiber.
  void resume();

  bool done() const { return done_; }

  // Whether the address lies on this fiber's stack.
  bool holds(uint64_t address) const {
    return address - reinterpret_cast<uint64_t>(stack_) < mapped_bytes_;
  }

  // Leaves the running fiber, back to its resumer.
  static void suspend();

  // The running fiber, or null outside every fiber.
  static Fiber* current();

 private:
  static void trampoline(Fiber* self);

  size_t stack_bytes_;
  size_t mapped_bytes_ = 0;
  void* stack_ = nullptr;
  void* sp_ = nullptr;          // where this fiber stopped
  void* resumer_sp_ = nullptr;  // where resume() was called
  Fiber* resumer_ = nullptr;
  Entry entry_ = nullptr;
  void* arg_ = nullptr;
  bool done_ = true;
};

}  // namespace emu
