#include "analysis/dependence/epochs.h"

#include <algorithm>

#include "ir/attrs.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::ffi::Any;
using tvm::ffi::Array;
using tvm::ffi::Map;

namespace {

// The owner around a leaf; nothing if there is none, or owners stand in each other.
std::optional<size_t> OwnerAround(const Leaf& leaf, const std::vector<size_t>& owners) {
  std::optional<size_t> found;
  for (const size_t owner : owners) {
    if (std::ranges::find(leaf.region, owner) == leaf.region.end()) continue;
    if (found.has_value()) return std::nullopt;
    found = owner;
  }
  return found;
}

}  // namespace

Epochs::Epochs(const Places& places, const SBlock& root) {
  for (size_t i = 0; i < places.bodies.size(); ++i) {
    const Loop* loop = places.bodies[i].loop;
    if (loop == nullptr) continue;
    const auto eligible = loop->loop->annotations.Get(attrs::kMultiBufferEligible);
    if (!eligible.has_value()) continue;
    for (const Any& storage : eligible.value().cast<Array<Any>>()) {
      owners_[storage.cast<Var>().get()].push_back(i);
    }
  }
  const auto asked = root->annotations.Get(attrs::kBufferVersions);
  if (!asked.has_value()) return;
  for (const auto& [storage, versions] : asked.value().cast<Map<Var, Any>>()) {
    asked_[storage.get()] = versions.cast<int64_t>();
  }
}

const std::vector<size_t>* Epochs::OwnersOf(const Storage& storage) const {
  if (storage.kind != Storage::Kind::kMemory) return nullptr;
  const auto found = owners_.find(storage.var.value().get());
  return found == owners_.end() ? nullptr : &found->second;
}

bool Epochs::Owns(size_t body, const Storage& storage) const {
  const auto* owners = OwnersOf(storage);
  return owners != nullptr && std::ranges::find(*owners, body) != owners->end();
}

bool Epochs::AreRivals(const Leaf& a, const Leaf& b, const Storage& storage) const {
  const auto* owners = OwnersOf(storage);
  if (owners == nullptr || owners->size() < 2) return false;
  const auto first = OwnerAround(a, *owners);
  const auto second = OwnerAround(b, *owners);
  return first.has_value() && second.has_value() && *first != *second;
}

std::optional<int64_t> Epochs::AskedVersions(const Storage& storage) const {
  if (storage.kind != Storage::Kind::kMemory) return std::nullopt;
  const auto found = asked_.find(storage.var.value().get());
  return found == asked_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace tilelang_ascend_sched
