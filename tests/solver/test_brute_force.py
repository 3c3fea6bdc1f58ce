"""Small random problems against trying every schedule there is."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.solver import brute
from tests.solver.problems import tiny_loops, tiny_regions
from tilelang_ascend_sched.solver import ScheduleProblem, Verdict, solve

STAGES = 3  # brute force looks at starts below this many intervals
few = settings(
    max_examples=120,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@few
@given(tiny_loops())
def test_least_ii_then_least_depth(problem: ScheduleProblem) -> None:
    answer = solve(problem)
    most = 7 if len(problem.tasks) < 3 else 5
    truth = brute.least_ii(problem, most, STAGES)
    if truth is None:
        beyond = answer.solved and (answer.ii > most or max(answer.starts) >= STAGES * answer.ii)
        assert beyond or answer.verdict is Verdict.INFEASIBLE
        return
    assert answer.verdict is Verdict.OPTIMAL
    if max(answer.starts) < STAGES * answer.ii:
        assert (answer.ii, answer.depth) == truth
    else:
        assert (answer.ii, answer.depth) <= truth


@few
@given(tiny_loops(), st.lists(st.integers(0, 4), min_size=4, max_size=4))
def test_negative_latencies(problem: ScheduleProblem, less: list[int]) -> None:
    """With these a longer II may be worse, and a search may end without an answer."""
    pairs = zip(problem.edges, less, strict=False)
    edges = tuple(replace(edge, latency=edge.latency - cycles) for edge, cycles in pairs)
    problem = replace(problem, edges=edges)
    answer = solve(problem)
    most = 7 if len(problem.tasks) < 3 else 4
    truth = brute.least_ii(problem, most, STAGES)
    if truth is None:
        assert not answer.solved or answer.ii > most or max(answer.starts) >= STAGES * answer.ii
    else:
        assert answer.verdict is Verdict.OPTIMAL and (answer.ii, answer.depth) <= truth


@few
@given(tiny_loops(), st.integers(1, 5))
def test_least_time_of_the_whole_loop(problem: ScheduleProblem, trips: int) -> None:
    problem = problem.with_trip_count(trips)
    answer = solve(problem)
    most = 7 if len(problem.tasks) < 3 else 4
    least = max(task.interval for task in problem.tasks)
    times = [
        (trips - 1) * ii + brute.depth(problem, starts)
        for ii in range(least, most + 1)
        for starts in brute.schedules(problem, ii, 2 * ii)
    ]
    if not times:
        return
    assert answer.lower_bound <= min(times)
    assert answer.value <= min(times) or answer.verdict is Verdict.FEASIBLE
    assert answer.value == (trips - 1) * answer.ii + answer.depth


@few
@given(tiny_regions())
def test_least_makespan(problem: ScheduleProblem) -> None:
    answer = solve(problem)
    span = 8 if len(problem.tasks) < 4 else 5
    truth = brute.least_makespan(problem, span)
    if truth is None:
        assert answer.verdict is Verdict.INFEASIBLE or max(answer.starts) >= span
        return
    assert answer.verdict is Verdict.OPTIMAL and answer.ii is None
    assert answer.value == truth if max(answer.starts) < span else answer.value <= truth
