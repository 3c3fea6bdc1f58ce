"""The example kernels. ``WORKLOADS`` maps each name to its kernel, data and expected results.

The kernel files do without ``from __future__ import annotations``: the parameter annotations of a
``T.prim_func`` are shapes that Python has to evaluate where the kernel is defined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from examples.workload import EXACT, Tolerance, Workload

if TYPE_CHECKING:
    from examples.registry import WORKLOADS

__all__ = ["EXACT", "WORKLOADS", "Tolerance", "Workload"]


def __getattr__(name: str) -> Any:
    # Late, so that a kernel file can import its neighbour without importing all of them.
    if name == "WORKLOADS":
        from examples.registry import WORKLOADS

        return WORKLOADS
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
