#pragma once

#include <tvm/ir/transform.h>

namespace tilelang_ascend_sched {

// The pass `tl.RewriteFlagToBuf`: brings the event ids of each event pair into the 8 that the
// machine has. Ids are handled in runs, a run being what one index can reach. Where at most 8 ids
// are in use the runs are moved together; where there are more, the busiest runs that fit stay
// flags and each other run becomes a run of locks (32 ids a core, less those that the kernel's own
// lock calls and the L1 GEMM templates use). If the locks run out so, the runs that fill the 8
// slots best stay instead; if they still do and `fold_rings` is set, the most runs stay and rings
// are folded: all ids of a ring share one lock. AIC and AIV have flags and locks of their own and
// are treated apart. Each spilled run is a note in the report. InternalError if the locks do not
// suffice, or an id has no known bounds.
//
// A flag becomes locks as follows: `set` is a lock at once given back on the setting pipe, not
// blocking; `wait` the same on the waiting pipe, blocking. A lock is granted in the order in which
// locks of its id are issued, and given back when all earlier work of its pipe is done. So
//   - the order is kept: the k-th wait of an id follows all that precedes the k-th set on its pipe,
//     provided the set is issued first. This holds for rings primed before a loop and for flags
//     under a guard alike, since issue order is what counts, not loop or branch.
//   - nothing can block for ever: a lock waits only for locks issued before it, and each of these
//     is given back without waiting for anything issued after it.
//   - sharing a lock between the ids of a ring only adds order of the same kind.
//   - what a flag forbids (set twice, left set) cannot arise, as nothing is counted.
// A wait issued before its set is legal for flags (the waiting pipe stands still meanwhile) but
// would find the lock free. A run stays a flag unless all its sets are seen to come first.
tvm::transform::Pass RewriteFlagToBuf(bool fold_rings);

}  // namespace tilelang_ascend_sched
