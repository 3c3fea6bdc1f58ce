#include "analysis/dependence/prover.h"

#include <tvm/arith/pattern.h>
#include <tvm/tirx/op.h>

#include <algorithm>
#include <cstdlib>

#include "analysis/dependence/layout.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::Bool;
using tvm::PrimExpr;
using tvm::Range;
using tvm::arith::Analyzer;
using tvm::ffi::Array;

namespace {

// Work that one question to the solver may cost, in its own units: some milliseconds.
constexpr unsigned kSolverLimit = 50000;

PrimExpr End(const Range& range) { return range->min + range->extent; }

// One claim in which nothing is left open: the intervals have no value in common.
PrimExpr Apart(const Range& a, const Range& b) {
  PrimExpr claim = End(a) <= b->min || End(b) <= a->min;
  for (const Range& range : {a, b}) {
    if (!range->extent.as<tvm::IntImmNode>()) claim = claim || range->extent <= 0;
  }
  return claim;
}

bool Uses(const PrimExpr& expr, const Var& var) {
  return UsesVar(expr, [&](const VarNode* used) { return used == var.get(); });
}

// The one dimension that an iterator moves; nothing if it moves several or changes an extent, of
// the box or of another iterator.
std::optional<size_t> OnlyAxis(const Region& region, const Var& var) {
  std::optional<size_t> axis;
  for (const Iterator& other : region.iterators) {
    if (Uses(other.range->min, var) || Uses(other.range->extent, var)) return std::nullopt;
  }
  for (size_t i = 0; i < region.box.size(); ++i) {
    if (Uses(region.box[i]->extent, var)) return std::nullopt;
    if (!Uses(region.box[i]->min, var)) continue;
    if (axis.has_value()) return std::nullopt;
    axis = i;
  }
  return axis;
}

std::vector<PrimExpr> ExprsOf(const Region& region) {
  std::vector<PrimExpr> exprs;
  for (const Range& range : region.box) {
    exprs.push_back(range->min);
    exprs.push_back(range->extent);
  }
  return exprs;
}

}  // namespace

bool Prover::Ask(const PrimExpr& claim, const Facts& facts) {
  ++tally_.questions;
  Analyzer analyzer;
  analyzer.z3_prover.SetRLimit(kSolverLimit);
  facts.Populate(&analyzer);
  if (is_one(analyzer.Simplify(claim)) || analyzer.z3_prover.CanProve(claim)) return true;
  ++tally_.unproven;
  return false;
}

bool Prover::Disjoint(const Region& a, const Region& b, const Facts& facts, size_t guards) {
  std::vector<PrimExpr> exprs = ExprsOf(a);
  for (const PrimExpr& expr : ExprsOf(b)) exprs.push_back(expr);
  Facts relevant = facts.Relevant(exprs, guards);
  PrimExpr apart = Bool(false);
  if (SameLayout(a.buffer, b.buffer)) {
    for (size_t i = 0; i < a.box.size(); ++i) apart = apart || Apart(a.box[i], b.box[i]);
  } else if (const auto bits = BitRanges(a, b, &relevant)) {
    apart = Apart(bits->first, bits->second);
  }
  return Ask(apart, relevant);
}

bool Prover::Impossible(const Facts& facts) { return Ask(Bool(false), facts.Relevant({}, 0)); }

bool Prover::Covers(const std::vector<Piece>& pieces, const Region& whole, const Facts& facts) {
  Facts inside = facts;
  std::vector<PrimExpr> element;
  for (const Range& range : whole.box) {
    const Var index("element", range->min.dtype());
    inside.AddRange(index, range);
    inside.AddCondition(range->extent > 0);
    element.push_back(index);
  }
  PrimExpr covered = Bool(false);
  for (const Piece& piece : pieces) {
    const bool usable =
        piece.region.iterators.empty() && SameLayout(piece.region.buffer, whole.buffer);
    if (!usable) continue;
    PrimExpr within = piece.condition.defined() ? WithoutReads(piece.condition) : Bool(true);
    for (size_t i = 0; i < element.size(); ++i) {
      const Range& range = piece.region.box[i];
      within = within && range->min <= element[i] && element[i] < End(range);
    }
    covered = covered || within;
  }
  return Ask(covered, inside);
}

Region Filled(const Region& region, Analyzer* analyzer) {
  struct Step {
    size_t axis;
    int64_t by;
    PrimExpr count;
  };
  std::vector<Step> steps;
  Region filled{region.buffer, region.box, {}};
  for (const Iterator& iterator : region.iterators) {
    const auto axis = OnlyAxis(region, iterator.var);
    if (!axis.has_value()) return region;
    const Range& range = filled.box[*axis];
    // By how much the iterator moves the box, and where the box is without it.
    const Array<PrimExpr> terms = tvm::arith::DetectLinearEquation(range->min, {iterator.var});
    if (terms.size() != 2) return region;
    // Not by what is known here: values of bindings would come in that are others the next time.
    const PrimExpr by = Analyzer().Simplify(terms[0]);
    const int64_t* known = as_const_int(by);
    if (known == nullptr) return region;
    PrimExpr first = iterator.range->min;
    if (*known < 0) first = End(iterator.range) - 1;
    filled.box.Set(*axis, Range::FromMinExtent(terms[1] + by * first, range->extent));
    if (is_one(iterator.range->extent)) continue;
    steps.push_back({*axis, std::abs(*known), iterator.range->extent});
  }
  std::ranges::stable_sort(steps, {}, &Step::by);
  for (const Step& step : steps) {
    const Range& range = filled.box[step.axis];
    const PrimExpr by = make_const(range->extent.dtype(), step.by);
    if (!analyzer->CanProve(by <= range->extent)) return region;
    const PrimExpr extent = range->extent + by * (cast(by.dtype(), step.count) - 1);
    filled.box.Set(step.axis, Range::FromMinExtent(range->min, extent));
  }
  Analyzer plain;
  for (size_t axis = 0; axis < filled.box.size(); ++axis) {
    const Range& range = filled.box[axis];
    filled.box.Set(axis,
                   Range::FromMinExtent(plain.Simplify(range->min), plain.Simplify(range->extent)));
  }
  return filled;
}

void AddIterators(const Region& region, Facts* facts) {
  for (const Iterator& iterator : region.iterators) {
    facts->AddRange(iterator.var, iterator.range);
    facts->AddCondition(iterator.range->extent > 0);
  }
}

}  // namespace tilelang_ascend_sched
