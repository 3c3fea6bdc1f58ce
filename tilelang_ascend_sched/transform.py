"""Our passes as Python functions, under the names of the stock passes they stand in for."""

from __future__ import annotations

from collections.abc import Callable

from tvm.ir.transform import Pass
from tvm_ffi import get_global_func

from .pipeline import PASSES

GLOBAL_PREFIX = "tl.ascend_sched.transform."
"""FFI globals under which the native library registers its passes."""


def RestoreWhileLoops() -> Pass:
    """Turn the bounded loops made from ``while`` into ``while`` loops again."""
    return get_global_func(GLOBAL_PREFIX + "RestoreWhileLoops")()


def RewriteFlagToBuf() -> Pass:
    """Fit each event pair's flag ids into its 8 slots, and move the rest to lock ids."""
    return get_global_func(GLOBAL_PREFIX + "RewriteFlagToBuf")()


OURS: dict[str, Callable[..., Pass]] = {
    info.name: globals()[info.name] for info in PASSES if info.ours
}
"""Name -> pass constructor, for the passes that are ours."""
