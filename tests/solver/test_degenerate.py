"""Problems at the edges of what can be asked."""

from __future__ import annotations

import pytest

from tilelang_ascend_sched.solver import (
    Buffer,
    Edge,
    MemoryGroup,
    OwnerExclusion,
    Policy,
    Resource,
    ScheduleProblem,
    Task,
    Verdict,
    solve,
)
from tilelang_ascend_sched.solver.solver import granted_versions


def _optimal(problem: ScheduleProblem) -> tuple:
    answer = solve(problem)
    assert answer.verdict is Verdict.OPTIMAL
    return answer.ii, answer.depth, answer.starts


@pytest.mark.parametrize("kind", ["loop", "region"])
def test_one_task(kind: str) -> None:
    one = ScheduleProblem((Task("a", (), 0, 1),), kind=kind)
    assert _optimal(one) == (1 if kind == "loop" else None, 0, (0,))
    resource = (Resource("r", (0,)), Resource("none", ()))
    busy = ScheduleProblem((Task("a", ("P",), 7, 4),), resources=resource, kind=kind)
    assert _optimal(busy) == (4 if kind == "loop" else None, 7, (0,))


def test_a_task_that_waits_for_itself() -> None:
    task = (Task("a", (), 10, 1),)
    assert _optimal(ScheduleProblem(task, (Edge(0, 0, 10, 3), Edge(0, 0, 7, 2))))[0] == 4
    never = solve(ScheduleProblem(task, (Edge(0, 0, 1, 0),)))
    assert never.verdict is Verdict.INFEASIBLE
    assert never.reasons == ("a needs a of the same iteration (1 cycles)",)


def test_repeated_rows_change_nothing() -> None:
    tasks = (Task("a", ("P",), 5, 3), Task("b", ("P",), 5, 4))
    edges, resources = (Edge(0, 1, 5), Edge(1, 0, 5, 2)), (Resource("P", (0, 1)),)
    exclusions = (OwnerExclusion(0, 1, 4, 2),)
    once = ScheduleProblem(tasks, edges, resources, exclusions)
    more = ScheduleProblem(tasks, edges * 3, resources * 2, exclusions * 2)
    assert _optimal(once) == _optimal(more)


def test_costs_at_the_end_of_64_bits() -> None:
    task = (Task("a", ("P",), 2**62, 2**61),)
    assert _optimal(ScheduleProblem(task)) == (2**61, 2**62, (0,))
    region = ScheduleProblem(task, kind="region")
    assert _optimal(region) == (None, 2**62, (0,))
    answer = solve(ScheduleProblem(task, trip_count=2**40))
    assert answer.value == (2**40 - 1) * 2**61 + 2**62


def test_more_versions_than_anyone_can_use() -> None:
    tasks = (Task("a", ("P",), 1000, 1), Task("b", ("Q",), 1000, 1))
    edges = (Edge(0, 1, 1000), Edge(1, 0, 1000, buffer=0))
    for capacity, ii in ((2**40, 1), (500, 4)):
        problem = ScheduleProblem(
            tasks,
            edges,
            buffers=(Buffer("x", 1), Buffer("empty", 0)),
            memory_groups=(MemoryGroup("UB", capacity, (0, 1)),),
            policy=Policy(max_versions=2**40),
        )
        answer = solve(problem)
        assert answer.ii == ii and answer.verdict is Verdict.OPTIMAL
        assert answer.versions == (2000 // ii, 1)
        granted = granted_versions(problem, answer)
        assert granted[0] >= answer.versions[0] and granted[1] == 2**40


def test_gaps_of_zero_between_owners() -> None:
    """Owners with no gap one way may issue together, however many such rows there are."""
    tasks = (Task("a", (), 1, 1), Task("b", (), 1, 1))
    rows = (OwnerExclusion(0, 1, 0, 1), OwnerExclusion(0, 1, 1, 0), OwnerExclusion(0, 1, 0, 0))
    ii, depth, starts = _optimal(ScheduleProblem(tasks, exclusions=rows))
    assert (ii, depth, starts) == (1, 1, (0, 0))


def test_all_tasks_on_one_resource() -> None:
    tasks = tuple(Task(f"t{i}", ("P",), 9, 1 + i % 3) for i in range(30))
    problem = ScheduleProblem(tasks, resources=(Resource("P", tuple(range(30))),))
    ii, _, _ = _optimal(problem)
    assert ii == sum(task.interval for task in tasks)


def test_one_trip_cares_for_depth_alone() -> None:
    """Short intervals need the load late; a loop of one trip does not."""
    tasks = (
        Task("load", ("P",), 20, 10),
        Task("work", ("Q",), 5, 25),
        Task("store", ("R",), 9, 10),
    )
    edges = (Edge(0, 1, 20), Edge(1, 2, 5))
    resource = (Resource("port", (0, 2)),)
    problem = ScheduleProblem(tasks, edges, resource)
    many = solve(problem.with_trip_count(1000))
    once = solve(problem.with_trip_count(1))
    assert many.ii == 25 and once.depth == 34 == once.value
    assert many.verdict is once.verdict is Verdict.OPTIMAL
