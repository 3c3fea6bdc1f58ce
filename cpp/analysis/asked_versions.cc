#include "analysis/asked_versions.h"

#include <tvm/ir/expr.h>

#include <optional>
#include <string>

#include "hw/transfer_cost.h"
#include "ir/attrs.h"
#include "ir/buffer_bytes.h"
#include "report/error.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::ffi::Any;
using tvm::ffi::Map;

namespace {

constexpr const char* kPass = "MaterializeScheduleUnits";

int64_t CountOf(const std::string& buffer, const Any& asked) {
  const auto* number = asked.as<tvm::IntImmNode>();
  const std::optional<int64_t> count =
      number != nullptr ? std::optional(number->value) : asked.try_cast<int64_t>();
  if (!count.has_value() || *count < 1) {
    Fail(kPass, Text("T.annotate_buffer_versions: the versions of `", buffer,
                     "` must be a number of 1 or more"));
  }
  return *count;
}

}  // namespace

void CheckAskedVersions(const SBlock& root, const Machine& machine) {
  const auto found = root->annotations.Get(attrs::kBufferVersions);
  if (!found.has_value()) return;
  const auto asked = found.value().cast<Map<Var, Any>>();
  for (const Buffer& buffer : root->alloc_buffers) {
    const auto versions = asked.Get(buffer->data);
    if (!versions.has_value()) continue;
    const std::string name = buffer->name;
    const int64_t count = CountOf(name, versions.value());
    const Scope scope = ParseScope(std::string(buffer.scope()));
    const std::optional<int64_t> bytes = BufferBytes(buffer);
    const int64_t limit = machine.capacity(scope);
    if (!bytes.has_value() || *bytes > limit) continue;
    if (SaturatingMultiply(*bytes, count) <= limit) continue;
    Fail(kPass, Text("T.annotate_buffer_versions asks for ", count, " versions of `", name,
                     "`, each of ", *bytes, " bytes, but ", ScopeName(scope), " has ", limit,
                     " bytes: ask for ", limit / *bytes, " at most or make the buffer smaller"));
  }
}

}  // namespace tilelang_ascend_sched
