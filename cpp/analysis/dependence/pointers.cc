#include "analysis/dependence/pointers.h"

#include <tvm/ir/type.h>
#include <tvm/tirx/builtin.h>
#include <tvm/tirx/stmt_functor.h>

namespace tilelang_ascend_sched {

using namespace tvm::tirx;

namespace {

// Data variables into whose memory the value of an expression may point. What is read from memory
// or computed from numbers is not among them.
class Targets : public ExprVisitor {
 public:
  std::vector<Var> found;

 private:
  void VisitExpr_(const VarNode* op) final {
    if (op->dtype.is_handle()) found.push_back(tvm::ffi::GetRef<Var>(op));
  }
  void VisitExpr_(const BufferLoadNode*) final {}
  void VisitExpr_(const CallNode* op) final {
    // Of an address, the element's buffer is what counts: tl.access_ptr(load, ...),
    // address_of(load).
    if (op->dtype.is_handle() && !op->args.empty()) {
      if (const auto* load = op->args[0].as<BufferLoadNode>()) found.push_back(load->buffer->data);
    }
    ExprVisitor::VisitExpr_(op);
  }
};

std::string ScopeOf(const Var& data) {
  const auto* type = data->type_annotation.as<tvm::PointerTypeNode>();
  const std::string scope = type == nullptr ? std::string() : std::string(type->storage_scope);
  return scope.empty() ? "global" : scope;
}

}  // namespace

Pointers::Pointers(const std::vector<Unit>& units) {
  AddFrom(units);
  // A pointer to an unknown place may reach what others point into.
  for (const auto& [data, group] : groups_) {
    const auto place = anywhere_.find(ScopeOf(tvm::ffi::GetRef<Var>(data)));
    if (place != anywhere_.end()) Unite(place->second, group);
  }
}

void Pointers::AddFrom(const std::vector<Unit>& units) {
  for (const Unit& unit : units) {
    if (const Loop* loop = unit.loop()) {
      AddFrom(loop->body);
      continue;
    }
    PostOrderVisit(unit.task()->body(), [&](const tvm::ffi::ObjectRef& node) {
      const auto* binding = node.as<BindNode>();
      if (binding != nullptr && binding->var.dtype().is_handle()) Add(binding);
    });
  }
}

void Pointers::Add(const BindNode* binding) {
  const VarNode* pointer = binding->var.get();
  bound_.insert(pointer);
  groups_.try_emplace(pointer, pointer);
  Targets targets;
  targets(binding->value);
  for (const Var& target : targets.found) {
    groups_.try_emplace(target.get(), target.get());
    Unite(groups_.at(target.get()), groups_.at(pointer));
  }
  if (!targets.found.empty()) return;
  const auto [place, fresh] = anywhere_.try_emplace(ScopeOf(binding->var), groups_.at(pointer));
  if (!fresh) Unite(place->second, groups_.at(pointer));
}

void Pointers::Unite(Group kept, Group other) {
  for (auto& [data, group] : groups_) {
    if (group == other) group = kept;
  }
  for (auto& [scope, group] : anywhere_) {
    if (group == other) group = kept;
  }
}

const VarNode* Pointers::GroupOf(const Var& data) const {
  const auto found = groups_.find(data.get());
  if (found != groups_.end()) return found->second;
  const auto place = anywhere_.find(ScopeOf(data));
  return place == anywhere_.end() ? data.get() : place->second;
}

}  // namespace tilelang_ascend_sched
