#include "hw/pipe.h"

#include <utility>

namespace tilelang_ascend_sched {

namespace {

struct Spelling {
  std::string_view name;
  PipeMask mask;
};

// The first spelling of each pipe is the one that is printed.
constexpr Spelling kSpellings[] = {
    {"MTE1", kMTE1},    {"MTE2", kMTE2},       {"MTE3", kMTE3},  {"M", kCube},
    {"MAD", kCube},     {"V", kVector},        {"VEC", kVector}, {"VECTOR", kVector},
    {"FIX", kFixpipe},  {"FIXPIPE", kFixpipe}, {"S", kScalar},   {"SCALAR", kScalar},
    {"ALL", kAllPipes},
};

}  // namespace

std::string PipeName(Pipe pipe) {
  for (const Spelling& spelling : kSpellings) {
    if (spelling.mask == pipe) return std::string(spelling.name);
  }
  return "none";
}

std::string PipeNames(PipeMask mask) {
  std::string names;
  for (Pipe pipe : kPipes) {
    if ((mask & pipe) != 0) names += (names.empty() ? "" : "+") + PipeName(pipe);
  }
  return names.empty() ? "none" : names;
}

std::optional<PipeMask> ParsePipe(std::string_view name) {
  if (name.starts_with("PIPE_")) name.remove_prefix(5);
  for (const Spelling& spelling : kSpellings) {
    if (spelling.name == name) return spelling.mask;
  }
  return std::nullopt;
}

std::string CoreNames(CoreMask mask) {
  if (mask == kAnyCore) return "AIV+AIC";
  return mask == kAiv ? "AIV" : mask == kAic ? "AIC" : "none";
}

}  // namespace tilelang_ascend_sched
