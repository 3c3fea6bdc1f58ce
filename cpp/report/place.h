#pragma once

#include <tvm/ir/source_map.h>

#include <string>

namespace tilelang_ascend_sched {

// " (file:line)" for the end of a message; empty if the place is not known.
std::string Place(const tvm::Span& span);

}  // namespace tilelang_ascend_sched
