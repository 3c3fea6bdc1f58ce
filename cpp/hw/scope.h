#pragma once

#include <string>
#include <string_view>

namespace tilelang_ascend_sched {

// A memory of the machine, or a kind of register.
enum class Scope {
  kGlobal,  // GM
  kUB,      // Unified Buffer of one AIV
  kL1,
  kL0A,
  kL0B,
  kL0C,
  kScaleA,         // MX scale factors bound to an L0A tile; no bytes of their own
  kScaleB,         // the same for L0B
  kBias,           // bias table
  kFixpipeBuffer,  // Fixpipe's parameter buffer
  kRegister,       // local, local.fragment, local.var
  kOther,
};

// The memory that a TIR storage scope means. Static and `.dyn` forms are one memory.
Scope ParseScope(std::string_view scope);

// The name in messages: GM, UB, L1, L0A, ...
std::string ScopeName(Scope scope);

// True for memories whose bytes a kernel allocates on the chip: UB, L1, L0A, L0B, L0C.
bool IsOnChip(Scope scope);

}  // namespace tilelang_ascend_sched
