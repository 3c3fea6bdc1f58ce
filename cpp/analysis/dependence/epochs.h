#pragma once

#include <tvm/tirx/stmt.h>

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/dependence/places.h"

namespace tilelang_ascend_sched {

// Which loops own the epochs of which storage: each of their iterations writes it before it reads
// it, so that iterations may use versions of it in turns.
class Epochs {
 public:
  Epochs(const Places& places, const tvm::tirx::SBlock& root);

  bool Owns(size_t body, const Storage& storage) const;

  // True if the leaves stand in different owners of the storage.
  bool AreRivals(const Leaf& a, const Leaf& b, const Storage& storage) const;

  // The number of versions that the user asked for.
  std::optional<int64_t> AskedVersions(const Storage& storage) const;

 private:
  const std::vector<size_t>* OwnersOf(const Storage& storage) const;

  std::unordered_map<const tvm::tirx::VarNode*, std::vector<size_t>> owners_;  // bodies
  std::unordered_map<const tvm::tirx::VarNode*, int64_t> asked_;
};

}  // namespace tilelang_ascend_sched
