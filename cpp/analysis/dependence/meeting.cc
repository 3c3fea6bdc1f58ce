#include "analysis/dependence/meeting.h"

#include <tvm/ffi/extra/structural_equal.h>
#include <tvm/tirx/analysis.h>
#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>

#include <unordered_set>
#include <vector>

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::PrimExpr;
using tvm::Range;
using tvm::ffi::Array;

namespace {

// Distances that are told apart; beyond them the next one stands for all.
constexpr int64_t kMostDistance = 16;

using Storages = std::unordered_set<const VarNode*>;

// The memory that a leaf writes itself.
Storages WrittenBy(const Leaf& leaf) {
  Storages written;
  for (const PlacedAccess& placed : leaf.accesses) {
    const Storage& storage = placed.access.storage;
    const bool memory = storage.kind == Storage::Kind::kMemory;
    if (memory && placed.access.write) written.insert(storage.var.value().get());
  }
  return written;
}

// Puts a variable for each value that is read from memory: equal reads of one access give one
// value as long as their code does not write there, those of different accesses need not.
class ReadSnapshot : public ExprMutator {
 public:
  explicit ReadSnapshot(const Storages& written) : written_(written) {}

 private:
  PrimExpr VisitExpr_(const BufferLoadNode* op) final {
    if (written_.count(op->buffer->data.get()) != 0) return Var("read", op->dtype);
    return ValueOf(tvm::ffi::GetRef<PrimExpr>(op));
  }
  PrimExpr VisitExpr_(const CallNode* op) final {
    const auto call = tvm::ffi::GetRef<PrimExpr>(op);
    if (SideEffect(call) <= CallEffectKind::kPure) return ExprMutator::VisitExpr_(op);
    return Var("read", op->dtype);
  }

  PrimExpr ValueOf(const PrimExpr& read) {
    const ExprDeepEqual equal;
    for (const auto& [known, value] : values_) {
      if (equal(known, read)) return value;
    }
    values_.emplace_back(read, Var("read", read.dtype()));
    return values_.back().second;
  }

  const Storages& written_;
  std::vector<std::pair<PrimExpr, Var>> values_;
};

// What one of two executions accesses, and under which conditions.
struct Side {
  Region region;
  std::vector<PrimExpr> guards;
};

Side SideOf(const Member& member, const Places& places,
            const tvm::ffi::Map<Var, PrimExpr>& values) {
  const Access& access = member.access();
  const Storages written = WrittenBy(places.leaves[member.leaf]);
  ReadSnapshot snapshot(written);
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

// True if nothing is known of where in memory the accesses are, relative to each other.
bool Unknown(const Access& a, const Access& b, const tvm::ffi::Map<Var, PrimExpr>& values) {
  if (a.storage.kind != Storage::Kind::kMemory) return false;
  const bool known = a.region.buffer.defined() && b.region.buffer.defined();
  // A pointer that is bound anew may point elsewhere.
  return !known || !a.bounded || !b.bounded || !(a.storage == b.storage) ||
         values.count(a.storage.var.value()) != 0;
}

// True if nothing about the regions has to be proven: whatever `values` are, they overlap.
bool SurelyOverlap(const Access& a, const Access& b, const tvm::ffi::Map<Var, PrimExpr>& values) {
  if (!a.region.buffer.defined() || !b.region.buffer.defined()) return true;
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
  const bool unknown = Unknown(first.access(), second.access(), values);
  const bool overlap = unknown || SurelyOverlap(first.access(), second.access(), values);
  const bool a_guarded = a.guards[body_.depth] > 0 || !first.access().guards.empty();
  const bool b_guarded = b.guards[body_.depth] > 0 || !second.access().guards.empty();
  if (overlap && !(a_guarded && b_guarded)) {
    if (unknown) prover_->CountUnknown();
    return true;
  }
  const size_t known = a.known[body_.depth];
  // What was read from memory may have changed since, so that what is known of it is not used.
  Facts facts = a.facts.Replaced({}, 0);
  facts.Append(b.facts.Replaced(values, known));
  if (const auto free = distance.defined() ? distance.as<Var>() : std::nullopt) {
    facts.AddCondition(*free >= 1);
  }
  const Side one = SideOf(first, places_, {});
  const Side other = SideOf(second, places_, values);
  for (const Side* side : {&one, &other}) {
    AddIterators(side->region, &facts);
    for (const PrimExpr& guard : side->guards) facts.AddCondition(guard);
  }
  return overlap ? !prover_->Impossible(facts)
                 : !prover_->Disjoint(one.region, other.region, facts, known);
}

}  // namespace tilelang_ascend_sched
