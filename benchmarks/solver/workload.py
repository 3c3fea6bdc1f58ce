"""Problems to compare solvers on, as the rows of integers both of them take."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from tilelang_ascend_sched.solver import Edge, Resource, ScheduleProblem, Task

DATA = Path(__file__).parents[2] / "tests" / "data" / "problems"
RECORDED = DATA / "loops.json"
EXAMPLES = DATA / "examples.json"
UB_BYTES = 216 * 1024  # Unified Buffer of a kernel with a SIMT function
BITS = {"MTE1": 1, "MTE2": 2, "MTE3": 4, "Cube": 8, "Vector": 16, "Fixpipe": 32, "Scalar": 64}


def recorded() -> list[tuple[str, dict[str, Any]]]:
    """Loops of real kernels, as TileLang's compiler asked for them."""
    return [(row["name"], row["problem"]) for row in json.loads(RECORDED.read_text())]


def permuted(name: str, problem: dict[str, Any], seed: int) -> tuple[str, dict[str, Any]]:
    """The same loop with its tasks numbered in another order that keeps the dependences."""
    order = _random_order(problem, random.Random(seed))
    place = {task: at for at, task in enumerate(order)}
    copy = dict(problem)
    for key in ("latencies", "iis", "resource_flags", "manual_stages"):
        copy[key] = [problem[key][task] for task in order]
    for key, width in (("data_deps", 2), ("pipe_order_deps", 2), ("stage_order_deps", 2)):
        copy[key] = [[*(place[t] for t in row[:width]), *row[width:]] for row in problem[key]]
    copy["resource_deps"] = sorted(
        sorted(place[t] for t in row) for row in problem["resource_deps"]
    )
    exclusions = []
    for i, j, forward, backward in problem["owner_exclusion_deps"]:
        a, b = place[i], place[j]
        exclusions.append([a, b, forward, backward] if a < b else [b, a, backward, forward])
    copy["owner_exclusion_deps"] = exclusions
    return f"{name}~{seed}", copy


def _random_order(problem: dict[str, Any], rng: random.Random) -> list[int]:
    n = len(problem["latencies"])
    before: list[set[int]] = [set() for _ in range(n)]
    rows = [row[:2] for row in problem["data_deps"] if row[2] == 0]
    for u, v in [*rows, *problem["pipe_order_deps"]]:
        if u != v:
            before[v].add(u)
    order: list[int] = []
    while len(order) < n:
        ready = [t for t in range(n) if t not in order and before[t] <= set(order)]
        order.append(rng.choice(ready))
    return order


def chains(count: int) -> tuple[str, dict[str, Any]]:
    """``count`` independent copy-in, SIMT, copy-out chains that share one memory port."""
    n = 3 * count
    latencies = [(111, 12, 198)[t % 3] for t in range(n)]
    edges = []
    for c in range(count):
        load, work, store = 3 * c, 3 * c + 1, 3 * c + 2
        edges += [[load, load, -c - 1, 111], [load, work, 0, 111], [load, store, 0, 111]]
        edges += [[work, load, -c - 1, 12], [work, work, -c - 1, 12], [work, store, 0, 12]]
        edges += [[store, load, -c - 1, 198], [store, work, -c - 1, 198]]
    return f"chains{count}", {
        "num_stages": 2,
        "latencies": latencies,
        "iis": [(21, 12, 18)[t % 3] for t in range(n)],
        "resource_flags": [(2, 16, 4)[t % 3] for t in range(n)],
        "data_deps": edges,
        "resource_deps": [
            [i, j] for i in range(n) for j in range(i + 1, n) if (i % 3 == 1) == (j % 3 == 1)
        ],
        "owner_exclusion_deps": [],
        "pipe_order_deps": [],
        "buffer_sizes": [min(1024, UB_BYTES // (2 * count))] * count,
        "memory_groups": [[UB_BYTES, *range(count)]],
        "stage_order_deps": [],
        "enable_offset": False,
        "manual_stages": [0] * n,
        "manual_schedule": False,
    }


def generated(tasks: int, seed: int) -> tuple[str, dict[str, Any]]:
    """A random loop of load, compute and store tasks over shared buffers."""
    rng = random.Random(1000 * tasks + seed)
    kinds = ["MTE2", "Vector", "MTE3", "MTE1", "Cube", "Fixpipe"]
    pipes = [rng.choice(kinds) for _ in range(tasks)]
    iis = [rng.randint(8, 400) for _ in range(tasks)]
    latencies = [ii + rng.randint(0, 200) for ii in iis]
    buffers = max(1, tasks // 4)
    sizes = [rng.choice([1, 2, 4, 8]) * 1024 for _ in range(buffers)]
    edges = []
    for v in range(1, tasks):
        for u in sorted(rng.sample(range(v), min(v, rng.choice([1, 1, 2])))):
            if v - u > 12:
                continue
            edges.append([u, v, 0, latencies[u]])
            edges.append([v, u, -1 - rng.randrange(buffers), latencies[v]])
    port = {"MTE2", "MTE3"}
    conflicts = [
        [i, j]
        for i in range(tasks)
        for j in range(i + 1, tasks)
        if pipes[i] == pipes[j] or {pipes[i], pipes[j]} <= port
    ]
    return f"random{tasks}-{seed}", {
        "num_stages": rng.choice([2, 3]),
        "latencies": latencies,
        "iis": iis,
        "resource_flags": [BITS[pipe] for pipe in pipes],
        "data_deps": edges,
        "resource_deps": conflicts,
        "owner_exclusion_deps": [],
        "pipe_order_deps": [],
        "buffer_sizes": sizes,
        "memory_groups": [[rng.choice([2, 3]) * sum(sizes) // 2, *range(buffers)]],
        "stage_order_deps": [],
        "enable_offset": rng.random() < 0.5,
        "manual_stages": [0] * tasks,
        "manual_schedule": False,
    }


def slow(name: str) -> bool:
    """Whether TileLang's solver took more than two seconds when the loop was recorded."""
    rows = json.loads(RECORDED.read_text())
    return next(row["stock"]["seconds"] for row in rows if row["name"] == name) > 2


def regions() -> list[ScheduleProblem]:
    """Straight-line regions of the example kernels."""
    if not EXAMPLES.exists():
        return []
    rows = json.loads(EXAMPLES.read_text())
    problems = [ScheduleProblem.from_json(json.dumps(row)) for row in rows]
    return [problem for problem in problems if problem.kind == "region"]


def region_rows(problem: ScheduleProblem) -> dict[str, Any]:
    """A region as the rows that TileLang's solver takes."""
    pairs = {
        (i, j)
        for resource in problem.resources
        for i in resource.tasks
        for j in resource.tasks
        if i < j
    }
    return {
        "latencies": [task.latency for task in problem.tasks],
        "iis": [task.interval for task in problem.tasks],
        "resource_flags": [sum(BITS[pipe] for pipe in task.pipes) for task in problem.tasks],
        "data_deps": [(edge.src, edge.dst, edge.latency) for edge in problem.edges],
        "resource_deps": sorted(pairs),
        "owner_exclusion_deps": [
            (x.first, x.second, x.gap_forward, x.gap_backward) for x in problem.exclusions
        ],
        "pipe_order_deps": list(problem.policy.pipe_order),
    }


def generated_region(tasks: int, seed: int) -> ScheduleProblem:
    """A random straight-line list on four pipes, two of which share a memory port."""
    rng = random.Random(1000 * tasks + seed)
    pipes = [rng.choice(["MTE2", "MTE3", "Vector", "Cube"]) for _ in range(tasks)]
    rows = [
        Task(f"task{t}", (pipes[t],), rng.randint(20, 400), rng.randint(5, 200))
        for t in range(tasks)
    ]
    edges = []
    for v in range(1, tasks):
        near = range(max(0, v - 8), v)
        for u in sorted(rng.sample(near, min(len(near), rng.choice([0, 1, 1, 2])))):
            edges.append(Edge(u, v, rows[u].latency))
    users = {"Vector": ["Vector"], "Cube": ["Cube"], "memory port": ["MTE2", "MTE3"]}
    shared = [
        Resource(name, tuple(t for t in range(tasks) if pipes[t] in some))
        for name, some in users.items()
    ]
    name = f"region{tasks}-{seed}"
    return ScheduleProblem(tuple(rows), tuple(edges), tuple(shared), kind="region", name=name)
