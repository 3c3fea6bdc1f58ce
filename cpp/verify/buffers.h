#pragma once

#include <tvm/tirx/function.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "verify/machine.h"

namespace tilelang_ascend_sched::verify {

// A buffer on chip: where its bytes lie once all buffers of a memory are packed into one.
struct Buffer {
  std::string name;
  Space space = Space::kUb0;
  int64_t begin = 0;
  std::optional<int64_t> bytes{};  // nothing if run-time inputs decide

  std::optional<int64_t> end() const {
    return bytes ? std::optional<int64_t>(begin + *bytes) : std::nullopt;
  }
};

// The buffers of a packed kernel, and which of them each address belongs to.
struct Buffers {
  static constexpr int kMostShared = 64;  // buffers that share bytes with another one

  std::vector<Buffer> all;                              // those that share bytes come first
  int shared = 0;                                       // how many those are
  std::unordered_map<const tvm::ffi::Object*, int> of;  // an access: a call, load or store
  std::vector<std::pair<Space, int64_t>> allocated;     // bytes of each packed allocation
  std::string unknown;                                  // why they are not told apart

  int Of(const tvm::ffi::Object* access) const {
    auto at = of.find(access);
    return at == of.end() ? -1 : at->second;
  }
};

// The memory on chip that a variable points into; UB stands for that of either AIV.
std::optional<Space> SpaceOf(const tvm::tirx::Var& data);

// Compares the accesses of a kernel with those that it had before its buffers were packed. If they
// are not the same accesses, with one place for each buffer, `unknown` says so and `all` is empty.
Buffers FindBuffers(const tvm::tirx::PrimFunc& kernel,
                    const tvm::ffi::Optional<tvm::tirx::PrimFunc>& unpacked);

}  // namespace tilelang_ascend_sched::verify
