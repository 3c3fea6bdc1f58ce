#pragma once

#include <tvm/arith/analyzer.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/access.h"
#include "ir/facts.h"

namespace tilelang_ascend_sched {

// The one place that proves things of regions. A proof that is not found counts as "no", so callers
// err on the side of a dependence too many; how often that was so is counted.
class Prover {
 public:
  struct Tally {
    int64_t questions = 0;  // that simple comparison did not answer
    int64_t unproven = 0;
  };

  // True if no element is in both regions. `facts` hold for both accesses at once, and tell the
  // ranges of the regions' iterators, which are different variables; from number `guards` on they
  // may exclude each other, and then the accesses never happen together.
  bool Disjoint(const Region& a, const Region& b, const Facts& facts, size_t guards);

  // True if the facts contradict each other.
  bool Impossible(const Facts& facts);

  // A part of a region, under a condition (not defined: always). Its region has no iterators.
  struct Piece {
    Region region;
    tvm::PrimExpr condition;
  };

  // True if each element of `whole`, a region without iterators, is in a piece whose condition
  // holds. So pieces may complete each other, and opposite conditions cover what has none.
  bool Covers(const std::vector<Piece>& pieces, const Region& whole, const Facts& facts);

  // Counts a pair of which there is nothing to prove, since nothing bounds one of its accesses.
  void CountUnknown() {
    ++tally_.questions;
    ++tally_.unproven;
  }

  const Tally& tally() const { return tally_; }

 private:
  bool Ask(const tvm::PrimExpr& claim, const Facts& facts);

  Tally tally_;
};

// The region as one box, if the iterators fill it without gaps: each moves one dimension only, by
// steps no longer than what is filled already. The region itself if not. `analyzer` knows the
// surroundings.
Region Filled(const Region& region, tvm::arith::Analyzer* analyzer);

// Tells the ranges of a region's iterators.
void AddIterators(const Region& region, Facts* facts);

}  // namespace tilelang_ascend_sched
