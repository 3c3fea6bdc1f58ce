"""Problems from the rows of integers that TileLang's AutoSchedule passes to its solver.

The rows know neither names nor trip counts: tasks are called task0, task1, ... in program order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .problem import (
    Buffer,
    Edge,
    MemoryGroup,
    OwnerExclusion,
    Policy,
    ProblemError,
    Resource,
    ScheduleProblem,
    Task,
)

# Bit b of a task's resource flags stands for PIPES[b].
PIPES = ("MTE1", "MTE2", "MTE3", "Cube", "Vector", "Fixpipe", "Scalar")

Row = Sequence[int]


def loop_problem(
    num_stages: int,
    latencies: Sequence[int],
    iis: Sequence[int],
    resource_flags: Sequence[int],
    data_deps: Iterable[Row],
    resource_deps: Iterable[Row],
    owner_exclusion_deps: Iterable[Row] | None,
    pipe_order_deps: Iterable[Row] | None,
    buffer_sizes: Sequence[int],
    memory_groups: Iterable[Row],
    stage_order_deps: Iterable[Row] | None = None,
    enable_offset: bool = False,
    manual_stages: Sequence[int] | None = None,
    manual_schedule: bool = False,
    *,
    name: str = "",
) -> ScheduleProblem:
    """The problem of one loop body.

    ``data_deps`` rows are (u, v, distance, latency), a distance -j-1 standing for the versions of
    buffer j; ``memory_groups`` rows are (bytes, buffer, ...). Raises ProblemError naming the row.
    """
    tasks = _tasks(latencies, iis, resource_flags)
    buffers = tuple(Buffer(f"buffer{i}", size) for i, size in enumerate(buffer_sizes))
    edges = []
    for i, row in enumerate(data_deps):
        u, v, distance, latency = _wide("data_deps", i, row, 4)
        if distance >= 0:
            edges.append(Edge(u, v, latency, distance))
        else:
            edges.append(Edge(u, v, latency, 0, -distance - 1))
    groups = []
    for i, row in enumerate(memory_groups):
        if not len(row):
            raise ProblemError(f"memory_groups[{i}] has no capacity")
        groups.append(MemoryGroup(f"memory group {i}", row[0], tuple(row[1:])))
    stages = None
    if manual_schedule:
        stages = tuple(manual_stages) if manual_stages is not None else (0,) * len(tasks)
    policy = Policy(
        num_stages,
        bool(enable_offset),
        stages,
        _pairs("pipe_order_deps", pipe_order_deps),
        _pairs("stage_order_deps", stage_order_deps),
    )
    return ScheduleProblem(
        tasks,
        tuple(edges),
        _resources(tasks, _pairs("resource_deps", resource_deps)),
        _exclusions(owner_exclusion_deps),
        buffers,
        tuple(groups),
        policy,
        name=name,
    )


def region_problem(
    latencies: Sequence[int],
    iis: Sequence[int],
    resource_flags: Sequence[int],
    data_deps: Iterable[Row],
    resource_deps: Iterable[Row],
    owner_exclusion_deps: Iterable[Row] | None = None,
    pipe_order_deps: Iterable[Row] | None = None,
    *,
    name: str = "",
) -> ScheduleProblem:
    """The problem of a straight-line task list; ``data_deps`` rows are (u, v, latency)."""
    tasks = _tasks(latencies, iis, resource_flags)
    edges = []
    for i, row in enumerate(data_deps):
        u, v, latency = _wide("data_deps", i, row, 3)
        edges.append(Edge(u, v, latency))
    return ScheduleProblem(
        tasks,
        tuple(edges),
        _resources(tasks, _pairs("resource_deps", resource_deps)),
        _exclusions(owner_exclusion_deps),
        policy=Policy(pipe_order=_pairs("pipe_order_deps", pipe_order_deps)),
        kind="region",
        name=name,
    )


def _tasks(latencies: Sequence[int], iis: Sequence[int], flags: Sequence[int]) -> tuple[Task, ...]:
    if not len(latencies) == len(iis) == len(flags):
        raise ProblemError(
            f"{len(latencies)} latencies, {len(iis)} issue intervals and {len(flags)} pipe masks: "
            "each task needs one of each"
        )
    tasks = []
    for i, (latency, interval, mask) in enumerate(zip(latencies, iis, flags, strict=True)):
        pipes = tuple(pipe for bit, pipe in enumerate(PIPES) if mask >> bit & 1)
        tasks.append(Task(f"task{i}", pipes, latency, interval))
    return tuple(tasks)


def _wide(what: str, i: int, row: Row, width: int) -> Row:
    if len(row) != width:
        raise ProblemError(f"{what}[{i}] has {len(row)} figures, expected {width}")
    return row


def _pairs(what: str, rows: Iterable[Row] | None) -> tuple[tuple[int, int], ...]:
    return tuple((row[0], row[1]) for i, row in enumerate(rows or ()) if _wide(what, i, row, 2))


def _exclusions(rows: Iterable[Row] | None) -> tuple[OwnerExclusion, ...]:
    what = "owner_exclusion_deps"
    return tuple(OwnerExclusion(*_wide(what, i, row, 4)) for i, row in enumerate(rows or ()))


def _resources(tasks: Sequence[Task], pairs: Iterable[tuple[int, int]]) -> tuple[Resource, ...]:
    """Names the conflicts: pipes first, then groups of tasks that all conflict with each other.

    Two tasks of one resource conflict, so a set of tasks becomes a resource only if all pairs in
    it do.
    """
    near: dict[int, set[int]] = {}
    for i, j in pairs:
        for task in (i, j):
            if not 0 <= task < len(tasks):
                raise ProblemError(f"resource_deps: there is no task {task}")
        if i != j:
            near.setdefault(i, set()).add(j)
            near.setdefault(j, set()).add(i)
    found: list[Resource] = []
    covered: set[tuple[int, int]] = set()

    def keep(name: str, members: list[int]) -> None:
        found.append(Resource(name, tuple(members)))
        covered.update((a, b) for a in members for b in members if a < b)

    for pipe in PIPES:
        members = [i for i in sorted(near) if pipe in tasks[i].pipes]
        if len(members) > 1 and all(
            near[a].issuperset(members[k + 1 :]) for k, a in enumerate(members)
        ):
            keep(pipe, members)
    for i in sorted(near):
        for j in sorted(near[i]):
            if i < j and (i, j) not in covered:
                keep_members = _clique(i, j, near)
                keep(_port_name(tasks, keep_members), keep_members)
    return tuple(found)


def _clique(i: int, j: int, near: dict[int, set[int]]) -> list[int]:
    members, common = [i, j], near[i] & near[j]
    while common:
        best = min(common)
        members.append(best)
        common &= near[best]
    return sorted(members)


def _port_name(tasks: Sequence[Task], members: list[int]) -> str:
    pipes = [p for p in PIPES if any(p in tasks[i].pipes for i in members)]
    return "port of " + "/".join(pipes) if pipes else "shared resource"
