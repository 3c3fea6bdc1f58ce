#include "runtime/places.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "runtime/findings.h"

namespace emu {
namespace {

struct Range {
  uint64_t begin = 0, end = 0;
  bool holds(uint64_t address) const { return address - begin < end - begin; }
};

struct Image {
  uint64_t base = 0;
  std::vector<Range> code, constant, variable;
};

Image library, worker;
Range main_stack;
Range reported;

bool in(const std::vector<Range>& ranges, uint64_t address) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& r) { return r.holds(address); });
}

Image read_image(const dl_phdr_info& info) {
  Image image;
  image.base = info.dlpi_addr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const auto& part = info.dlpi_phdr[i];
    const Range range{info.dlpi_addr + part.p_vaddr, info.dlpi_addr + part.p_vaddr + part.p_memsz};
    if (part.p_type == PT_GNU_RELRO) image.constant.push_back(range);
    if (part.p_type != PT_LOAD) continue;
    (part.p_flags & PF_W   ? image.variable
     : part.p_flags & PF_X ? image.code
                           : image.constant)
        .push_back(range);
  }
  return image;
}

Range stack_of_this_thread() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* low = nullptr;
  size_t size = 0;
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  const auto begin = reinterpret_cast<uint64_t>(low);
  return {begin, begin + size};
}

// The emulator's headers put variables of their own into the kernel's library.
bool of_headers(uint64_t address) {
  Dl_info info{};
  void* entry = nullptr;
  const auto* pointer = reinterpret_cast<const void*>(address);
  if (!dladdr1(pointer, &info, &entry, RTLD_DL_SYMENT) || !info.dli_sname || !entry) return false;
  const auto* symbol = static_cast<const ElfW(Sym)*>(entry);
  if (address - reinterpret_cast<uint64_t>(info.dli_saddr) >= symbol->st_size) return false;
  const std::string name = info.dli_sname;
  return name.starts_with("_ZN3emu") || name.starts_with("_ZZN3emu");
}

}  // namespace

void know_library(const void* symbol_of_it) {
  Dl_info info{};
  if (!dladdr(symbol_of_it, &info)) return;
  const auto base = reinterpret_cast<uint64_t>(info.dli_fbase);
  library = worker = {};
  dl_iterate_phdr(
      [](dl_phdr_info* found, size_t, void* wanted) {
        const bool own = found->dlpi_name[0] == '\0';  // the executable
        if (own && worker.base == 0) worker = read_image(*found);
        if (found->dlpi_addr == *static_cast<const uint64_t*>(wanted)) {
          library = read_image(*found);
        }
        return 0;
      },
      const_cast<uint64_t*>(&base));
  main_stack = stack_of_this_thread();
}

Home home_of(const Core& core, uint64_t address) {
  constexpr uint64_t kGuard = 1 << 20;
  const LocalMemory& ub = core.memory[int(Space::UB)];
  const uint64_t offset = address - reinterpret_cast<uint64_t>(ub.data);
  if (ub.data && offset < ub.size) return Home::Ub;
  if (ub.data && offset + kGuard < ub.size + 2 * kGuard) return Home::NearUb;
  const Machine& m = machine();
  if (address >= m.gm_begin && address < m.gm_end) return Home::Gm;
  const Fiber* fiber = Fiber::current();
  if (fiber ? fiber->holds(address) : main_stack.holds(address)) return Home::Stack;
  if (core.fiber && core.fiber->holds(address)) return Home::ScalarStack;
  // RELRO lies inside a writable segment.
  if (in(library.constant, address) || in(library.code, address)) return Home::Constant;
  if (in(library.variable, address)) {
    return of_headers(address) ? Home::Emulator : Home::Variable;
  }
  if (in(worker.variable, address) || in(worker.constant, address)) return Home::Emulator;
  // A vector function's arguments, captured with the instruction.
  const auto entry = reinterpret_cast<uint64_t>(m.entry);
  if (entry && address - entry < sizeof(Entry)) return Home::Emulator;
  return address < kL1Bytes ? Home::Offset : Home::Nothing;
}

const char* meaning_of(Home home) {
  switch (home) {
    case Home::Ub:
      return "UB";
    case Home::Gm:
      return "GM";
    case Home::Stack:
    case Home::ScalarStack:
      return "an array of the scalar program";
    case Home::Constant:
      return "a constant";
    case Home::Variable:
      return "a static or global variable";
    default:
      return nullptr;
  }
}

const char* objection_to(Home home) {
  switch (home) {
    case Home::Offset:
      return "an offset into a local memory, not an address: UB is followed from literal addresses "
             "only, and other local memories have no loads and stores";
    case Home::Nothing:
      return "outside every array and local memory";
    default:
      return nullptr;
  }
}

Loc code_place(uint64_t return_address, const Loc& otherwise) {
  if (!in(library.code, return_address)) return otherwise;
  // Inside the call, not behind it.
  const auto offset = uint32_t(return_address - 1 - library.base);
  const uint32_t known = otherwise.call_site ? otherwise.call_site : otherwise.line;
  return {kCodeFile, offset, known};
}

std::string address_text(uint64_t address) {
  // Where the host has mapped something differs from run to run.
  if (address >= 1ull << 40 && address < 1ull << 47) return "an address of the host";
  char text[32];
  std::snprintf(text, sizeof text, "address 0x%llx", (unsigned long long)address);
  return text;
}

void expect_fault(uint64_t address, uint64_t bytes) { reported = {address, address + bytes}; }

bool fault_expected(uint64_t address) {
  // The processor does not tell an address that no pointer can have.
  return reported.holds(address) || (address == 0 && reported.end > (1ull << 47));
}

}  // namespace emu
