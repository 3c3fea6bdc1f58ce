#pragma once

#include <tvm/tirx/stmt.h>

#include <string>
#include <vector>

namespace tilelang_ascend_sched {

// A kernel for both cores holds its AIC code in blocks named CUBE and its AIV code in blocks named
// VECTOR; each core has event flags and locks of its own. Code outside those blocks runs on both.

// The name of the core whose section this block is; nullptr for any other block.
const char* SectionCore(const tvm::tirx::SBlockNode* block);

// The cores that have a section in `body`, in the order of their first one.
std::vector<std::string> CoresOf(const tvm::tirx::Stmt& body);

// `body` as `core` executes it: the other core's sections are empty. Statements are shared with
// `body`, not copied.
tvm::tirx::Stmt OnlyCore(const tvm::tirx::Stmt& body, const std::string& core);

}  // namespace tilelang_ascend_sched
