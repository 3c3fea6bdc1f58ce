// What an address that kernel code touches belongs to.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/machine.h"

namespace emu {

enum class Home : uint8_t {
  Ub,           // of the running core
  NearUb,       // the guard areas around it
  Gm,           // the window of the arguments, with the gaps between them
  Stack,        // of the code that runs: its own locals
  ScalarStack,  // of the core's scalar program, seen from a vector function
  Constant,     // read-only data of the kernel's text
  Variable,     // a static or global variable of the kernel's text
  Emulator,     // the worker's own data
  Offset,       // a small number: an offset into a local memory, not a pointer of the host
  Nothing,
};

// Learns where the library's data and code lie.
void know_library(const void* symbol_of_it);

Home home_of(const Core& core, uint64_t address);

// What an address of this home is, for messages; null for a plain number.
const char* meaning_of(Home home);

// Why an address of this home cannot be loaded from or stored to; null if it can.
const char* objection_to(Home home);

// The place of machine code of the kernel that calls a function which returns to this address;
// `otherwise` if it is not the kernel's code.
Loc code_place(uint64_t return_address, const Loc& otherwise);

// "address 0x40".
std::string address_text(uint64_t address);

// An access that has been reported may fault now; the fault then needs no finding of its own.
void expect_fault(uint64_t address, uint64_t bytes);
bool fault_expected(uint64_t address);

}  // namespace emu
