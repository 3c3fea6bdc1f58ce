"""The edges that the analysis finds in a small kernel, in a form that is quickly compared."""

from __future__ import annotations

from tvm.tirx import PrimFunc

from tilelang_ascend_sched.deps import Body, Dependences, find_dependences

Row = tuple[int, int, str, str, int | str]
"""Unit that is waited for, unit that waits, kind, storage, distance."""


def analysed(function: PrimFunc) -> Dependences:
    (kernel,) = find_dependences(function)
    return kernel


def body_of(kernel: Dependences, name: str) -> Body:
    (body,) = [body for body in kernel.bodies if body.name == name]
    return body


def rows(function: PrimFunc, body: str = "kernel", storage: str = "") -> set[Row]:
    """The edges of one body; of one storage only, if it is named."""
    return {
        (edge.source_unit, edge.target_unit, edge.kind, edge.storage, edge.distance)
        for edge in body_of(analysed(function), body).edges
        if storage in ("", edge.storage)
    }


def distances(function: PrimFunc, body: str, storage: str) -> dict[str, set[int | str]]:
    """Of each kind of edge, how far apart iterations meet in one storage."""
    found: dict[str, set[int | str]] = {}
    for _, _, kind, _, distance in rows(function, body, storage):
        found.setdefault(kind, set()).add(distance)
    return found
