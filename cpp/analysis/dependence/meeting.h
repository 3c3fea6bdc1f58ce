#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "analysis/dependence/candidates.h"
#include "analysis/dependence/places.h"
#include "analysis/dependence/prover.h"

namespace tilelang_ascend_sched {

// Asks of pairs of accesses in one body whether they may meet, and how many iterations apart.
class Meetings {
 public:
  Meetings(const Places& places, const Body& body, Prover* prover);

  // Within one iteration, or one run of the root.
  bool WithinIteration(const Member& first, const Member& second);

  // The least distance, 1 or more, at which the second may meet what the first left; nothing if
  // that is excluded at any.
  std::optional<int64_t> LeastDistance(const Member& first, const Member& second);

  // True if they may meet at some distance of 1 or more.
  bool AcrossIterations(const Member& first, const Member& second);

 private:
  using Values = tvm::ffi::Map<tvm::tirx::Var, tvm::PrimExpr>;

  // Variables of the second execution, in terms of those of the first, of new ones, and of a
  // distance (not defined: within one iteration).
  Values SecondValues(const tvm::PrimExpr& distance) const;

  bool MayMeet(const Member& first, const Member& second, const Values& values,
               const tvm::PrimExpr& distance);

  const Places& places_;
  const Body& body_;
  Prover* prover_;
  Values inner_;     // variables of nested bodies and iterators -> new ones
  Values repeated_;  // the same, and those that this body binds
};

}  // namespace tilelang_ascend_sched
