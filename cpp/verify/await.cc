// Scalar reads whose numbers are kept in variables: what waits for them, and when.
#include <algorithm>
#include <utility>

#include "verify/run.h"

namespace tilelang_ascend_sched::verify {

// Adds what has to be over for another number, which is needed too, or only `may` be.
void Run::Need::Add(const Need& other, bool may) {
  possible = std::max(possible, other.possible);
  if (may) return;
  sure = std::max(sure, other.sure);
  for (const auto& race : other.races) {
    const bool known = std::any_of(races.begin(), races.end(),
                                   [&](const auto& each) { return each->pair == race->pair; });
    if (!known) races.push_back(race);
  }
}

// Of the number that the scalar pipe has just read.
Run::Need Run::NeedOfRead(int core) {
  const uint32_t read = counts_[ThreadOf(static_cast<Core>(core), Pipe::kS)];
  return {read, read, std::exchange(cores_[core].races, {})};
}

// What has to be over before the scalar unit has the value of `expr`, now that the path knows it.
Run::Need Run::NeedOf(int core, Expr expr) {
  Need need;
  if (!search_.reads.Names(expr)) return need;
  const ExprNode& node = program_.exprs[expr];
  // One of two is needed, but not known which.
  auto either = [&](const Need& a, const Need& b) {
    need.Add(a, true);
    need.Add(b, true);
    need.sure = std::max(need.sure, std::min(a.sure, b.sure));
  };
  switch (node.kind) {
    case ExprKind::kSlot:
      return cores_[core].needs[node.number];
    case ExprKind::kAnd:
    case ExprKind::kOr: {
      // Where one side leaves it open, the other one decides.
      const bool open = node.kind == ExprKind::kAnd;
      const bool needs_a = Known(core, node.b) == open, needs_b = Known(core, node.a) == open;
      const Need a = NeedOf(core, node.a), b = NeedOf(core, node.b);
      if (!needs_a && !needs_b) {
        either(a, b);
      } else {
        need.Add(a, !needs_a);
        need.Add(b, !needs_b);
      }
      return need;
    }
    case ExprKind::kSelect: {
      need = NeedOf(core, node.a);
      const std::optional<bool> chosen = Known(core, node.a);
      const Need b = NeedOf(core, node.b), c = NeedOf(core, node.c);
      if (!chosen) {
        either(b, c);
      } else {
        need.Add(b, !*chosen);
        need.Add(c, *chosen);
      }
      return need;
    }
    default:
      // States do not tell what chooses in what is unknown.
      for (const Expr child : {node.a, node.b, node.c}) {
        const bool may = node.kind == ExprKind::kUnknown && search_.reads.Chooses(child);
        need.Add(NeedOf(core, child), may);
      }
      return need;
  }
}

// The scalar unit goes on once it has a number: what it issues from now on comes after the reads.
void Run::Await(int core, const Need& need) {
  CoreState& state = cores_[core];
  const uint32_t over = OverFor(core);
  if (need.sure > over) Tell(core, need.sure);
  if (need.possible > std::max(need.sure, over)) {
    state.maybe_over = std::max(state.maybe_over, need.possible);
  }
  for (const auto& race : need.races) {
    if (std::exchange(reported_[race->pair], true)) continue;
    Finding finding = race->finding;
    finding.certain = true;
    Report(std::move(finding));
  }
}

// At the condition or the extent of `node`.
void Run::AwaitDecision(int core, const Node& node) {
  const Need need = NeedOf(core, node.value);
  Need awaited;
  awaited.Add(need, !node.decides);
  Await(core, awaited);
}

void Run::AwaitOperands(int core, const Instruction& instruction) {
  if (!search_.reads.any()) return;
  Need need;
  // What chooses between numbers in an operand is not always in the state.
  auto add = [&](Expr expr, bool may) {
    if (search_.reads.Names(expr)) need.Add(NeedOf(core, expr), may || search_.reads.Chooses(expr));
  };
  for (const Expr expr : {instruction.id, instruction.unit_flag, instruction.value}) {
    add(expr, false);
  }
  for (const AccessPattern& access : instruction.accesses) {
    bool may = false;
    if (access.condition != kNone) {
      const bool in_state = access.space != Space::kGm || program_.tensors[access.tensor].written;
      need.Add(NeedOf(core, access.condition), !in_state);
      may = !in_state || Known(core, access.condition) != true;
    }
    for (const Expr expr : {access.begin, access.row_bytes, access.rows, access.stride}) {
      add(expr, may);
    }
  }
  Await(core, need);
}

// How far the scalar pipe is for sure when what is issued next starts.
uint32_t Run::OverFor(int core) const {
  const int last = cores_[core].snapshot;
  return last < 0 ? 0 : snapshots_[last].known[ThreadOf(static_cast<Core>(core), Pipe::kS)];
}

// All that is issued from now on comes after what the scalar unit has waited for, and after so many
// events of its own pipe.
void Run::Tell(int core, uint32_t over) {
  const Thread thread = ThreadOf(static_cast<Core>(core), Pipe::kS);
  Clock known = clocks_[thread];
  known.known[thread] = over;
  snapshots_.push_back(known);
  cores_[core].snapshot = static_cast<int>(snapshots_.size()) - 1;
}

}  // namespace tilelang_ascend_sched::verify
