#include "analysis/dependence/places.h"

#include <tvm/ffi/extra/structural_equal.h>
#include <tvm/tirx/op.h>

#include <algorithm>
#include <limits>

#include "analysis/accesses.h"
#include "analysis/core_state.h"
#include "analysis/dependence/prover.h"
#include "analysis/task_resources.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::PrimExpr;
using tvm::Range;
using tvm::arith::Analyzer;
using tvm::arith::ConstIntBound;

namespace {

// Accesses of one task to one buffer in one direction that are told apart; of more, their common
// box is taken.
constexpr size_t kMostPieces = 8;

int64_t Limited(int64_t bound) {
  if (bound == ConstIntBound::kNegInf) return std::numeric_limits<int64_t>::min();
  if (bound == ConstIntBound::kPosInf) return std::numeric_limits<int64_t>::max();
  return bound;
}

std::vector<Bounds> BoundsOf(const Access& access, const Facts& facts) {
  std::vector<Bounds> bounds;
  if (!access.region.buffer.defined() || !access.bounded) return bounds;
  Facts inside = facts;
  AddIterators(access.region, &inside);
  FactAnalyzer analyzer(inside);
  auto limits = [&](const PrimExpr& expr) {
    if (const int64_t* value = as_const_int(expr)) return Bounds{*value, *value};
    const ConstIntBound bound = analyzer->const_int_bound(WithoutReads(expr));
    return Bounds{Limited(bound->min_value), Limited(bound->max_value)};
  };
  for (const Range& range : access.region.box) {
    const Bounds last = limits(range->min + range->extent - 1);
    bounds.push_back({limits(range->min).low, last.high});
  }
  return bounds;
}

bool NeverHappens(const Access& access) {
  return access.local ||
         std::ranges::any_of(access.guards, [](const PrimExpr& guard) { return is_zero(guard); });
}

bool Mentions(const std::vector<PrimExpr>& exprs, const std::vector<Iterator>& iterators) {
  return std::ranges::any_of(exprs, [&](const PrimExpr& expr) {
    return UsesVar(expr, [&](const VarNode* used) {
      return std::ranges::any_of(iterators,
                                 [&](const Iterator& each) { return each.var.get() == used; });
    });
  });
}

bool Same(const Access& a, const Access& b) {
  const tvm::ffi::StructuralEqual equal;
  const auto same_exprs = [&](const std::vector<PrimExpr>& x, const std::vector<PrimExpr>& y) {
    return std::ranges::equal(x, y, equal);
  };
  return a.storage == b.storage && a.write == b.write && a.window == b.window &&
         a.bounded == b.bounded && a.region.buffer.same_as(b.region.buffer) &&
         a.region.iterators.empty() && b.region.iterators.empty() &&
         equal(a.region.box, b.region.box) && same_exprs(a.guards, b.guards);
}

// All of `pieces`, which are of one buffer and direction, as one box.
Access Merged(const std::vector<Access>& pieces) {
  Access merged = pieces.front();
  merged.exact = false;
  merged.guards.clear();
  tvm::ffi::Array<Range> box;
  for (size_t axis = 0; axis < merged.region.box.size(); ++axis) {
    tvm::ffi::Array<tvm::arith::IntSet> sets;
    for (const Access& piece : pieces) {
      sets.push_back(
          tvm::arith::IntSet::FromRange(BoxOf(piece.region, /*threads=*/true)->region[axis]));
    }
    const PrimExpr& length = merged.region.buffer->shape[axis];
    const Range whole = Range::FromMinExtent(make_zero(length.dtype()), length);
    box.push_back(tvm::arith::Union(sets).CoverRange(whole));
  }
  merged.region.box = box;
  merged.region.iterators.clear();
  merged.bounded = std::ranges::all_of(pieces, &Access::bounded);
  return merged;
}

class Finder {
 public:
  Finder(const Machine& machine, const Facts& outer) : machine_(machine), facts_(outer) {}

  Places Find(const std::vector<Unit>& units) {
    places_.pointers = Pointers(units);
    Visit(units, nullptr);
    return std::move(places_);
  }

 private:
  void Visit(const std::vector<Unit>& units, const Loop* loop) {
    const size_t number = places_.bodies.size();
    const size_t outside = facts_.size();
    Body body;
    body.loop = loop;
    body.depth = bodies_.size();
    body.units = &units;
    body.first_leaf = places_.leaves.size();
    if (!bodies_.empty()) {
      body.parent = bodies_.back();
      body.place = place_.back();
    }
    places_.bodies.push_back(body);
    bodies_.push_back(number);
    known_.push_back(outside);
    guards_.push_back(0);
    if (loop != nullptr) {
      Define(loop->loop->loop_var);
      facts_.AddLoop(loop->loop.get());
    }
    for (size_t i = 0; i < units.size(); ++i) {
      place_.push_back(i);
      VisitUnit(units[i]);
      place_.pop_back();
    }
    facts_.Truncate(outside);
    guards_.pop_back();
    known_.pop_back();
    bodies_.pop_back();
    places_.bodies[number].last_leaf = places_.leaves.size();
  }

  void VisitUnit(const Unit& unit) {
    const size_t outside = facts_.size();
    std::vector<Access> accesses;
    auto add = [&](std::vector<Access> more) {
      accesses.insert(accesses.end(), more.begin(), more.end());
    };
    int conditions = 0;
    for (const Guard& guard : unit.guards) {
      if (const PrimExpr condition = guard.condition(); condition.defined()) {
        add(CollectAccesses(condition));
        facts_.AddCondition(condition);
        ++conditions;
      } else {
        facts_.AddAttribute(std::get<AttrStmt>(guard.stmt).get());
      }
    }
    for (int& count : guards_) count += conditions;
    if (const Loop* loop = unit.loop()) {
      add(CollectAccesses(loop->loop->min));
      add(CollectAccesses(loop->loop->extent));
      if (loop->loop->step.has_value()) add(CollectAccesses(loop->loop->step.value()));
      AddLeaf(unit, std::move(accesses));
      Visit(loop->body, loop);
    } else {
      const Stmt& body = unit.task()->body();
      add(CollectAccesses(body));
      for (const StateUse& use : StatesUnder(ResourcesOf(body, machine_).pipes)) {
        Access access;
        access.storage = Storage::State(use.name);
        access.write = use.write;
        access.declared = false;
        accesses.push_back(std::move(access));
      }
      AddLeaf(unit, std::move(accesses));
    }
    for (int& count : guards_) count -= conditions;
    facts_.Truncate(outside);
    // What a guarded unit binds is not known to those behind it.
    if (conditions == 0 && unit.task() != nullptr) facts_.AddAfter(unit.task()->body());
  }

  void AddLeaf(const Unit& unit, std::vector<Access> accesses) {
    Leaf leaf;
    leaf.unit = &unit;
    leaf.region = bodies_;
    leaf.place = place_;
    leaf.facts = facts_;
    leaf.known = known_;
    leaf.guards = guards_;
    for (Access& access : Prepared(std::move(accesses))) {
      const Storage& storage = access.storage;
      const bool placed =
          storage.kind == Storage::Kind::kMemory && !places_.pointers.IsBound(storage.var.value());
      std::vector<Bounds> bounds;
      if (placed) bounds = BoundsOf(access, facts_);
      leaf.accesses.push_back({std::move(access), std::move(bounds)});
    }
    places_.leaves.push_back(std::move(leaf));
  }

  // Without what cannot meet anything, each thing once, and in few pieces.
  std::vector<Access> Prepared(std::vector<Access> accesses) {
    std::vector<Access> prepared;
    FactAnalyzer analyzer(facts_);
    for (Access& access : accesses) {
      if (access.storage.kind == Storage::Kind::kBinding && access.write) {
        Define(access.storage.var.value());
      }
      if (NeverHappens(access)) continue;
      access.bounded = access.bounded && StaysWithin(access);
      Region& region = access.region;
      if (!region.iterators.empty() && !Mentions(access.guards, region.iterators)) {
        region = Filled(region, analyzer.get());
      }
      const bool known =
          std::ranges::any_of(prepared, [&](const Access& other) { return Same(access, other); });
      if (!known) prepared.push_back(std::move(access));
    }
    AddPointers(&prepared);
    prepared = InFewPieces(std::move(prepared));
    for (const Access& access : prepared) {
      for (const Iterator& iterator : access.region.iterators) {
        places_.variables.push_back(iterator.var);
      }
    }
    return prepared;
  }

  // Whoever accesses memory behind a bound pointer reads the pointer.
  void AddPointers(std::vector<Access>* accesses) const {
    const size_t count = accesses->size();
    for (size_t i = 0; i < count; ++i) {
      const Storage storage = (*accesses)[i].storage;
      if (storage.kind != Storage::Kind::kMemory) continue;
      if (!places_.pointers.IsBound(storage.var.value())) continue;
      Access access;
      access.storage = Storage::Binding(storage.var.value());
      access.declared = false;
      accesses->push_back(std::move(access));
    }
  }

  // What its code accesses is known to be within the region.
  bool StaysWithin(const Access& access) const {
    if (!access.stays.defined()) return true;
    Facts inside = facts_;
    AddIterators(access.region, &inside);
    for (const PrimExpr& guard : access.guards) inside.AddCondition(WithoutReads(guard));
    FactAnalyzer analyzer(inside);
    return analyzer->CanProve(WithoutReads(access.stays));
  }

  static std::vector<Access> InFewPieces(std::vector<Access> accesses) {
    std::vector<Access> few;
    std::vector<bool> taken(accesses.size(), false);
    for (size_t i = 0; i < accesses.size(); ++i) {
      if (taken[i]) continue;
      std::vector<Access> pieces{accesses[i]};
      for (size_t j = i + 1; j < accesses.size() && accesses[i].region.buffer.defined(); ++j) {
        const bool same = accesses[j].region.buffer.same_as(accesses[i].region.buffer) &&
                          accesses[j].write == accesses[i].write;
        if (!same) continue;
        pieces.push_back(accesses[j]);
        taken[j] = true;
      }
      if (pieces.size() > kMostPieces) pieces = {Merged(pieces)};
      few.insert(few.end(), pieces.begin(), pieces.end());
    }
    return few;
  }

  void Define(const Var& var) {
    const size_t depth = bodies_.size() - 1;
    const auto [known, fresh] = places_.depths.try_emplace(var.get(), depth);
    if (!fresh) known->second = std::max(known->second, depth);
    places_.variables.push_back(var);
  }

  const Machine& machine_;
  Places places_;
  Facts facts_;
  std::vector<size_t> bodies_;
  std::vector<size_t> place_;
  std::vector<size_t> known_;
  std::vector<int> guards_;
};

}  // namespace

Places FindPlaces(const std::vector<Unit>& units, const Machine& machine, const Facts& outer) {
  return Finder(machine, outer).Find(units);
}

}  // namespace tilelang_ascend_sched
