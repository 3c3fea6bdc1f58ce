#pragma once

#include <tvm/tirx/expr.h>

#include <string>

#include "verify/decode_expr.h"

// Intrinsics: which pipe runs them, which bytes they touch. Operand orders are those of TileLang's
// `src/ascend/op/builtin.h`; regions follow the device templates in `src/tl_templates/ascend`.
namespace tilelang_ascend_sched::verify {

// What a call that is a statement does; null if that is nothing. `source`: still without text.
Node* DecodeInstruction(const tvm::tirx::CallNode* call, const Source& source, ExprDecoder* exprs);

// decode_copy.cc: instructions that move or multiply matrices, named without `tl.ascend_`.
Node* DecodeCopy(const std::string& name, const tvm::tirx::CallNode* call, const Source& source,
                 ExprDecoder* exprs);

// decode_gemm.cc: the multiplication of two L1 buffers, which is a template of many instructions.
Node* DecodeGemm(const tvm::tirx::CallNode* call, bool scaled, const Source& source,
                 ExprDecoder* exprs);

}  // namespace tilelang_ascend_sched::verify
