#pragma once

#include "verify/decode_expr.h"
#include "verify/vector_scope.h"

namespace tilelang_ascend_sched::verify {

// The elements that an index of a vector function denotes in all its threads and turns: `rows` runs
// of `run` elements, `stride` elements apart.
struct Footprint {
  Expr begin = kNone;
  int64_t run = 1, rows = 1, stride = 0;
  // The true numbers, if they are expressions of which `run` and `rows` are bounds.
  Expr exact_run = kNone, exact_rows = kNone;
  bool approximate = false;  // it may be fewer elements
  bool anywhere = false;     // nothing is known of where they are
};

// `extent`: elements from the index on, or -1 if that is not known.
Footprint FootprintOf(const tvm::PrimExpr& index, int64_t extent, VectorScope* scope,
                      ExprDecoder* exprs);

}  // namespace tilelang_ascend_sched::verify
