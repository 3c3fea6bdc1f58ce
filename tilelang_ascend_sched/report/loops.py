"""Loops, tasks and buffers of a module by name, for what the solver knows by number."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tvm import IRModule, tirx
from tvm_ffi import get_global_func

from .schedule import BufferReport


@dataclass(frozen=True)
class Region:
    """One list of units that the solver orders: a loop's body, or a kernel's top level.

    ``tasks`` are short names in the user's terms, such as ``ascend_copy(A, A_l1)``; ``places`` are
    where these stand, such as `` (kernel.py:12)``, or empty.
    """

    kind: str
    name: str
    trips: int | None
    tasks: tuple[str, ...]
    places: tuple[str, ...]


def regions(mod: IRModule) -> list[Region]:
    """The regions of a module, in the order in which AutoSchedule asks the solver for them.

    Inner loops come before the loop around them, a kernel's top level comes last; a top level of
    a single unit is never asked for.
    """
    return [
        Region(
            "loop" if row["loop"] else "region",
            row["name"],
            row["trips"],
            tuple(row["tasks"]),
            tuple(row["places"]),
        )
        for row in _described("units", mod)
        if row["loop"] or len(row["tasks"]) > 1
    ]


def buffers(mod: IRModule) -> list[BufferReport]:
    """On-chip buffers of a module after AutoSchedule, with the versions it chose."""
    return [BufferReport(**row) for row in _described("buffers", mod)]


def has_simt(mod: IRModule) -> bool:
    """Whether a kernel of the module has a SIMT function, which keeps some of UB for itself."""
    found = False

    def visit(node: object) -> None:
        nonlocal found
        found = found or (isinstance(node, tirx.SBlock) and node.name_hint == "SIMT_VF")

    for func in _functions(mod):
        tirx.stmt_functor.post_order_visit(func.body, visit)
    return found


def _described(what: str, mod: IRModule) -> Iterator[dict[str, Any]]:
    describe = get_global_func(f"tl.ascend_sched.{what}")
    for func in _functions(mod):
        yield from json.loads(str(describe(func)))


def _functions(mod: IRModule) -> list[tirx.PrimFunc]:
    return [
        func for _, func in sorted(mod.functions.items(), key=lambda item: str(item[0].name_hint))
    ]
