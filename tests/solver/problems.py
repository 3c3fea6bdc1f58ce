"""Problems the solver's tests share: recorded loops, generated chains, random small ones."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import strategies as st

from tilelang_ascend_sched.solver import (
    Buffer,
    Edge,
    MemoryGroup,
    OwnerExclusion,
    Policy,
    Resource,
    ScheduleProblem,
    Task,
)
from tilelang_ascend_sched.solver.stock import loop_problem

DATA = Path(__file__).parents[1] / "data" / "problems"


def recorded_loops() -> list[dict]:
    """Loops of real kernels with the answer TileLang's own solver gave."""
    return json.loads((DATA / "loops.json").read_text())


def recorded(name: str) -> ScheduleProblem:
    row = next(row for row in recorded_loops() if row["name"] == name)
    return loop_problem(**row["problem"], name=name)


def chains(count: int) -> ScheduleProblem:
    """``count`` independent copy-in, SIMT, copy-out chains, all through one memory port."""
    tasks, edges = [], []
    for c in range(count):
        load, work, store = 3 * c, 3 * c + 1, 3 * c + 2
        tasks.append(Task(f"load{c}", ("MTE2",), 111, 21))
        tasks.append(Task(f"simt{c}", ("Vector",), 12 if c else 6, 12 if c else 6))
        tasks.append(Task(f"store{c}", ("MTE3",), 198, 18))
        for u, v, latency in ((load, work, 111), (load, store, 111), (work, store, 12)):
            edges.append(Edge(u, v, latency))
        for u in (load, work, store):
            for v in (load, work):
                if v <= u:
                    edges.append(Edge(u, v, tasks[u].latency, buffer=c))
    n = 3 * count
    port = tuple(t for t in range(n) if t % 3 != 1)
    vector = tuple(t for t in range(n) if t % 3 == 1)
    return ScheduleProblem(
        tuple(tasks),
        tuple(edges),
        (Resource("memory port", port), Resource("Vector", vector)),
        (),
        tuple(Buffer(f"tile{c}", 1024) for c in range(count)),
        (MemoryGroup("UB", 221184, tuple(range(count))),),
        Policy(max_versions=2),
        name=f"chains{count}",
    )


@st.composite
def tiny_loops(draw: st.DrawFn, most_tasks: int = 3, most_cycles: int = 3) -> ScheduleProblem:
    """Loops so small that trying every schedule is quick, yet with every kind of constraint."""
    n = draw(st.integers(1, most_tasks))
    index = st.integers(0, n - 1)
    cycles = st.integers(0, most_cycles)
    pipes = st.sets(st.sampled_from(["A", "B"]), max_size=2).map(lambda s: tuple(sorted(s)))
    tasks = tuple(
        Task(f"t{i}", draw(pipes), draw(cycles), draw(st.integers(1, 2))) for i in range(n)
    )
    buffers = tuple(
        Buffer(f"b{i}", draw(st.integers(0, 2))) for i in range(draw(st.integers(0, 2)))
    )
    edges = []
    for _ in range(draw(st.integers(0, 4))):
        u, v, latency = draw(index), draw(index), draw(cycles)
        if buffers and draw(st.booleans()):
            edges.append(Edge(u, v, latency, buffer=draw(st.integers(0, len(buffers) - 1))))
        else:
            edges.append(Edge(u, v, latency, 0 if u < v else draw(st.integers(1, 2))))
    resources, exclusions = [], []
    if n > 1:
        some = st.sets(index, min_size=2).map(lambda s: tuple(sorted(s)))
        resources = [Resource(f"r{i}", draw(some)) for i in range(draw(st.integers(0, 2)))]
        for _ in range(draw(st.integers(0, 2))):
            i, j = draw(st.permutations(range(n)))[:2]
            exclusions.append(OwnerExclusion(i, j, draw(cycles), draw(cycles)))
    groups = ()
    if buffers:
        least = sum(b.size for b in buffers)
        capacity = least + draw(st.integers(0, 3))
        groups = (MemoryGroup("m", capacity, tuple(range(len(buffers)))),)
    pairs = st.lists(st.tuples(index, index), max_size=2).map(tuple)
    offset = draw(st.booleans())
    manual = draw(st.integers(0, 3)) == 0
    stages = tuple(draw(st.integers(0, 1 if offset else 0)) for _ in range(n)) if manual else None
    policy = Policy(
        draw(st.integers(1, 2)),
        offset,
        stages,
        draw(pairs) if draw(st.booleans()) else (),
        draw(pairs) if draw(st.booleans()) else (),
    )
    return ScheduleProblem(
        tasks, tuple(edges), tuple(resources), tuple(exclusions), buffers, groups, policy
    )


@st.composite
def tiny_regions(draw: st.DrawFn, most_tasks: int = 4) -> ScheduleProblem:
    """Straight-line lists small enough to try every schedule."""
    n = draw(st.integers(1, most_tasks))
    index, cycles = st.integers(0, n - 1), st.integers(0, 3)
    tasks = tuple(Task(f"t{i}", ("A",), draw(cycles), draw(st.integers(1, 2))) for i in range(n))
    edges = []
    for _ in range(draw(st.integers(0, 4))):
        u, v = draw(index), draw(index)
        if u < v:
            edges.append(Edge(u, v, draw(cycles)))
    resources, exclusions = [], []
    if n > 1:
        some = st.sets(index, min_size=2).map(lambda s: tuple(sorted(s)))
        resources = [Resource("r", draw(some))] if draw(st.booleans()) else []
        for _ in range(draw(st.integers(0, 2))):
            i, j = draw(st.permutations(range(n)))[:2]
            exclusions.append(OwnerExclusion(i, j, draw(cycles), draw(cycles)))
    order = draw(st.lists(st.tuples(index, index), max_size=2).map(tuple))
    policy = Policy(pipe_order=order)
    return ScheduleProblem(
        tasks, tuple(edges), tuple(resources), tuple(exclusions), policy=policy, kind="region"
    )
