#include "verify/periods.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "verify/linear.h"

namespace tilelang_ascend_sched::verify {

namespace {

bool IsTruth(ExprKind kind) { return kind >= ExprKind::kLess && kind <= ExprKind::kNot; }

}  // namespace

Periods::Periods(const Program& program, bool loosens)
    : program_(program),
      loosens_(loosens),
      slots_(program.slots.size()),
      tensor_accessors_(program.tensors.size(), 0),
      symbolic_(program.slots.size(), false),
      growing_(program.slots.size(), true),
      references_(program.tensors.size()),
      one_address_(program.tensors.size(), true) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const CoreProgram& core : program.cores) FindSymbolic(core.body, &changed);
  }
  for (const SlotInfo& info : program.slots) {
    std::map<Slot, int64_t> variables;
    const bool bound = info.kind == SlotKind::kBound && info.definition != nullptr &&
                       info.definition->kind == NodeKind::kAssign;
    if (bound) VariablesIn(program, info.definition->value, &variables);
    fixed_.push_back(bound && variables.empty());
  }
  for (size_t expr = 0; expr < program.exprs.size(); ++expr) {
    std::vector<Slot> slots;
    bool symbolic = false;
    Collect(static_cast<Expr>(expr), &slots, &symbolic);
    symbolic_exprs_.push_back(symbolic);
  }
  for (int core = 0; core < kCores; ++core) {
    if (program.cores[core].present) Walk(program.cores[core].body, core, false);
  }
  // A variable that is computed from another one passes its own uses on.
  std::vector<bool> passed(assignments_.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < assignments_.size(); ++i) {
      const auto& [target, value] = assignments_[i];
      // A truth value changes where the comparison in it does, and that is noted already.
      if (IsTruth(program.exprs[value].kind)) continue;
      if (slots_[target].exact && !passed[i]) {
        passed[i] = changed = true;
        Visit(value, Use::kExact);
      }
      std::vector<Slot> sources;
      bool symbolic = false;
      Collect(value, &sources, &symbolic);
      for (const Slot source : sources) {
        if (source == target) continue;
        const Dependence& to = slots_[target];
        Dependence& from = slots_[source];
        const int64_t period = std::lcm(from.period, to.period);
        const bool exact = from.exact || to.low <= to.high || period > kLongestPeriod ||
                           (to.period > 1 && Divides(value));
        const int64_t moduli = std::min(std::lcm(from.moduli, to.moduli), kLongestPeriod + 1);
        changed = changed || period != from.period || exact != from.exact || moduli != from.moduli;
        from.period = std::min(period, kLongestPeriod + 1);
        from.moduli = moduli;
        from.exact = exact;
      }
    }
  }
}

std::pair<int64_t, int64_t> Periods::Class(Slot slot, int64_t value) const {
  const Dependence& dependence = slots_[slot];
  if (dependence.exact) return {value, 0};
  const int64_t phase = Remainder(value, dependence.period);
  if (dependence.low > dependence.high) return {phase, 0};
  const bool passed = growing_[slot] && value > dependence.high;
  return {phase, passed ? dependence.high + 1 : value};
}

Range Periods::Told(Slot slot, int64_t value) const {
  const Dependence& dependence = slots_[slot];
  if (dependence.exact || fixed_[slot]) return {value, value};
  if (dependence.low > dependence.high) return {-kUnbounded, kUnbounded};
  if (growing_[slot] && value > dependence.high) return {dependence.high + 1, kUnbounded};
  return {value, value};
}

int64_t Periods::Phase(Slot slot, int64_t value) const {
  return Remainder(value, slots_[slot].moduli);
}

void Periods::FindSymbolic(const Node* node, bool* changed) {
  if (node == nullptr) return;
  bool symbolic = node->kind == NodeKind::kFresh;
  const Expr set_to = node->kind == NodeKind::kAssign ? node->value
                      : node->kind == NodeKind::kFor  ? node->minimum
                                                      : kNone;
  if (set_to != kNone) {
    std::vector<Slot> slots;
    Collect(set_to, &slots, &symbolic);
  }
  if (symbolic && !symbolic_[node->slot]) symbolic_[node->slot] = *changed = true;
  for (const Node* child : node->children) FindSymbolic(child, changed);
}

// Whether an assigned value is that of the variable itself and a number that is not negative, or
// does not depend on the variable.
bool Periods::KeepsGrowing(const Node* assignment) const {
  int64_t factor = 0, constant = 0;
  if (LinearIn(program_, assignment->value, assignment->slot, &factor, &constant)) {
    return factor == 0 || (factor == 1 && constant >= 0);
  }
  std::vector<Slot> slots;
  bool symbolic = false;
  Collect(assignment->value, &slots, &symbolic);
  return std::find(slots.begin(), slots.end(), assignment->slot) == slots.end();
}

void Periods::Walk(const Node* node, int core, bool guarded) {
  if (node == nullptr) return;
  switch (node->kind) {
    case NodeKind::kFor:
      if (const auto least = LeastOf(node)) {
        least_turns_[node] = *least;
      } else {
        Visit(node->value, Use::kExact);
      }
      Visit(node->minimum, Use::kExact);
      break;
    case NodeKind::kWhile:
    case NodeKind::kIf:
      Visit(node->value, Use::kCondition);
      break;
    case NodeKind::kAssign:
      assignments_.push_back({node->slot, node->value});
      growing_[node->slot] = growing_[node->slot] && KeepsGrowing(node);
      Visit(node->value, Use::kAddress);
      break;
    case NodeKind::kInstruction: {
      const Instruction& instruction = node->instruction;
      if (instruction.id != kNone) Visit(instruction.id, Use::kExact);
      if (instruction.unit_flag != kNone) Visit(instruction.unit_flag, Use::kExact);
      for (const AccessPattern& access : instruction.accesses) {
        const bool gm = access.space == Space::kGm;
        if (gm && !program_.tensors[access.tensor].written) continue;
        Visit(access.begin, gm ? Use::kAddress : Use::kExact);
        Visit(access.rows, Use::kExact);
        Visit(access.row_bytes, Use::kExact);
        Visit(access.stride, Use::kExact);
        if (access.condition != kNone) Visit(access.condition, Use::kCondition);
        const uint32_t thread = 1u << ThreadOf(static_cast<Core>(core), instruction.pipe);
        if (!gm) {
          const Space space = access.own_ub ? UbOf(static_cast<Core>(core)) : access.space;
          space_accessors_[static_cast<int>(space)] |= thread;
          continue;
        }
        tensor_accessors_[access.tensor] |= thread;
        Reference& reference = references_[access.tensor];
        const bool may_not = guarded || access.condition != kNone;
        const bool first = reference.expr == kNone;
        if (!first && !Same(reference.expr, access.begin)) one_address_[access.tensor] = false;
        if (first || (reference.guarded && !may_not)) reference = {core, access.begin, may_not};
      }
      break;
    }
    default:
      break;
  }
  const size_t guards = guards_.size();
  for (const Node* child : node->children) {
    const bool taken = node->kind == NodeKind::kIf && child == node->children[0];
    if (taken) {
      for (const Most& most : MostIn(program_, node->value)) guards_.push_back(most);
    }
    Walk(child, core, guarded || node->kind == NodeKind::kIf);
    guards_.resize(guards);
  }
}

std::optional<int64_t> Periods::LeastTurns(const Node* loop) const {
  const auto at = least_turns_.find(loop);
  return at == least_turns_.end() ? std::nullopt : std::optional<int64_t>(at->second);
}

// The least number of turns of a loop whose length grows with the variable of another one, which
// has a run-time length, and which no guard limits.
std::optional<int64_t> Periods::LeastOf(const Node* loop) const {
  std::vector<Slot> slots;
  bool symbolic = false;
  Collect(loop->value, &slots, &symbolic);
  int64_t factor = 0, constant = 0;
  if (!loosens_ || slots.empty() ||
      !LinearIn(program_, loop->value, slots[0], &factor, &constant)) {
    return std::nullopt;
  }
  const SlotInfo& info = program_.slots[slots[0]];
  const bool limited = std::any_of(guards_.begin(), guards_.end(),
                                   [&](const Most& guard) { return guard.slot == slots[0]; });
  if (factor <= 0 || limited || info.kind != SlotKind::kLoop ||
      info.definition->kind != NodeKind::kFor) {
    return std::nullopt;
  }
  const ExprNode& first = program_.exprs[info.definition->minimum];
  const ExprNode& turns = program_.exprs[info.definition->value];
  if (first.kind != ExprKind::kConstant || turns.kind == ExprKind::kConstant) return std::nullopt;
  return factor * first.number + constant;
}

}  // namespace tilelang_ascend_sched::verify
