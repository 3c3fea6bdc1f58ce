#pragma once

#include <tvm/tirx/expr.h>

#include <optional>
#include <string>

// Operands of intrinsics that are part of the code: texts and numbers.
namespace tilelang_ascend_sched::verify {

inline constexpr int kAccumulatorBytes = 4;

// Empty if there is none.
inline std::string TextOf(const tvm::tirx::CallNode* call, size_t argument) {
  if (argument >= call->args.size()) return "";
  const auto* text = call->args[argument].as<tvm::tirx::StringImmNode>();
  return text == nullptr ? "" : std::string(text->value);
}

inline std::optional<int64_t> NumberOf(const tvm::PrimExpr& expr) {
  const auto* number = expr.as<tvm::IntImmNode>();
  return number == nullptr ? std::nullopt : std::optional<int64_t>(number->value);
}

// Whether what gets this pointer, a `tvm_access_ptr`, may write to it.
inline bool IsWritable(const tvm::tirx::CallNode* pointer) {
  return (NumberOf(pointer->args[4]).value_or(2) & 2) != 0;
}

// Bits of one element by its name in a template argument.
inline int BitsNamed(const std::string& dtype) {
  if (dtype.find("float4") != std::string::npos) return 4;
  if (dtype.find("8") != std::string::npos) return 8;
  if (dtype == "float" || dtype == "float32" || dtype.find("32") != std::string::npos) return 32;
  return 16;
}

}  // namespace tilelang_ascend_sched::verify
