#include "analysis/dependence/meeting.h"

#include <tvm/ffi/extra/structural_equal.h>
#include <tvm/tirx/analysis.h>
#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>

#include <vector>

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::PrimExpr;
using tvm::Range;
using tvm::ffi::Array;

namespace {

// Distances that are told apart; beyond them the next one stands for all.
constexpr int64_t kMostDistance = 16;

// Puts a variable for each value that is read from memory: equal reads of one access give one
// value, those of different accesses need not.
class ReadSnapshot : public ExprMutator {
 private:
  PrimExpr VisitExpr_(const BufferLoadNode* op) final {
    return ValueOf(tvm::ffi::GetRef<PrimExpr>(op));
  }
  PrimExpr VisitExpr_(const CallNode* op) final {
    const auto call = tvm::ffi::GetRef<PrimExpr>(op);
    return SideEffect(call) > CallEffectKind::kPure ? ValueOf(call) : ExprMutator::VisitExpr_(op);
  }

  PrimExpr ValueOf(const PrimExpr& read) {
    const ExprDeepEqual equal;
    for (const auto& [known, value] : values_) {
      if (equal(known, read)) return value;
    }
    values_.emplace_back(read, Var("read", read.dtype()));
    return values_.back().second;
  }

  std::vector<std::pair<PrimExpr, Var>> values_;
};

// What one of two executions accesses, and under which conditions.
struct Side {
  Region region;
  std::vector<PrimExpr> guards;
};

Side SideOf(const Access& access, const tvm::ffi::Map<Var, PrimExpr>& values) {
  ReadSnapshot snapshot;
  auto of = [&](const PrimExpr& expr) { return Substitute(snapshot(expr), values); };
  auto range_of = [&](const Range& range) {
    return Range::FromMinExtent(of(range->min), of(range->extent));
  };
  Side side{{access.region.buffer, {}, {}}, {}};
  for (const Range& range : access.region.box) side.region.box.push_back(range_of(range));
  for (const Iterator& iterator : access.region.iterators) {
    const PrimExpr var = values.Get(iterator.var).value_or(iterator.var);
    side.region.iterators.push_back(
        {tvm::Downcast<Var>(var), range_of(iterator.range), iterator.kind});
  }
  for (const PrimExpr& guard : access.guards) side.guards.push_back(of(guard));
  return side;
}

bool Reads(const PrimExpr& expr) { return SideEffect(expr) > CallEffectKind::kPure; }

// True if the ranges have a value in common whatever `values` are.
bool SurelyOverlap(const Range& a, const Range& b, const tvm::ffi::Map<Var, PrimExpr>& values) {
  const int64_t* a_extent = as_const_int(a->extent);
  const int64_t* b_extent = as_const_int(b->extent);
  if (!a_extent || !b_extent || *a_extent < 1 || *b_extent < 1) return false;
  const int64_t* a_min = as_const_int(a->min);
  const int64_t* b_min = as_const_int(b->min);
  if (a_min && b_min) return *a_min < *b_min + *b_extent && *b_min < *a_min + *a_extent;
  const bool varies = Reads(a->min) || UsesVar(a->min, [&](const VarNode* var) {
                        return values.count(tvm::ffi::GetRef<Var>(var)) != 0;
                      });
  return !varies && ExprDeepEqual()(a->min, b->min);
}

// True if nothing about the regions has to be proven: whatever `values` are, they overlap, or can
// be anything.
bool SurelyOverlap(const Access& a, const Access& b, const tvm::ffi::Map<Var, PrimExpr>& values) {
  const bool known = a.region.buffer.defined() && b.region.buffer.defined();
  if (!known || !a.bounded || !b.bounded) return true;
  const bool same_view = a.region.buffer.same_as(b.region.buffer);
  if (!same_view || !a.region.iterators.empty() || !b.region.iterators.empty()) return false;
  for (size_t i = 0; i < a.region.box.size(); ++i) {
    if (!SurelyOverlap(a.region.box[i], b.region.box[i], values)) return false;
  }
  return true;
}

bool IsOnePass(const ForNode* loop) {
  const int64_t* extent = as_const_int(loop->extent);
  const int64_t step = loop->step.has_value() && as_const_int(loop->step.value())
                           ? *as_const_int(loop->step.value())
                           : 1;
  return extent != nullptr && *extent <= step;
}

}  // namespace

Meetings::Meetings(const Places& places, const Body& body, Prover* prover)
    : places_(places), body_(body), prover_(prover) {
  for (const Var& var : places.variables) {
    const auto depth = places.depths.find(var.get());
    const size_t at = depth == places.depths.end() ? body.depth + 1 : depth->second;
    if (at < body.depth) continue;
    const Var other = var.copy_with_suffix("_then");
    repeated_.Set(var, other);
    if (at > body.depth) inner_.Set(var, other);
  }
}

Meetings::Values Meetings::SecondValues(const PrimExpr& distance) const {
  if (!distance.defined()) return inner_;
  Values values = repeated_;
  const ForNode* loop = body_.loop->loop.get();
  const PrimExpr step = loop->step.value_or(make_const(loop->loop_var.dtype(), 1));
  values.Set(loop->loop_var, loop->loop_var + cast(loop->loop_var.dtype(), distance) * step);
  return values;
}

bool Meetings::WithinIteration(const Member& first, const Member& second) {
  return MayMeet(first, second, SecondValues(PrimExpr()), PrimExpr());
}

bool Meetings::AcrossIterations(const Member& first, const Member& second) {
  if (body_.loop == nullptr || IsOnePass(body_.loop->loop.get())) return false;
  const Var distance("distance", body_.loop->loop->loop_var.dtype());
  return MayMeet(first, second, SecondValues(distance), distance);
}

std::optional<int64_t> Meetings::LeastDistance(const Member& first, const Member& second) {
  if (!AcrossIterations(first, second)) return std::nullopt;
  for (int64_t distance = 1; distance <= kMostDistance; ++distance) {
    const PrimExpr fixed = make_const(body_.loop->loop->loop_var.dtype(), distance);
    if (MayMeet(first, second, SecondValues(fixed), fixed)) return distance;
  }
  return kMostDistance + 1;
}

bool Meetings::MayMeet(const Member& first, const Member& second, const Values& values,
                       const PrimExpr& distance) {
  const Leaf& a = places_.leaves[first.leaf];
  const Leaf& b = places_.leaves[second.leaf];
  const bool overlap = SurelyOverlap(first.access(), second.access(), values);
  const bool a_guarded = a.guards[body_.depth] > 0 || !first.access().guards.empty();
  const bool b_guarded = b.guards[body_.depth] > 0 || !second.access().guards.empty();
  if (overlap && !(a_guarded && b_guarded)) return true;
  const size_t known = a.known[body_.depth];
  Facts facts = a.facts;
  facts.Truncate(known);
  facts.Append(a.facts.Replaced({}, known));
  facts.Append(b.facts.Replaced(values, known));
  if (const auto free = distance.defined() ? distance.as<Var>() : std::nullopt) {
    facts.AddCondition(*free >= 1);
  }
  const Side one = SideOf(first.access(), {});
  const Side other = SideOf(second.access(), values);
  for (const Side* side : {&one, &other}) {
    AddIterators(side->region, &facts);
    for (const PrimExpr& guard : side->guards) facts.AddCondition(guard);
  }
  return overlap ? !prover_->Impossible(facts)
                 : !prover_->Disjoint(one.region, other.region, facts, known);
}

}  // namespace tilelang_ascend_sched
