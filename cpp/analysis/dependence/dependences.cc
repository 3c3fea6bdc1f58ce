#include "analysis/dependence/dependences.h"

#include <map>
#include <tuple>
#include <utility>

#include "analysis/core_state.h"
#include "analysis/dependence/candidates.h"
#include "analysis/dependence/epochs.h"
#include "analysis/dependence/hints.h"
#include "analysis/dependence/meeting.h"
#include "ir/attrs.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;

namespace {

DependenceKind KindOf(const Access& first, const Access& second) {
  if (!second.write) return DependenceKind::kRaw;
  return first.write ? DependenceKind::kWaw : DependenceKind::kWar;
}

// Work of the same code that orders itself by its locks.
bool OrderThemselves(const Access& a, const Access& b) {
  return a.window > 0 && a.window == b.window;
}

// What users call it: buffers' names are theirs, data variables often have none.
std::string NameOf(const Access& access) {
  std::string name = access.storage.name();
  if (access.region.buffer.defined() && !access.region.buffer->name.empty()) {
    name = access.region.buffer->name;
  }
  return name.empty() ? "unnamed" : name;
}

class BodyFinder {
 public:
  BodyFinder(const Places& places, size_t number, const Epochs& epochs, ConflictHints hints)
      : places_(places),
        number_(number),
        body_(places.bodies[number]),
        epochs_(epochs),
        hints_(std::move(hints)),
        meetings_(places, body_, &prover_) {}

  BodyDependences Find() {
    for (const std::vector<Member>& members : ByStorage(places_, body_)) {
      const Storage& storage = members.front().access().storage;
      if (storage.state == kLoopExit) {
        AddExits(members);
        continue;
      }
      for (const auto& [i, j] : Candidates(places_, members)) AddPair(members[i], members[j]);
    }
    AddDeclared();
    BodyDependences found{{}, prover_.tally()};
    for (auto& [key, edge] : edges_) found.edges.push_back(std::move(edge));
    return found;
  }

 private:
  ConflictHints::Site SiteOf(const Member& member) const {
    return {member.access(), places_.leaves[member.leaf].facts};
  }

  size_t PlaceOf(size_t leaf) const { return places_.leaves[leaf].place[body_.depth]; }

  // `distance` not set: the number of versions.
  void Add(size_t from, size_t to, DependenceKind kind, const std::string& storage,
           std::optional<int64_t> distance) {
    const auto key = std::make_tuple(from, to, kind, storage, distance.has_value());
    const auto [known, fresh] =
        edges_.try_emplace(key, Dependence{from, to, kind, storage, distance});
    if (!fresh && distance.has_value()) {
      known->second.distance = std::min(*known->second.distance, *distance);
    }
  }

  void Add(const Member& from, const Member& to, std::optional<int64_t> distance) {
    Add(from.leaf, to.leaf, KindOf(from.access(), to.access()), NameOf(from.access()), distance);
  }

  // `a` comes before `b`, or is the same.
  void AddPair(const Member& a, const Member& b) {
    const Storage& storage = a.access().storage;
    const bool apart = PlaceOf(a.leaf) != PlaceOf(b.leaf);
    if (OrderThemselves(a.access(), b.access())) return;
    if (storage.kind == Storage::Kind::kBinding) {
      if (apart && a.access().write && !b.access().write) Add(a, b, 0);
      return;
    }
    const bool rivals = storage == b.access().storage &&
                        epochs_.AreRivals(places_.leaves[a.leaf], places_.leaves[b.leaf], storage);
    if (apart && rivals) {
      return Add(a.leaf, b.leaf, DependenceKind::kExclusion, NameOf(a.access()), 0);
    }
    if (apart && MeetWithin(a, b)) Add(a, b, 0);
    if (body_.loop == nullptr) return;
    AddAcross(a, b);
    if (a.leaf != b.leaf || a.placed != b.placed) AddAcross(b, a);
  }

  bool MeetWithin(const Member& a, const Member& b) {
    const auto verdict = hints_.Of(SiteOf(a), SiteOf(b), /*across_iterations=*/false);
    if (verdict != ConflictHints::Verdict::kNothing) {
      return verdict == ConflictHints::Verdict::kConflict;
    }
    return meetings_.WithinIteration(a, b);
  }

  void AddAcross(const Member& first, const Member& second) {
    const auto verdict = hints_.Of(SiteOf(first), SiteOf(second), /*across_iterations=*/true);
    if (verdict == ConflictHints::Verdict::kNoConflict) return;
    if (verdict == ConflictHints::Verdict::kConflict) return Add(first, second, 1);
    const Storage& storage = first.access().storage;
    const bool versioned = storage == second.access().storage && epochs_.Owns(number_, storage);
    if (versioned) {
      if (meetings_.AcrossIterations(first, second)) {
        Add(first, second, epochs_.AskedVersions(storage));
      }
    } else if (const auto distance = meetings_.LeastDistance(first, second)) {
      Add(first, second, *distance);
    }
  }

  // A leaf that may leave this loop comes between all that stands before and behind it.
  void AddExits(const std::vector<Member>& exits) {
    for (const Member& exit : exits) {
      const Leaf& leaf = places_.leaves[exit.leaf];
      if (leaf.depth() != body_.depth || body_.loop == nullptr) continue;
      for (size_t other = body_.first_leaf; other < body_.last_leaf; ++other) {
        if (other == exit.leaf) continue;
        const bool before = other < exit.leaf;
        Add(exit.leaf, other, DependenceKind::kRaw, kLoopExit, before ? 1 : 0);
        Add(other, exit.leaf, DependenceKind::kWar, kLoopExit, before ? 0 : 1);
      }
      Add(exit.leaf, exit.leaf, DependenceKind::kWaw, kLoopExit, 1);
    }
  }

  // Conflicts of different storages, which only hints tell of.
  void AddDeclared() {
    for (const ConflictHints::Hint& hint : hints_.all()) {
      if (!hint.conflict) continue;
      const std::vector<Member> ones = NamedBy(hint.a);
      const std::vector<Member> others = NamedBy(hint.b);
      for (const Member& one : ones) {
        for (const Member& other : others) AddDeclared(hint, one, other);
      }
    }
  }

  void AddDeclared(const ConflictHints::Hint& hint, const Member& one, const Member& other) {
    if (!one.access().write && !other.access().write) return;
    const bool swapped = other.leaf < one.leaf;
    const Member& a = swapped ? other : one;
    const Member& b = swapped ? one : other;
    if (PlaceOf(a.leaf) != PlaceOf(b.leaf) && hint.SpeaksOf(false)) Add(a, b, 0);
    if (body_.loop == nullptr || !hint.SpeaksOf(true)) return;
    Add(a, b, 1);
    Add(b, a, 1);
  }

  std::vector<Member> NamedBy(const HintOperand& operand) {
    std::vector<Member> named;
    for (size_t leaf = body_.first_leaf; leaf < body_.last_leaf; ++leaf) {
      for (const PlacedAccess& placed : places_.leaves[leaf].accesses) {
        const Member member{leaf, &placed};
        if (hints_.Names(operand, SiteOf(member))) named.push_back(member);
      }
    }
    return named;
  }

  using Key = std::tuple<size_t, size_t, DependenceKind, std::string, bool>;

  const Places& places_;
  const size_t number_;
  const Body& body_;
  const Epochs& epochs_;
  ConflictHints hints_;
  Prover prover_;
  Meetings meetings_;
  std::map<Key, Dependence> edges_;
};

ConflictHints HintsOf(const Body& body, const SBlock& root) {
  if (body.loop == nullptr) return ConflictHints(root->annotations.Get(attrs::kRootConflictHints));
  return ConflictHints(body.loop->loop->annotations.Get(attrs::kConflictHint));
}

}  // namespace

const char* KindName(DependenceKind kind) {
  switch (kind) {
    case DependenceKind::kRaw:
      return "RAW";
    case DependenceKind::kWar:
      return "WAR";
    case DependenceKind::kWaw:
      return "WAW";
    default:
      return "exclusion";
  }
}

std::vector<BodyDependences> FindDependences(const Places& places, const SBlock& root) {
  const Epochs epochs(places, root);
  std::vector<BodyDependences> found;
  for (size_t body = 0; body < places.bodies.size(); ++body) {
    found.push_back(BodyFinder(places, body, epochs, HintsOf(places.bodies[body], root)).Find());
  }
  return found;
}

}  // namespace tilelang_ascend_sched
