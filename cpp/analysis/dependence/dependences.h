#pragma once

#include <tvm/tirx/stmt.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/dependence/places.h"
#include "analysis/dependence/prover.h"

namespace tilelang_ascend_sched {

enum class DependenceKind {
  kRaw,  // reads what was written
  kWar,
  kWaw,
  kExclusion,  // of the owners of one storage; either may come first
};

// "RAW", "WAR", "WAW" or "exclusion".
const char* KindName(DependenceKind kind);

// `to`, `distance` iterations after `from`, has to wait for it; so has it in later iterations.
struct Dependence {
  size_t from = 0;  // numbers of leaves
  size_t to = 0;
  DependenceKind kind = DependenceKind::kRaw;
  std::string storage;
  // Not set where it is the number of versions that the storage will have.
  std::optional<int64_t> distance;
};

// The dependences of one body. Those of a nested loop's leaves on each other are there only as far
// as they reach from one iteration of this body to a later one; within one they are the loop's own.
struct BodyDependences {
  std::vector<Dependence> edges;  // by from, to, kind, storage
  Prover::Tally tally;
};

// Of each body of `places`. `root` has the annotations of the kernel: hints and version counts.
//
// Two accesses of which one writes depend on each other where they may meet: under guards that can
// hold both, in regions that can overlap, in iterations that differ by the distance. Distances are
// the least for which that is not excluded. Where a loop owns the epochs of a storage
// (`multi_buffer_eligible`), the distance between its iterations is the number of versions, and two
// owners exclude each other. Hints add and remove what they name.
std::vector<BodyDependences> FindDependences(const Places& places, const tvm::tirx::SBlock& root);

}  // namespace tilelang_ascend_sched
