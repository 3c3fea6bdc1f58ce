"""The exact engines agree, and say unknown when they do not know."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.solver.problems import DATA, chains, recorded, tiny_loops
from tilelang_ascend_sched.solver import (
    Edge,
    Policy,
    Resource,
    ScheduleProblem,
    Task,
    Verdict,
    branch,
    solve,
    violations,
)
from tilelang_ascend_sched.solver.branch import BranchAndBound
from tilelang_ascend_sched.solver.cpsat import CpSat
from tilelang_ascend_sched.solver.engine import Engine, Status
from tilelang_ascend_sched.solver.model import Model
from tilelang_ascend_sched.solver.smt import Z3

ENGINES: list[Engine] = [BranchAndBound(), CpSat(), Z3()]


def _reply(engine: Engine, model: Model, ii: int) -> tuple[Status, int | None]:
    reply = engine.find(model, ii, depth_at_most=None, down_to=0, effort=2)
    assert reply.status is not Status.FOUND or reply.proven
    return reply.status, model.depth(reply.starts) if reply.starts else None


@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(tiny_loops(most_tasks=4, most_cycles=6))
def test_three_engines_agree_on_every_ii(problem: ScheduleProblem) -> None:
    model = Model(problem)
    for ii in range(1, 9):
        replies = [_reply(engine, model, ii) for engine in ENGINES]
        assert replies[0] == replies[1] == replies[2]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(tiny_loops(most_tasks=6, most_cycles=12))
def test_branch_and_cpsat_find_the_same_optimum(problem: ScheduleProblem) -> None:
    ours, theirs = (solve(problem, engine=engine) for engine in ("branch", "cpsat"))
    assert (ours.verdict, ours.ii) == (theirs.verdict, theirs.ii)
    if ours.depth_proven and theirs.depth_proven:
        assert ours.depth == theirs.depth


@pytest.mark.parametrize("name", ["compress_store_noape_128#0", "chains2#0", "dg_mnk_fp8_tn#2"])
def test_optimum_of_recorded_loops_is_confirmed_by_cpsat_and_z3(name: str) -> None:
    model = Model(recorded(name))
    ii = solve(model.problem).ii
    for engine in (CpSat(), Z3()):
        question = {"depth_at_most": None, "down_to": None, "effort": 4}
        assert engine.find(model, ii, **question).status is Status.FOUND
        assert engine.find(model, ii - 1, **question).status is Status.REFUTED


@pytest.mark.parametrize("engine", [BranchAndBound(), CpSat(), Z3()], ids=lambda e: e.name)
def test_out_of_effort_is_unknown_never_infeasible(engine: Engine) -> None:
    model = Model(chains(14))
    reply = engine.find(model, 546, depth_at_most=None, down_to=None, effort=1e-6)
    assert reply.status is Status.UNKNOWN


def test_no_budget_leaves_a_gap_and_says_so() -> None:
    answer = solve(recorded("chains4#0"), engine="heuristic")
    assert answer.verdict is Verdict.FEASIBLE
    assert answer.ii > answer.lower_bound and answer.gap > 0


def test_costs_beyond_cpsat_are_solved_all_the_same() -> None:
    """Intervals near 2**60: differences no longer fit 64 bits, the engine counts on regardless."""
    big = 2**58
    tasks = (Task("a", ("P",), big, big), Task("b", ("Q",), big + 1, 3), Task("c", ("P",), 5, 7))
    edges = (Edge(0, 1, big), Edge(1, 2, big + 1), Edge(2, 0, 1, 1))
    problem = ScheduleProblem(tasks, edges, policy=Policy(allow_offset=True))
    for engine in ("auto", "branch", "z3"):
        answer = solve(problem, engine=engine)
        assert answer.verdict is Verdict.OPTIMAL and answer.ii == 2 * big + 2
    model = Model(problem)
    reply = BranchAndBound().find(model, 2 * big + 1, depth_at_most=None, down_to=None, effort=1)
    assert reply.status is Status.REFUTED


def test_negative_latencies_are_searched_ii_by_ii() -> None:
    """Two tasks exactly 5 apart on a pipe that each holds for 2: they collide modulo 4, 5 and 6."""
    tasks = (Task("a", ("P",), 1, 2), Task("b", ("P",), 1, 2))
    problem = ScheduleProblem(
        tasks,
        (Edge(0, 1, 5), Edge(1, 0, -5)),
        (Resource("P", (0, 1)),),
        policy=Policy(allow_offset=True),
    )
    answer = solve(problem)
    assert answer.verdict is Verdict.OPTIMAL
    assert answer.ii == 7


def test_the_default_budget_counts_the_bounds_that_move(monkeypatch: pytest.MonkeyPatch) -> None:
    """Orders between phases move many bounds a round: few rounds must be as much as is allowed."""
    moved = 0
    insert = branch._State.insert

    def counted(state: branch._State, u: int, v: int, weight: int) -> bool:
        nonlocal moved
        moved += 1
        return insert(state, u, v, weight)

    monkeypatch.setattr(branch._State, "insert", counted)
    problem = ScheduleProblem.from_json((DATA / "crowded_phases.json").read_text())
    answer = solve(problem)
    assert violations(problem, answer.starts, answer.ii, answer.versions) == []
    assert 0 < moved < 50_000
