#include "emu/fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

// Saves the callee-saved registers of the System V x86-64 ABI on the stack being left, stores its
// pointer through the first argument and continues on the second. The floating-point control
// words are never changed by emulated code and are left alone.
asm(R"(
.text
.globl emu_switch_stack
.type emu_switch_stack, @function
emu_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size emu_switch_stack, .-emu_switch_stack

.globl emu_fiber_entry
.type emu_fiber_entry, @function
emu_fiber_entry:
  movq %r12, %rdi
  callq *%r13
  ud2
.size emu_fiber_entry, .-emu_fiber_entry
)");

extern "C" void emu_switch_stack(void** save, void* to);
extern "C" void emu_fiber_entry();

namespace emu {
namespace {
constexpr size_t kGuard = 4096;
Fiber* running = nullptr;
}  // namespace

Fiber::Fiber(size_t stack_bytes) : stack_bytes_(stack_bytes) {}

Fiber::~Fiber() {
  if (stack_) munmap(stack_, stack_bytes_ + kGuard);
}

Fiber* Fiber::current() { return running; }

void Fiber::start(Entry entry, void* arg) {
  if (!stack_) {
    stack_ = mmap(nullptr, stack_bytes_ + kGuard, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack_ == MAP_FAILED) abort();
    mprotect(stack_, kGuard, PROT_NONE);
    mapped_bytes_ = stack_bytes_ + kGuard;
  }
  entry_ = entry;
  arg_ = arg;
  done_ = false;
  // A frame as emu_switch_stack leaves it. Popping its seven words leaves a stack pointer that is
  // 16-byte aligned, as the ABI asks of the call in emu_fiber_entry.
  auto top = reinterpret_cast<uintptr_t>(stack_) + kGuard + stack_bytes_;
  auto frame = reinterpret_cast<void**>(top - 72);
  frame[0] = frame[1] = nullptr;                           // r15, r14
  frame[2] = reinterpret_cast<void*>(&Fiber::trampoline);  // r13
  frame[3] = this;                                         // r12
  frame[4] = frame[5] = nullptr;                           // rbx, rbp
  frame[6] = reinterpret_cast<void*>(&emu_fiber_entry);
  sp_ = frame;
}

void Fiber::trampoline(Fiber* self) {
  self->entry_(self->arg_);
  self->done_ = true;
  suspend();
}

void Fiber::resume() {
  resumer_ = running;
  running = this;
  emu_switch_stack(&resumer_sp_, sp_);
}

void Fiber::suspend() {
  Fiber* self = running;
  running = self->resumer_;
  emu_switch_stack(&self->sp_, self->resumer_sp_);
}

}  // namespace emu
