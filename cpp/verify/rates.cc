#include "verify/rates.h"

#include <algorithm>
#include <numeric>

namespace tilelang_ascend_sched::verify {

namespace {

std::vector<Most> And(std::vector<Most> guards, const std::vector<Most>& more) {
  guards.insert(guards.end(), more.begin(), more.end());
  return guards;
}

}  // namespace

Rates::Rates(const Program& program)
    : program_(program),
      names_(program.slots.size()),
      tensors_(program.tensors.size()),
      elements_(program.tensors.size()) {
  for (size_t slot = 0; slot < names_.size(); ++slot) names_[slot] = "v" + std::to_string(slot);
  for (const int core : {0, 1}) {
    std::map<std::string, int> numbers;
    Name(program.cores[core].body, &numbers);
  }
  for (const int core : {0, 1}) Walk(program.cores[core].body, {});
  for (const ExprNode& node : program.exprs) {
    if (node.kind != ExprKind::kLoad) continue;
    std::map<Slot, int64_t> variables;
    VariablesIn(program, node.a, &variables);
    for (const auto& [slot, period] : variables) {
      elements_[node.number][slot].push_back({period, INT64_MAX});
    }
  }
}

// Loops of different cores go on together if both have the same run-time end: their variables get
// one name.
void Rates::Name(const Node* node, std::map<std::string, int>* numbers) {
  if (node == nullptr) return;
  std::map<Slot, int64_t> inside;
  if (node->kind == NodeKind::kFor) VariablesIn(program_, node->value, &inside);
  if (node->kind == NodeKind::kFor && inside.empty() &&
      program_.exprs[node->value].kind != ExprKind::kConstant) {
    const std::string end = Text(node->value);
    names_[node->slot] =
        "loop " + std::to_string((*numbers)[end]++) + " to " + end + " from " + Text(node->minimum);
  }
  for (const Node* child : node->children) Name(child, numbers);
}

void Rates::Walk(const Node* node, const std::vector<Most>& guards) {
  if (node == nullptr) return;
  if (node->kind == NodeKind::kInstruction) {
    for (const AccessPattern& access : node->instruction.accesses) Note(access, guards);
  }
  for (const Node* child : node->children) {
    const bool guarded = node->kind == NodeKind::kIf && child == node->children[0];
    Walk(child, guarded ? And(guards, MostIn(program_, node->value)) : guards);
  }
}

void Rates::Note(const AccessPattern& access, const std::vector<Most>& guards) {
  if (access.space != Space::kGm || !program_.tensors[access.tensor].written) return;
  OfTensor& tensor = tensors_[access.tensor];
  const Form form = FormOf(access.begin);
  if (!tensor.touched) tensor.form = form;
  tensor.uniform = tensor.uniform && form == tensor.form;
  tensor.touched = true;
  std::map<Slot, int64_t> variables, chosen;
  VariablesIn(program_, access.begin, &variables);
  Chosen(access.begin, &chosen);
  for (const auto& [slot, period] : chosen) tensor.chosen[slot].push_back({period, INT64_MAX});
  for (const auto& [slot, period] : variables) {
    Use use{period, INT64_MAX};
    for (const Most& guard : guards) {
      if (guard.slot == slot) use.most = std::min(use.most, guard.value);
    }
    tensor.uses[slot].push_back(use);
  }
}

Rates::Form Rates::FormOf(Expr expr) const {
  const ExprNode& node = program_.exprs[expr];
  Form form;
  auto add = [&form](const Form& other, int64_t factor) {
    for (const auto& [name, count] : other) {
      if ((form[name] += factor * count) == 0) form.erase(name);
    }
  };
  switch (node.kind) {
    case ExprKind::kConstant:
    case ExprKind::kSymbol:
      return form;
    case ExprKind::kSlot: {
      if (node.number == kSubBlockSlot) return form;
      const Expr value = BoundTo(program_, expr);
      if (value != kNone) return FormOf(value);
      form[names_[node.number]] = 1;
      return form;
    }
    case ExprKind::kAdd:
    case ExprKind::kSubtract:
      add(FormOf(node.a), 1);
      add(FormOf(node.b), node.kind == ExprKind::kAdd ? 1 : -1);
      return form;
    case ExprKind::kMultiply: {
      const ExprNode &a = program_.exprs[node.a], &b = program_.exprs[node.b];
      if (a.kind == ExprKind::kConstant) add(FormOf(node.b), a.number);
      if (b.kind == ExprKind::kConstant) add(FormOf(node.a), b.number);
      if (a.kind == ExprKind::kConstant || b.kind == ExprKind::kConstant) return form;
      break;
    }
    default:
      break;
  }
  std::map<Slot, int64_t> inside;
  VariablesIn(program_, expr, &inside);
  if (!inside.empty()) form[Text(expr)] = 1;
  return form;
}

std::vector<Slot> Rates::Variables(int tensor) const {
  std::vector<Slot> slots;
  for (const auto& [slot, uses] : UsesOf(tensor)) slots.push_back(slot);
  return slots;
}

std::pair<int64_t, int64_t> Rates::Class(int tensor, Slot slot, int64_t value) const {
  return ClassOf(UsesOf(tensor).at(slot), value);
}

std::pair<int64_t, int64_t> Rates::ClassOf(const std::vector<Use>& uses, int64_t value) {
  int64_t open = 0, period = 1;
  for (const Use& use : uses) {
    if (value > use.most) continue;
    ++open;
    period = std::lcm(period, use.period);
    if (period > kLongestPeriod) period = 0;
  }
  return {open, period == 0 ? value : (value % period + period) % period};
}

bool Rates::ComeAgain(int tensor) const {
  return std::all_of(elements_[tensor].begin(), elements_[tensor].end(), [](const auto& of_slot) {
    return std::all_of(of_slot.second.begin(), of_slot.second.end(),
                       [](const Use& use) { return use.period > 0; });
  });
}

// The variables that choose elements of tensors on which `expr` rests.
void Rates::Chosen(Expr expr, std::map<Slot, int64_t>* slots) const {
  const ExprNode& node = program_.exprs[expr];
  if (node.kind == ExprKind::kLoad) VariablesIn(program_, node.a, slots);
  if (node.kind == ExprKind::kSlot) {
    const Expr value = BoundTo(program_, expr);
    if (value != kNone) Chosen(value, slots);
  }
  for (const Expr child : {node.a, node.b, node.c}) {
    if (child != kNone) Chosen(child, slots);
  }
}

std::string Rates::Text(Expr expr) const {
  const ExprNode& node = program_.exprs[expr];
  if (node.kind == ExprKind::kSlot) return names_[node.number];
  std::string text =
      std::to_string(static_cast<int>(node.kind)) + ":" + std::to_string(node.number);
  // What is not known is not known to be the same either.
  if (node.kind == ExprKind::kUnknown) text += "?" + std::to_string(expr);
  for (const Expr child : {node.a, node.b, node.c}) {
    if (child != kNone) text += "(" + Text(child) + ")";
  }
  return text;
}

}  // namespace tilelang_ascend_sched::verify
