#pragma once

#include <tvm/tirx/stmt.h>

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/task_tree.h"

namespace tilelang_ascend_sched {

// The pointers that a kernel binds, and what they may point into. Buffers that view the memory
// behind such a pointer may share bytes with others, at places that nobody knows.
class Pointers {
 public:
  Pointers() = default;
  explicit Pointers(const std::vector<Unit>& units);

  bool IsBound(const tvm::tirx::Var& data) const { return bound_.count(data.get()) != 0; }

  // Storages of one group may share bytes where one of them is behind a bound pointer; storages of
  // different groups do not.
  const tvm::tirx::VarNode* GroupOf(const tvm::tirx::Var& data) const;

 private:
  using Group = const tvm::tirx::VarNode*;

  void AddFrom(const std::vector<Unit>& units);
  void Add(const tvm::tirx::BindNode* binding);
  void Unite(Group kept, Group other);

  std::unordered_set<const tvm::tirx::VarNode*> bound_;
  std::unordered_map<const tvm::tirx::VarNode*, Group> groups_;  // of pointers and their targets
  std::map<std::string, Group> anywhere_;  // of pointers to unknown places, by scope
};

}  // namespace tilelang_ascend_sched
