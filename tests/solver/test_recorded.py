"""Loops of real kernels: optimal, checked, and never worse than TileLang's own answers."""

from __future__ import annotations

import json

import pytest

from benchmarks.solver.workload import permuted
from tests.solver.problems import DATA, chains, recorded, recorded_loops
from tilelang_ascend_sched.solver import ScheduleProblem, Verdict, solve, violations
from tilelang_ascend_sched.solver.stock import loop_problem

TRIPS = (1, 2, 4, 16, 256)
ROWS = recorded_loops()


def _depth(problem: ScheduleProblem, starts: list[int]) -> int:
    ends = (s + task.latency for s, task in zip(starts, problem.tasks, strict=True))
    return max(ends) - min(starts)


def test_nearly_all_are_proven_optimal_and_none_is_above_stock() -> None:
    proven = 0
    for row in ROWS:
        problem = loop_problem(**row["problem"], name=row["name"])
        answer = solve(problem, objective="ii")
        assert violations(problem, answer.starts, answer.ii, answer.versions) == []
        assert answer.ii <= row["stock"]["ii"], row["name"]
        assert answer.ii >= answer.lower_bound >= row["lower_bound"], row["name"]
        proven += answer.verdict is Verdict.OPTIMAL
    assert proven >= 0.95 * len(ROWS)


@pytest.mark.parametrize("trips", TRIPS)
def test_the_whole_loop_never_takes_longer_than_with_stock(trips: int) -> None:
    for row in ROWS:
        problem = loop_problem(**row["problem"], name=row["name"]).with_trip_count(trips)
        answer = solve(problem)
        stock = row["stock"]
        theirs = (trips - 1) * stock["ii"] + _depth(problem, stock["starts"])
        assert answer.value <= theirs, row["name"]
        assert answer.loop_time(trips) == answer.value >= answer.lower_bound


def test_problems_of_the_examples_are_solved_to_the_end() -> None:
    for row in json.loads((DATA / "examples.json").read_text()):
        problem = ScheduleProblem.from_json(json.dumps(row))
        answer = solve(problem)
        assert answer.verdict is Verdict.OPTIMAL, row["name"]
        assert violations(problem, answer.starts, answer.ii, answer.versions) == []


def test_numbering_tasks_otherwise_changes_no_figure() -> None:
    for row in ROWS[::2]:
        answer = solve(loop_problem(**row["problem"]))
        _, rows = permuted(row["name"], row["problem"], seed=3)
        other = solve(loop_problem(**rows))
        assert (answer.ii, answer.depth) == (other.ii, other.depth), row["name"]


def test_stock_answers_pass_the_checker() -> None:
    """The checker reads the rows as TileLang's solver does: it accepts all of its answers."""
    for row in ROWS:
        problem, stock = loop_problem(**row["problem"]), row["stock"]
        broken = violations(problem, tuple(stock["starts"]), stock["ii"], tuple(stock["versions"]))
        assert broken == [], row["name"]


@pytest.mark.parametrize("count", range(1, 17))
def test_chains_up_to_sixteen_are_proven_optimal(count: int) -> None:
    answer = solve(chains(count), objective="ii")
    assert answer.verdict is Verdict.OPTIMAL
    assert answer.ii >= max(39 * count, 158)


def test_chains_of_facts() -> None:
    figures = {"chains4#0": 162, "chains16#0": 624}
    for name, ii in figures.items():
        answer = solve(recorded(name))
        assert (answer.ii, answer.verdict) == (ii, Verdict.OPTIMAL)


def test_a_hundred_and_twenty_eight_chains_are_within_two_percent() -> None:
    answer = solve(chains(128), objective="ii")
    assert len(answer.starts) == 384
    assert answer.ii <= 1.02 * max(answer.lower_bound, 39 * 128)
