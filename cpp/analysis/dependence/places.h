#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/access.h"
#include "analysis/dependence/pointers.h"
#include "hw/machine.h"
#include "ir/facts.h"
#include "ir/task_tree.h"

namespace tilelang_ascend_sched {

// The least and the greatest value of an index, both included; open ends are at the limits.
struct Bounds {
  int64_t low;
  int64_t high;
};

// An access of a leaf, ready for comparison.
struct PlacedAccess {
  Access access;
  // Per dimension, over the whole kernel; empty without a region, and behind a bound pointer.
  std::vector<Bounds> bounds;
};

// What reads and writes: a task, or the bounds and guards of a loop.
struct Leaf {
  const Unit* unit = nullptr;
  std::vector<size_t> region;  // the bodies around it, outermost first: numbers of regions
  std::vector<size_t> place;   // its unit's number in each of these
  Facts facts;                 // at the leaf
  std::vector<size_t> known;   // per body: number of facts outside of it
  std::vector<int> guards;     // per body: number of conditions inside of it
  std::vector<PlacedAccess> accesses;

  size_t depth() const { return region.size() - 1; }
};

// The body of a kernel's root, or of a scheduled loop.
struct Body {
  const Loop* loop = nullptr;  // nullptr for the root
  std::optional<size_t> parent;
  size_t place = 0;  // of the loop's unit in the parent
  size_t depth = 0;
  const std::vector<Unit>* units = nullptr;
  size_t first_leaf = 0;  // leaves inside, at any depth, are consecutive
  size_t last_leaf = 0;   // one behind the last
};

// A kernel as the analysis goes through it: its bodies, outer before inner, and its leaves in
// program order.
struct Places {
  std::vector<Body> bodies;
  std::vector<Leaf> leaves;
  Pointers pointers;
  // The depth of the body in which a variable gets its value: its loop's, or that of its binding;
  // the greatest where code was copied and a variable gets values at several places.
  std::unordered_map<const tvm::tirx::VarNode*, size_t> depths;
  // The same variables and all iterators, in the order of their definition.
  std::vector<tvm::tirx::Var> variables;
};

// `outer` is known around the kernel. `units` must outlive the result.
Places FindPlaces(const std::vector<Unit>& units, const Machine& machine, const Facts& outer);

}  // namespace tilelang_ascend_sched
