"""Every bound is proven again from the problem's own rows."""

from __future__ import annotations

import itertools

from hypothesis import given, settings

from tests.solver.problems import recorded_loops, tiny_loops
from tilelang_ascend_sched.solver import (
    Bound,
    Buffer,
    Edge,
    MemoryGroup,
    Policy,
    ScheduleProblem,
    Task,
    Verdict,
    solve,
)
from tilelang_ascend_sched.solver.engine import Status
from tilelang_ascend_sched.solver.model import Model
from tilelang_ascend_sched.solver.smt import Z3
from tilelang_ascend_sched.solver.stock import loop_problem


def _turn_gaps(problem: ScheduleProblem) -> dict[tuple[int, int], int]:
    """Cycles from the first of two tasks to the second where they exclude each other."""
    gaps: dict[tuple[int, int], int] = {}
    for resource in problem.resources:
        for i, j in itertools.permutations(resource.tasks, 2):
            gaps[i, j] = max(problem.tasks[i].interval, gaps.get((i, j), 0))
    for pair in problem.exclusions:
        i, j = pair.first, pair.second
        if min(pair.gap_forward, pair.gap_backward) > 0:
            gaps[i, j] = max(pair.gap_forward, gaps.get((i, j), 0))
            gaps[j, i] = max(pair.gap_backward, gaps.get((j, i), 0))
    return gaps


def _most(problem: ScheduleProblem, buffer: int) -> int:
    """Versions of one buffer when all others have one."""
    most = problem.policy.max_versions
    for group in problem.memory_groups:
        size = problem.buffers[buffer].size
        if buffer in group.buffers and size:
            rest = sum(problem.buffers[b].size for b in group.buffers if b != buffer)
            most = min(most, (group.capacity - rest) // size)
    return most


def _steps(problem: ScheduleProblem, u: int, v: int, counts: dict[int, int]):
    """(latency, distance) of everything that makes v wait for u."""
    for edge in problem.edges:
        if (edge.src, edge.dst) == (u, v):
            distance = edge.distance if edge.buffer is None else counts.get(edge.buffer)
            if distance is not None:
                yield edge.latency, distance
    shared = set(problem.tasks[u].pipes) & set(problem.tasks[v].pipes)
    if shared and u != v and not problem.policy.allow_offset:
        yield max(1, _turn_gaps(problem).get((u, v), 1)), 1
    stages = problem.policy.manual_stages
    if stages is not None:
        yield 1, stages[u] - stages[v] + 1  # both within the stage given by hand
        if (u, v) in problem.policy.pipe_order:
            yield 0, stages[u] - stages[v]


def _holds(problem: ScheduleProblem, bound: Bound) -> bool:
    tasks = bound.tasks
    if bound.kind == "interval":
        return problem.tasks[tasks[0]].interval == bound.value
    if bound.kind == "resource":
        if len(tasks) == 2:
            for x in problem.exclusions:
                both = x.gap_forward + x.gap_backward
                if {x.first, x.second} == set(tasks) and both == bound.value:
                    return True
        gaps = _turn_gaps(problem)
        return bound.value <= sum(min(gaps[i, j] for j in tasks if j != i) for i in tasks)
    if bound.kind == "recurrence":
        counts = dict(zip(bound.buffers, bound.versions, strict=True))
        if any(count > _most(problem, b) for b, count in counts.items()):
            return False
        hops = list(zip(tasks, tasks[1:] + tasks[:1], strict=True))
        choices = [list(_steps(problem, u, v, counts)) for u, v in hops]
        return any(
            sum(lat for lat, _ in walk) > (bound.value - 1) * sum(dist for _, dist in walk)
            for walk in itertools.product(*choices)
        )
    if bound.kind == "capacity":
        return _all_needed(problem, bound)
    return False


def _all_needed(problem: ScheduleProblem, bound: Bound) -> bool:
    """All do not fit, and with one version less of any some recurrence is above the bound."""
    group = next(g for g in problem.memory_groups if g.buffers == bound.buffers)
    counts = dict(zip(bound.buffers, bound.versions, strict=True))
    if sum(problem.buffers[b].size * count for b, count in counts.items()) <= group.capacity:
        return False
    return all(
        count == 1 or _recurrence_above(problem, bound.value - 1, {b: count - 1})
        for b, count in counts.items()
    )


def _recurrence_above(problem: ScheduleProblem, ii: int, counts: dict[int, int]) -> bool:
    """Whether some cycle of waits is longer than its distance allows at this II."""
    counts = {b: _most(problem, b) for b in range(len(problem.buffers))} | counts
    nodes = range(len(problem.tasks))
    reach = {
        (u, v): max((lat - dist * ii for lat, dist in _steps(problem, u, v, counts)), default=None)
        for u in nodes
        for v in nodes
    }
    for k, u, v in itertools.product(nodes, repeat=3):
        if reach[u, k] is not None and reach[k, v] is not None:
            through = reach[u, k] + reach[k, v]
            reach[u, v] = through if reach[u, v] is None else max(through, reach[u, v])
    return any(reach[u, u] is not None and reach[u, u] > 0 for u in nodes)


def test_short_memory_is_a_bound_of_its_own() -> None:
    """Two loads of 100 cycles into buffers of which only three versions fit together."""
    tasks = tuple(Task(f"load{i}", (f"pipe{i}",), 100, 10) for i in range(2))
    edges = tuple(Edge(i, i, 100, buffer=i) for i in range(2))
    buffers = (Buffer("a", 1000), Buffer("b", 1000))
    group = (MemoryGroup("UB", 3500, (0, 1)),)
    policy = Policy(max_versions=4)
    answer = solve(ScheduleProblem(tasks, edges, (), (), buffers, group, policy))
    assert (answer.ii, answer.verdict) == (100, Verdict.OPTIMAL)
    bound = answer.binding
    assert (bound.kind, bound.buffers, bound.versions) == ("capacity", (0, 1), (2, 2))
    assert "4000 of 3500 bytes in UB" in bound.reason
    wide = MemoryGroup("UB", 4000, (0, 1))
    assert solve(ScheduleProblem(tasks, edges, (), (), buffers, (wide,), policy)).ii == 50


def test_bounds_of_recorded_loops_hold() -> None:
    kinds = set()
    for row in recorded_loops():
        problem = loop_problem(**row["problem"])
        for bound in solve(problem, objective="ii").bounds:
            if bound.kind != "refuted":
                assert _holds(problem, bound), (row["name"], bound)
            kinds.add(bound.kind)
    assert kinds >= {"interval", "resource", "recurrence", "refuted"}


def test_a_wrong_witness_is_seen() -> None:
    """The verification above can fail: one cycle more than the truth is not proven."""
    for row in recorded_loops()[:12]:
        problem = loop_problem(**row["problem"])
        for bound in solve(problem, objective="ii").bounds:
            if bound.kind != "refuted":
                more = Bound(bound.value + 1, bound.kind, "", *_witness(bound))
                assert not _holds(problem, more)


def _witness(bound: Bound) -> tuple:
    return bound.tasks, bound.buffers, bound.versions


@settings(max_examples=60, deadline=None, derandomize=True)
@given(tiny_loops(most_tasks=4, most_cycles=5))
def test_bounds_of_random_loops_hold_and_refutations_are_confirmed(
    problem: ScheduleProblem,
) -> None:
    answer = solve(problem)
    if answer.verdict is Verdict.INFEASIBLE:
        return
    for bound in answer.bounds:
        if bound.kind != "refuted":
            assert _holds(problem, bound), bound
            continue
        reply = Z3().find(
            Model(problem), bound.value - 1, depth_at_most=None, down_to=None, effort=1
        )
        assert reply.status is Status.REFUTED
