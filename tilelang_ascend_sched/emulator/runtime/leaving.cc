// Kernel code that would end the emulator around it: what it called is told.
#include <exception>
#include <string>

#include "emu/issue.h"

namespace emu {
namespace {

void on_terminate() {
  std::string what = "of a type without what()";
  try {
    if (std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
    what.clear();
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
  }
  if (what.empty()) failf("the kernel crashed: std::terminate");
  failf("the kernel crashed: an uncaught exception: %s", what.c_str());
}

[[maybe_unused]] const std::terminate_handler before = std::set_terminate(on_terminate);

}  // namespace
}  // namespace emu

// Kernels are linked with --wrap for these.
extern "C" {
#define EMU_LEAVE(name) \
  [[noreturn]] void __wrap_##name(int) { emu::failf("the kernel ends its process (" #name ")"); }
EMU_LEAVE(exit)
EMU_LEAVE(_exit)
EMU_LEAVE(_Exit)
EMU_LEAVE(quick_exit)
[[noreturn]] void __wrap_pthread_exit(void*) {
  emu::failf("the kernel ends its process (pthread_exit)");
}
#undef EMU_LEAVE
}
