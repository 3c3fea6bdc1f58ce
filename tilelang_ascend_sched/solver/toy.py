"""The worked example of four tasks: small enough to solve by hand, with every idea in it."""

from __future__ import annotations

from .problem import Buffer, Edge, MemoryGroup, Policy, Resource, ScheduleProblem, Task

LOAD_LATENCY = 40


def problem(*, versions: int = 2, load_latency: int = LOAD_LATENCY) -> ScheduleProblem:
    """Load a tile, move it to L0, multiply, store; the tile may be kept in ``versions`` copies.

    ``load_latency`` is what the scheduler believes the load takes, in cycles.
    """
    return ScheduleProblem(
        name="toy",
        tasks=(
            Task("loadA", ("MTE2",), load_latency, 10),
            Task("l1->l0", ("MTE1",), 15, 3),
            Task("cube", ("Cube",), 30, 8),
            Task("l0c->gm", ("Fixpipe",), 25, 6),
        ),
        edges=(
            Edge(0, 1, load_latency),
            Edge(1, 2, 15),
            Edge(2, 3, 30),
            Edge(1, 0, 15, buffer=0),  # the next load overwrites what l1->l0 still reads
        ),
        resources=(Resource("explicit pair", (1, 2)),),
        buffers=(Buffer("a_l1", 1000),),
        memory_groups=(MemoryGroup("L1", 4096, (0,)),),
        policy=Policy(max_versions=versions),
    )


def lateness(starts: tuple[int, ...], truth: ScheduleProblem) -> list[tuple[int, int, int]]:
    """(producer, consumer, cycles) of every true dependence these starts are too early for."""
    late = []
    for edge in truth.edges:
        if edge.buffer is None and edge.distance == 0:
            early = starts[edge.src] + edge.latency - starts[edge.dst]
            if early > 0:
                late.append((edge.src, edge.dst, early))
    return late
