#include "report/note.h"

#include <tvm/ffi/extra/json.h>
#include <tvm/ffi/function.h>

namespace tilelang_ascend_sched {

using tvm::ffi::Function;
using tvm::ffi::String;

std::string KernelName(const tvm::tirx::PrimFunc& kernel) {
  return kernel->GetAttr<String>(tvm::attr::kGlobalSymbol, String("kernel")).value();
}

void Note(const std::string& pass, const tvm::tirx::PrimFunc& kernel, NoteKind kind,
          const std::string& message, const tvm::ffi::Map<String, tvm::ffi::Any>& data) {
  // Looked up at each call: the Python side may be replaced while the library stays loaded.
  std::optional<Function> sink = Function::GetGlobal("tl.ascend_sched.note");
  if (!sink.has_value()) return;
  (*sink)(pass, KernelName(kernel), kind == NoteKind::kDegraded ? "degraded" : "decision", message,
          tvm::ffi::json::Stringify(data));
}

}  // namespace tilelang_ascend_sched
