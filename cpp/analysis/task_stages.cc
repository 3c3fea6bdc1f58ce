#include "analysis/task_stages.h"

#include <tvm/ir/expr.h>

#include <algorithm>
#include <string>

#include "report/error.h"
#include "report/place.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::ffi::GetRef;

namespace {

constexpr const char* kPass = "MaterializeScheduleUnits";
constexpr const char* kAdvice =
    "; put it into a loop such as T.Pipelined(..., annotations={\"enable_offset\": True}), or take "
    "T.Stage(0)";

bool AllowsOffset(const ForNode* loop) {
  const auto given = loop->annotations.Get(attrs::kEnableOffset);
  if (!given.has_value()) return false;
  if (const auto allowed = given.value().try_cast<bool>()) return *allowed;
  const auto* number = given.value().as<tvm::IntImmNode>();
  if (number == nullptr) {
    Fail(kPass, Text("`enable_offset` of ", Brief(GetRef<Stmt>(loop)), " must be True or False"));
  }
  return number->value != 0;
}

[[noreturn]] void RefuseArgument(const ForNode* loop, const char* argument, const char* why) {
  Fail(kPass, Text(why, " where T.Stage is used; remove the T.Pipelined ", argument,
                   " argument of ", Brief(GetRef<Stmt>(loop))));
}

}  // namespace

void CheckStages(const std::vector<Unit>& units, const ForNode* loop) {
  const auto latest = std::ranges::max_element(units, {}, &Unit::stage);
  if (latest == units.end() || latest->stage == kUnsetStage) return;
  if (loop != nullptr && loop->annotations.count(attrs::kPipelineOrder) != 0) {
    RefuseArgument(loop, "order", "statements issue in source order on each pipe");
  }
  if (loop != nullptr && loop->annotations.count(attrs::kPipelineStage) != 0) {
    RefuseArgument(loop, "stage", "stages are what it says");
  }
  if (latest->stage == 0 || (loop != nullptr && AllowsOffset(loop))) return;
  const std::string asked = Text("T.Stage(", latest->stage, ") on ", Brief(latest->marker));
  if (loop == nullptr) {
    Fail(kPass, Text("T.Stage with a non-zero stage must be inside a serial loop annotated with "
                     "enable_offset=True, but ",
                     asked, " is in none", kAdvice));
  }
  Fail(kPass, Text("Non-zero T.Stage values require enable_offset=True on the enclosing loop, "
                   "but ",
                   asked, " is in ", Brief(GetRef<Stmt>(loop)), ", which is without", kAdvice));
}

}  // namespace tilelang_ascend_sched
