"""Our passes as Python functions, under the names of the stock passes they stand in for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tvm.ir.transform import Pass
from tvm_ffi import get_global_func

from .pipeline import PASSES

GLOBAL_PREFIX = "tl.ascend_sched.transform."
"""FFI globals under which the native library registers its passes."""


def NormalizeControlFlowForSchedule() -> Pass:
    """Turn ``while`` into a bounded loop, and conditions and loop bounds into bindings."""
    return get_global_func(GLOBAL_PREFIX + "NormalizeControlFlowForSchedule")()


def NormalizeConflictHints() -> Pass:
    """Turn conflict hints into annotations of loops and of the kernel."""
    return get_global_func(GLOBAL_PREFIX + "NormalizeConflictHints")()


def MaterializeScheduleUnits() -> Pass:
    """Divide a kernel into the tasks and loops that are scheduled."""
    return get_global_func(GLOBAL_PREFIX + "MaterializeScheduleUnits")()


def EstimateLatency() -> Pass:
    """Write each task's latency and issue interval, in cycles."""
    return get_global_func(GLOBAL_PREFIX + "EstimateLatency")()


def RestoreWhileLoops() -> Pass:
    """Turn the bounded loops made from ``while`` into ``while`` loops again."""
    return get_global_func(GLOBAL_PREFIX + "RestoreWhileLoops")()


def RewriteFlagToBuf(fold_rings: bool = False) -> Pass:
    """Fit each event pair's flag ids into its 8 slots, and move the rest to lock ids.

    Too many ids are an error; with ``fold_rings`` the ids of a ring share one lock before that.
    """
    return get_global_func(GLOBAL_PREFIX + "RewriteFlagToBuf" + "Folding" * fold_rings)()


OURS: dict[str, Callable[..., Pass]] = {
    info.name: globals()[info.name] for info in PASSES if info.ours
}
"""Name -> pass constructor, for the passes that are ours, as drop-ins for stock's."""

IN_CHAIN: dict[str, Callable[..., Pass]] = {
    **OURS,
    "RewriteFlagToBuf": partial(RewriteFlagToBuf, fold_rings=True),
}
"""The same as they run in a lowering of ours, where they may do what stock's twin cannot."""
