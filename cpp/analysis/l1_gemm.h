#pragma once

#include <tvm/tirx/expr.h>

#include <cstdint>
#include <optional>

#include "hw/scope.h"

namespace tilelang_ascend_sched {

// What a multiply of operands in L1 uses inside: its code moves pieces of them through L0A and L0B,
// from address 0 on, in turns between two slots that locks 0 and 1 guard (tl_templates/ascend/
// gemm.h). Bytes of one slot.
struct TemplateSlots {
  int64_t l0a = 0;
  int64_t l0b = 0;
};

// That of a tile operation or of a call of the template; nothing for any other call, and for
// multiplies of operands that are in L0 already.
std::optional<TemplateSlots> TemplateSlotsOf(const tvm::tirx::CallNode* call);

// The states that stand for L0 bytes which templates use: templates write them, explicit buffers
// in that memory read them. Nothing for other memories.
const char* TemplateBytes(Scope scope);

// The state that stands for the templates' locks and those taken by hand.
inline constexpr const char* kLocks = "locks";

}  // namespace tilelang_ascend_sched
