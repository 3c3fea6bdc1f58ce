#include "verify/reads.h"

namespace tilelang_ascend_sched::verify {

Reads::Reads(const Program& program)
    : slots_(program.slots.size(), false),
      exprs_(program.exprs.size(), false),
      chooses_(program.exprs.size(), false) {
  for (const auto& node : program.nodes) {
    if (node->kind != NodeKind::kFresh) continue;
    any_ = slots_[node->slot] = true;
  }
  for (bool changed = any_; changed;) {
    changed = false;
    // An expression stands after those that it is made of.
    for (size_t expr = 0; expr < exprs_.size(); ++expr) {
      const ExprNode& node = program.exprs[expr];
      exprs_[expr] = (node.kind == ExprKind::kSlot && slots_[node.number]) || Names(node.a) ||
                     Names(node.b) || Names(node.c);
      chooses_[expr] = node.kind == ExprKind::kAnd || node.kind == ExprKind::kOr ||
                       node.kind == ExprKind::kSelect || Chooses(node.a) || Chooses(node.b) ||
                       Chooses(node.c);
    }
    for (const auto& node : program.nodes) {
      const Expr value = node->kind == NodeKind::kAssign ? node->value
                         : node->kind == NodeKind::kFor  ? node->minimum
                                                         : kNone;
      if (!Names(value) || slots_[node->slot]) continue;
      changed = slots_[node->slot] = true;
    }
  }
}

}  // namespace tilelang_ascend_sched::verify
