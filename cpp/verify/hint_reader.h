#pragma once

#include <tvm/tirx/function.h>
#include <tvm/tirx/stmt.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "verify/program.h"

// What the user wrote: hints, and the accesses that they may speak of.
namespace tilelang_ascend_sched::verify {

struct Place {
  std::string file;
  int line = 0;
  auto operator<=>(const Place&) const = default;
};

// All of a storage, or a box of one of its buffers.
struct Operand {
  std::string storage;
  bool on_chip = false;
  std::string text;                              // as the user wrote it
  tvm::ffi::Optional<tvm::tirx::Buffer> buffer;  // nothing for all of the storage
  tvm::ffi::Array<tvm::Range> box;
};

struct FoundHint {
  Hint hint;
  Operand a, b;
  std::string group;
  int64_t level;
  std::vector<const tvm::tirx::ForNode*> loops;  // around it
};

// A statement's access to a buffer.
struct Use {
  tvm::tirx::Buffer buffer;
  tvm::ffi::Optional<tvm::ffi::Array<tvm::Range>> box;  // nothing if not known
  bool reads, writes;
  std::vector<Place> places;    // of the access, and of the regions of vector code around it
  std::set<std::string> loads;  // tensors whose elements decide the address
};

struct HintsAndUses {
  std::vector<FoundHint> hints;
  std::vector<Use> uses;
  std::map<std::string, std::vector<const tvm::tirx::VarNode*>> storages;  // by name
};

// Reads the declarations of no conflict in a kernel, groups joined, and the kernel's accesses.
HintsAndUses ReadHints(const tvm::tirx::Stmt& body);

}  // namespace tilelang_ascend_sched::verify
