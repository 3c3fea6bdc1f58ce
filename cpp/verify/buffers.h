#pragma once

#include <tvm/tirx/function.h>

#include <string>
#include <unordered_map>
#include <vector>

namespace tilelang_ascend_sched::verify {

// A buffer on chip: where its bytes lie once all buffers of a memory are packed into one.
struct Buffer {
  std::string name;
  int64_t begin = 0;
  int64_t bytes = 0;
};

// Which buffer each address of a packed kernel belongs to.
struct Buffers {
  std::vector<Buffer> all;
  std::unordered_map<const tvm::ffi::Object*, int> of;  // an access: a call, load or store

  int Of(const tvm::ffi::Object* access) const {
    auto at = of.find(access);
    return at == of.end() ? -1 : at->second;
  }
};

// Compares the accesses of a kernel with those that it had before its buffers were packed. Empty if
// they are not the same accesses, with one place for each buffer.
Buffers FindBuffers(const tvm::tirx::PrimFunc& kernel, const tvm::tirx::PrimFunc& unpacked);

}  // namespace tilelang_ascend_sched::verify
