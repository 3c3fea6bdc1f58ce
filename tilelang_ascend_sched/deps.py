"""The dependences of a kernel, as our analysis finds them before AutoSchedule.

The analysis is C++ (``cpp/analysis/dependence``, described in ``docs/dependences.md``); this gives
its result to Python.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import tilelang
from tvm.ir import IRModule
from tvm.ir.instrument import pass_instrument
from tvm.ir.transform import PassContext
from tvm.target import Target
from tvm.tirx import PrimFunc
from tvm_ffi import get_global_func

VERSIONS = "versions"
"""The distance of a dependence that is the number of versions its storage will get."""


@dataclass(frozen=True)
class Task:
    """A task, or the bounds and guards of a loop (``loop``; it has no cost of its own).

    body, unit: the number of the body it stands in, and its place among the units there.
    latency, ii: cycles; None before EstimateLatency.
    read, written: bytes at most, each box of elements once; None where nothing bounds them.
    """

    name: str
    body: int
    unit: int
    loop: bool
    guards: tuple[str, ...] = ()
    pipe: str = ""
    core: str = ""
    latency: int | None = None
    ii: int | None = None
    read: int | None = None
    written: int | None = None


@dataclass(frozen=True)
class Edge:
    """Task ``target`` of iteration i + distance has to wait for task ``source`` of iteration i.

    source, target: numbers of tasks; source_unit, target_unit: the body's units that hold them.
    kind: RAW, WAR, WAW, or ``exclusion``: two owners of one storage, of which either may be first.
    distance: iterations of the body, or ``VERSIONS``.
    """

    source: int
    target: int
    source_unit: int
    target_unit: int
    kind: str
    storage: str
    distance: int | str


@dataclass(frozen=True)
class Body:
    """The body of the kernel, or of a scheduled loop.

    parent, unit: number of the body around it and place of the loop there.
    trips: iterations, where constant.
    questions, unproven: proofs that simple comparison did not settle, and those that failed: there
    an edge may stand that no execution needs.
    """

    name: str
    parent: int | None
    unit: int
    trips: int | None
    edges: tuple[Edge, ...]
    questions: int
    unproven: int


@dataclass(frozen=True)
class Dependences:
    """Of one kernel. Tasks are in program order, bodies from the outside in."""

    tasks: tuple[Task, ...]
    bodies: tuple[Body, ...]


def dependences_of(function: PrimFunc) -> tuple[Dependences, ...]:
    """The dependences of each kernel of a function that has schedule units."""
    found = json.loads(str(get_global_func("tl.ascend_sched.dependences")(function)))
    return tuple(_kernel(kernel) for kernel in found)


def find_dependences(function: PrimFunc) -> tuple[Dependences, ...]:
    """The dependences of each kernel of a prim_func, as they are when AutoSchedule begins.

    Raises what TileLang raises for a kernel that it refuses.
    """
    module = _before_auto_schedule(function)
    return tuple(
        kernel
        for each in module.functions.values()
        if isinstance(each, PrimFunc)
        for kernel in dependences_of(each)
    )


class _Reached(Exception):
    """Ends a lowering when the pass that was waited for is about to run."""


def _before_auto_schedule(function: PrimFunc) -> IRModule:
    seen: list[IRModule] = []

    @pass_instrument
    class Stop:
        def run_before_pass(self, module: IRModule, info: object) -> None:
            if getattr(info, "name", "") == "tl.AutoSchedule":
                seen.append(module)
                raise _Reached

    try:
        with PassContext(opt_level=3, instruments=[Stop()]), Target("ascend"):
            tilelang.lower(function, target="ascend")
    except Exception:
        if not seen:
            raise
    if not seen:
        raise ValueError("the kernel is lowered without AutoSchedule, so it has no tasks")
    return seen[0]


def _kernel(kernel: dict) -> Dependences:
    tasks = tuple(Task(**{**task, "guards": tuple(task["guards"])}) for task in kernel["tasks"])
    return Dependences(tasks, tuple(map(_body, kernel["bodies"])))


def _body(body: dict) -> Body:
    edges = tuple(
        Edge(
            edge["from"],
            edge["to"],
            edge["from_unit"],
            edge["to_unit"],
            edge["kind"],
            edge["storage"],
            edge["distance"],
        )
        for edge in body["edges"]
    )
    return Body(**{**body, "edges": edges})
