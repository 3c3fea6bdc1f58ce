#pragma once

#include <tvm/ffi/optional.h>
#include <tvm/tirx/buffer.h>
#include <tvm/tirx/stmt.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tilelang_ascend_sched {

// What accesses can meet in.
struct Storage {
  enum class Kind {
    kMemory,   // the bytes behind a data variable, whatever buffers view them
    kBinding,  // the value of a scalar variable; each execution of its binding makes a new one
    kState,    // state of a core: a mode register, a pipe's order, flags, locks, the template's L0
  };

  static Storage Memory(const tvm::tirx::Var& data) { return {Kind::kMemory, data, {}}; }
  static Storage Binding(const tvm::tirx::Var& var) { return {Kind::kBinding, var, {}}; }
  static Storage State(std::string name) { return {Kind::kState, std::nullopt, std::move(name)}; }

  // The variable's name, or the state's.
  std::string name() const { return var.has_value() ? std::string(var.value()->name_hint) : state; }

  friend bool operator==(const Storage& a, const Storage& b) {
    return a.kind == b.kind && a.var.same_as(b.var) && a.state == b.state;
  }

  Kind kind = Kind::kMemory;
  tvm::ffi::Optional<tvm::tirx::Var> var;
  std::string state;
};

// A variable that takes all values of its range within one access. A range may mention variables
// that come before it.
struct Iterator {
  enum class Kind { kLoop, kThread, kLane };
  tvm::tirx::Var var;
  tvm::Range range;
  Kind kind = Kind::kLoop;
};

// Elements of a buffer: the union of `box` over all values of `iterators`, so that strided and
// diagonal sets are told exactly. Variables of the surroundings stay free.
struct Region {
  tvm::tirx::Buffer buffer;
  tvm::ffi::Array<tvm::Range> box;
  std::vector<Iterator> iterators;  // outermost first; only those that `box` depends on
};

struct Access {
  Storage storage;
  Region region;  // of memory; without a buffer where all of the storage may be meant
  bool write = false;
  // Whenever its guards hold, all of the region is accessed. Otherwise some of it may be.
  bool exact = true;
  // The region is all that can be accessed; otherwise it is only what the code names.
  bool bounded = true;
  // A condition without which more than the region may be accessed; not defined: there is none.
  tvm::PrimExpr stays;
  // Told by the operands' own access masks, which is what cost figures go by.
  bool declared = true;
  // Memory that is allocated inside the statement: nothing outside can meet it.
  bool local = false;
  // Conditions inside the statement under which the access happens; may mention iterators.
  std::vector<tvm::PrimExpr> guards;
  // Accesses to one state whose windows are equal and positive are ordered by locks that their
  // code takes itself. Bytes.
  int64_t window = 0;
};

}  // namespace tilelang_ascend_sched
