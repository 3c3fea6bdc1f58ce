#pragma once

#include <tvm/ffi/any.h>
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/string.h>
#include <tvm/tirx/function.h>

#include <string>

namespace tilelang_ascend_sched {

// What a note tells, for the reader of the schedule report to sort by.
enum class NoteKind {
  kDecision,  // something was chosen that a reader may want to see
  kDegraded,  // something the user asked for, or could expect, was not had
};

// Sends one line to the schedule report: calls the FFI global `tl.ascend_sched.note` with
// (pass, kernel, kind, message, data), where `kind` is "decision" or "degraded" and `data`, the
// figures of the message, arrives as the text of a JSON object. Without that global, nothing
// happens.
void Note(const std::string& pass, const tvm::tirx::PrimFunc& kernel, NoteKind kind,
          const std::string& message, const tvm::ffi::Map<tvm::ffi::String, tvm::ffi::Any>& data);

// The kernel's name as the user knows it: the global symbol, or "kernel" if it has none.
std::string KernelName(const tvm::tirx::PrimFunc& kernel);

}  // namespace tilelang_ascend_sched
