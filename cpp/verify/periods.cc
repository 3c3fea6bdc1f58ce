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

bool Periods::Same(Expr a, Expr b) const {
  if (a == b) return true;
  if (a == kNone || b == kNone) return false;
  const ExprNode& x = program_.exprs[a];
  const ExprNode& y = program_.exprs[b];
  return x.kind == y.kind && x.kind != ExprKind::kUnknown && x.number == y.number &&
         Same(x.a, y.a) && Same(x.b, y.b) && Same(x.c, y.c);
}

bool Periods::Grows(Expr expr, Slot slot) const {
  const ExprNode& node = program_.exprs[expr];
  auto positive = [&](Expr factor) {
    return program_.exprs[factor].kind == ExprKind::kConstant && program_.exprs[factor].number > 0;
  };
  switch (node.kind) {
    case ExprKind::kConstant:
    case ExprKind::kSymbol:
      return true;
    case ExprKind::kSlot:
      return node.number == slot || node.number == kSubBlockSlot;
    case ExprKind::kAdd:
    case ExprKind::kMinimum:
    case ExprKind::kMaximum:
      return Grows(node.a, slot) && Grows(node.b, slot);
    case ExprKind::kMultiply:
      return (Grows(node.a, slot) && positive(node.b)) || (positive(node.a) && Grows(node.b, slot));
    case ExprKind::kFloorDivide:
      return Grows(node.a, slot) && positive(node.b);
    default:
      return false;
  }
}

bool Periods::Ascends(int tensor, const Node* loop) const {
  return loop->kind == NodeKind::kFor && one_address_[tensor] &&
         references_[tensor].expr != kNone && Grows(references_[tensor].expr, loop->slot);
}

// The variables in `expr`, and whether anything in it is not known before run time.
void Periods::Collect(Expr expr, std::vector<Slot>* slots, bool* symbolic) const {
  const ExprNode& node = program_.exprs[expr];
  if (node.kind == ExprKind::kSlot) {
    slots->push_back(static_cast<Slot>(node.number));
    if (symbolic_[node.number]) *symbolic = true;
  }
  if (node.kind == ExprKind::kSymbol || node.kind == ExprKind::kLoad ||
      node.kind == ExprKind::kUnknown) {
    *symbolic = true;
  }
  for (const Expr child : {node.a, node.b, node.c}) {
    if (child != kNone) Collect(child, slots, symbolic);
  }
}

void Periods::Exact(Expr expr) {
  std::vector<Slot> slots;
  bool symbolic = false;
  Collect(expr, &slots, &symbolic);
  for (const Slot slot : slots) ExactIn(slot);
}

// Every value behaves differently; those that the guards around do not let through alike.
void Periods::ExactIn(Slot slot) {
  bool guarded = false;
  for (const Most& guard : guards_) {
    if (guard.slot != slot) continue;
    Note(slot, guard.value);
    guarded = true;
  }
  slots_[slot].exact = slots_[slot].exact || !guarded;
}

// Notes what a use of `expr` makes of the variables in it.
void Periods::Visit(Expr expr, Use use, int64_t scale) {
  const ExprNode& node = program_.exprs[expr];
  auto all = [&](auto note) {
    std::vector<Slot> slots;
    bool symbolic = false;
    Collect(expr, &slots, &symbolic);
    for (const Slot slot : slots) note(slots_[slot]);
  };
  switch (node.kind) {
    case ExprKind::kSlot:
      if (use == Use::kExact) Exact(expr);
      if (use == Use::kCondition) Note(static_cast<Slot>(node.number), 0);
      return;
    case ExprKind::kConstant:
    case ExprKind::kSymbol:
    case ExprKind::kUnknown:
    case ExprKind::kLoad:
      return;
    case ExprKind::kFloorModulo:
    case ExprKind::kFloorDivide: {
      const ExprNode& divisor = program_.exprs[node.b];
      const bool modulo = node.kind == ExprKind::kFloorModulo;
      // A remainder of a quotient repeats after the product of both divisors.
      const int64_t period = divisor.kind == ExprKind::kConstant ? divisor.number * scale : 0;
      if (period <= 0 || period > kLongestPeriod || (!modulo && use == Use::kExact)) {
        return Exact(expr);
      }
      Visit(node.a, Use::kAddress, period);
      all([period](Dependence& slot) {
        slot.moduli = std::min(std::lcm(slot.moduli, period), kLongestPeriod + 1);
        slot.period = std::lcm(slot.period, period);
        if (slot.period > kLongestPeriod) slot.exact = true, slot.period = 1;
      });
      if (!modulo && use == Use::kCondition) Exact(expr);
      return;
    }
    case ExprKind::kLess:
    case ExprKind::kLessEqual:
    case ExprKind::kEqual:
      return Compare(node.a, node.b);
    case ExprKind::kMultiply: {
      std::vector<Slot> left, right;
      bool symbolic = false;
      Collect(node.a, &left, &symbolic);
      Collect(node.b, &right, &symbolic);
      if (!left.empty() && !right.empty()) return Exact(expr);
      if (use == Use::kCondition) return CompareWithZero(expr);
      break;
    }
    case ExprKind::kAdd:
    case ExprKind::kSubtract:
      if (use == Use::kCondition) return CompareWithZero(expr);
      break;
    case ExprKind::kSelect:
      Visit(node.a, Use::kCondition);
      Visit(node.b, use, scale);
      return Visit(node.c, use, scale);
    case ExprKind::kAnd:
    case ExprKind::kOr:
    case ExprKind::kNot:
      use = Use::kCondition;
      break;
    case ExprKind::kMinimum:
    case ExprKind::kMaximum: {
      // Of a run-time input that is clamped, only the clamps are used as bounds of a region.
      std::vector<Slot> slots;
      bool symbolic = false;
      Collect(expr, &slots, &symbolic);
      if (symbolic && Clamped(expr).high < kUnbounded) use = Use::kAddress;
      if (use == Use::kCondition) return Exact(expr);
      if (!symbolic) Compare(node.a, node.b);
      break;
    }
    case ExprKind::kTruncatedDivide:
    case ExprKind::kTruncatedModulo:
    case ExprKind::kShiftLeft:
    case ExprKind::kShiftRight:
      return Exact(expr);
    default:
      break;
  }
  for (const Expr child : {node.a, node.b, node.c}) {
    if (child != kNone) Visit(child, use, scale);
  }
}

bool Periods::Divides(Expr expr) const {
  const ExprNode& node = program_.exprs[expr];
  if (node.kind == ExprKind::kFloorDivide || node.kind == ExprKind::kFloorModulo) return true;
  for (const Expr child : {node.a, node.b, node.c}) {
    if (child != kNone && Divides(child)) return true;
  }
  return false;
}

// Bounds of `expr` for any values of its variables and inputs.
Range Periods::Clamped(Expr expr) const {
  const ExprNode& node = program_.exprs[expr];
  const Range any = {-kUnbounded, kUnbounded};
  if (node.kind == ExprKind::kConstant) return {node.number, node.number};
  if (node.b == kNone || node.c != kNone) return any;
  const Range a = Clamped(node.a), b = Clamped(node.b);
  switch (node.kind) {
    case ExprKind::kMinimum:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case ExprKind::kMaximum:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case ExprKind::kAdd:
      return {std::max(a.low + b.low, -kUnbounded), std::min(a.high + b.high, kUnbounded)};
    case ExprKind::kSubtract:
      return {std::max(a.low - b.high, -kUnbounded), std::min(a.high - b.low, kUnbounded)};
    default:
      return any;
  }
}

// A comparison of one variable with a constant changes at one place; one with run-time inputs is
// decided anew at each turn.
void Periods::Compare(Expr a, Expr b) {
  std::vector<Slot> slots;
  bool symbolic = false;
  Collect(a, &slots, &symbolic);
  Collect(b, &slots, &symbolic);
  if (symbolic || (OnlyRemainders(a) && OnlyRemainders(b))) {
    Visit(a, Use::kAddress);
    Visit(b, Use::kAddress);
    return;
  }
  int64_t factor_a = 0, factor_b = 0, constant_a = 0, constant_b = 0;
  const bool one =
      !slots.empty() &&
      std::all_of(slots.begin(), slots.end(), [&](Slot slot) { return slot == slots.front(); }) &&
      LinearIn(program_, a, slots.front(), &factor_a, &constant_a) &&
      LinearIn(program_, b, slots.front(), &factor_b, &constant_b);
  if (!one) {
    for (const Slot slot : slots) ExactIn(slot);
    return;
  }
  const int64_t factor = factor_a - factor_b;
  if (factor != 0) Note(slots.front(), (constant_b - constant_a) / factor);
}

void Periods::CompareWithZero(Expr expr) {
  std::vector<Slot> slots;
  bool symbolic = false;
  Collect(expr, &slots, &symbolic);
  int64_t factor = 0, constant = 0;
  if (symbolic || OnlyRemainders(expr)) return Visit(expr, Use::kAddress);
  if (slots.size() == 1 && LinearIn(program_, expr, slots.front(), &factor, &constant) &&
      factor != 0) {
    return Note(slots.front(), -constant / factor);
  }
  for (const Slot slot : slots) ExactIn(slot);
}

// Something changes where the variable passes `place`.
void Periods::Note(Slot slot, int64_t place) {
  slots_[slot].low = std::min(slots_[slot].low, place - 1);
  slots_[slot].high = std::max(slots_[slot].high, place + 1);
}

// Whether variables stand under remainders by constants only.
bool Periods::OnlyRemainders(Expr expr) const {
  const ExprNode& node = program_.exprs[expr];
  if (node.kind == ExprKind::kSlot) return node.number == kSubBlockSlot;
  if (node.kind == ExprKind::kFloorModulo && program_.exprs[node.b].kind == ExprKind::kConstant) {
    return true;
  }
  for (const Expr child : {node.a, node.b, node.c}) {
    if (child != kNone && !OnlyRemainders(child)) return false;
  }
  return true;
}

}  // namespace tilelang_ascend_sched::verify
