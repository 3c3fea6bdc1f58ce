// What a run has to report, and how it ends early.
#pragma once

#include <string>
#include <vector>

#include "runtime/machine.h"

namespace emu {

struct Site {
  std::string core, pipe, name;
  Loc loc;
};

struct Finding {
  std::string kind;
  std::string message;
  int block = -1;  // first block it was seen in; -1: between blocks
  std::vector<Site> sites;

  explicit Finding(std::string k) : kind(std::move(k)) {}
  void add_site(std::string core, Pipe pipe, std::string name, const Loc& loc);
  // The running instruction.
  void at(const Core& core, const Instr& instr);
};

// Adds a finding; one that differs from an earlier one only by its block is dropped.
void report(Finding finding);

// Adds the finding, writes the result and leaves the process: nothing sensible can follow.
[[noreturn]] void stop_with(Finding finding);

const std::vector<Finding>& findings();

// The file of a place in the kernel's machine code; the line is then an offset into its library,
// which Python turns into a line of the text, and the call site the last line known before.
inline constexpr const char* kCodeFile = "code";

// "12", "gemm.h:61 (called at 12)", or "code+0x1a2b/12".
std::string line_of(const Loc& loc);
std::string wait_reason(const Core& core);
std::string describe(const Entry& entry);

// Set by main: writes the result file.
extern void (*write_result)();

}  // namespace emu
