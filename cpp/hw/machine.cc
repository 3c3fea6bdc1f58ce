#include "hw/machine.h"

#include <algorithm>

#include "hw/name_pattern.h"

namespace tilelang_ascend_sched {

namespace {

struct Ends {
  Scope from;
  Scope to;
  Route route;
};

constexpr Ends kRoutes[] = {
    {Scope::kGlobal, Scope::kL1, Route::kGmToL1},
    {Scope::kGlobal, Scope::kUB, Route::kGmToUb},
    {Scope::kUB, Scope::kGlobal, Route::kUbToGm},
    {Scope::kUB, Scope::kL1, Route::kUbToL1},
    {Scope::kL1, Scope::kL0A, Route::kL1ToL0a},
    {Scope::kL1, Scope::kL0B, Route::kL1ToL0b},
    {Scope::kL1, Scope::kScaleA, Route::kL1ToScale},
    {Scope::kL1, Scope::kScaleB, Route::kL1ToScale},
    {Scope::kL1, Scope::kBias, Route::kL1ToBias},
    {Scope::kL1, Scope::kFixpipeBuffer, Route::kL1ToFixpipeBuffer},
    {Scope::kL0C, Scope::kUB, Route::kL0cToUb},
    {Scope::kL0C, Scope::kGlobal, Route::kL0cToGm},
};

}  // namespace

const OperationModel* Machine::operation(std::string_view name) const {
  for (const OperationModel& model : operations) {
    const bool named = std::ranges::any_of(
        model.names, [name](const std::string& pattern) { return MatchesPattern(pattern, name); });
    if (named) return &model;
  }
  return nullptr;
}

int64_t Machine::capacity(Scope scope) const {
  if (!IsOnChip(scope)) return 0;
  return capacities[static_cast<size_t>(scope) - static_cast<size_t>(Scope::kUB)];
}

std::optional<Route> FindRoute(Scope from, Scope to) {
  for (const Ends& ends : kRoutes) {
    if (ends.from == from && ends.to == to) return ends.route;
  }
  return std::nullopt;
}

}  // namespace tilelang_ascend_sched
