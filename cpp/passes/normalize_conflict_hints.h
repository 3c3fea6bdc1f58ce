#pragma once

#include <tvm/ir/transform.h>

namespace tilelang_ascend_sched {

// The pass `tl.NormalizeConflictHints`: takes the calls that `T.assume_conflict` and
// `T.assume_no_conflict` left in the code out of it, and records each at the levels that it speaks
// of: in the annotation `conflict_hint` of loops and in `tl.root_conflict_hints` of the kernel, as
// entries [operand, operand, across iterations (1), within one (0) or both (-1), conflict or not].
//
// A region is recorded as the user wrote it and, where out-of-bounds clamping has since cut
// accesses to it short, as those accesses now read, so that later passes find them. A hint none of
// whose accesses the kernel makes is told in the report. InternalError for a level without a loop,
// and for groups that are not pairs of equal level and `cross`.
tvm::transform::Pass NormalizeConflictHints();

}  // namespace tilelang_ascend_sched
