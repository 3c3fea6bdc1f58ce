#include "hw/scope.h"

#include <array>
#include <utility>

namespace tilelang_ascend_sched {

namespace {

constexpr std::array<std::pair<std::string_view, Scope>, 14> kScopes = {{
    {"global", Scope::kGlobal},
    {"shared", Scope::kUB},
    {"shared.l1", Scope::kL1},
    {"shared.l0a", Scope::kL0A},
    {"shared.l0b", Scope::kL0B},
    {"shared.l0c", Scope::kL0C},
    {"shared.l0a.sf", Scope::kScaleA},
    {"shared.l0b.sf", Scope::kScaleB},
    {"shared.bt", Scope::kBias},
    {"shared.fp", Scope::kFixpipeBuffer},
    {"local", Scope::kRegister},
    {"local.fragment", Scope::kRegister},
    {"local.var", Scope::kRegister},
    {"", Scope::kGlobal},
}};

constexpr std::array<std::string_view, 12> kNames = {"GM",  "UB",  "L1",        "L0A",
                                                     "L0B", "L0C", "L0A scale", "L0B scale",
                                                     "BT",  "FP",  "register",  "other"};

}  // namespace

Scope ParseScope(std::string_view scope) {
  if (scope.ends_with(".dyn")) scope.remove_suffix(4);
  for (const auto& [name, value] : kScopes) {
    if (name == scope) return value;
  }
  return Scope::kOther;
}

std::string ScopeName(Scope scope) { return std::string(kNames[static_cast<size_t>(scope)]); }

bool IsOnChip(Scope scope) {
  return scope == Scope::kUB || scope == Scope::kL1 || scope == Scope::kL0A ||
         scope == Scope::kL0B || scope == Scope::kL0C;
}

}  // namespace tilelang_ascend_sched
