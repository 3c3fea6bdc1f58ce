#pragma once

#include <tvm/ir/source_map.h>
#include <tvm/tirx/stmt.h>

#include <string>

namespace tilelang_ascend_sched {

// " (file:line)" for the end of a message; empty if the place is not known.
std::string Place(const tvm::Span& span);

// The same for a statement, or the first part of it that has a place.
std::string PlaceOf(const tvm::tirx::Stmt& stmt);

// What a statement is, in a few words, and its place: "`ascend_copy` and 1 more (kernel.py:12)".
std::string Brief(const tvm::tirx::Stmt& stmt);

}  // namespace tilelang_ascend_sched
