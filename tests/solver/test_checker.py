"""The checker against z3 on the same numbers, and on schedules broken on purpose."""

from __future__ import annotations

from dataclasses import replace

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.solver.problems import chains, recorded, tiny_loops
from tilelang_ascend_sched.solver import (
    CheckError,
    OwnerExclusion,
    Policy,
    ScheduleProblem,
    solve,
    violations,
)
from tilelang_ascend_sched.solver.checker import verify
from tilelang_ascend_sched.solver.model import Model
from tilelang_ascend_sched.solver.smt import encode


@settings(max_examples=300, deadline=None, derandomize=True)
@given(tiny_loops(), st.lists(st.integers(0, 9), min_size=3, max_size=3), st.integers(2, 6))
def test_checker_and_constraints_accept_the_same_starts(
    problem: ScheduleProblem, starts: list[int], ii: int
) -> None:
    starts = starts[: len(problem.tasks)]
    model = Model(problem)
    counts = tuple(model.needed_versions(starts, ii))
    accepted = violations(problem, tuple(starts), ii, counts) == []
    solver = z3.Solver(ctx=z3.Context())
    for variable, start in zip(encode(solver, model, ii), starts, strict=True):
        solver.add(variable == start)
    fits = max(task.interval for task in problem.tasks) <= ii
    assert accepted == (fits and solver.check() == z3.sat)


def _broken(problem: ScheduleProblem, **change: object) -> list[str]:
    answer = solve(problem)
    fields = {"starts": answer.starts, "ii": answer.ii, "versions": answer.versions} | change
    return violations(problem, **fields)


def test_each_kind_of_break_is_named() -> None:
    problem = chains(2)
    starts = solve(problem).starts
    early = list(starts)
    early[2] = early[1]
    assert any(
        "starts" in line and "before" in line for line in _broken(problem, starts=tuple(early))
    )
    assert any("overlap modulo" in line for line in _broken(problem, starts=(starts[0],) * 6))
    assert any("allowed 1 to 2" in line for line in _broken(problem, versions=(3, 1)))
    assert any("issues for 21 cycles" in line for line in _broken(problem, ii=20))
    assert any("expected" in line for line in _broken(problem, starts=starts[1:]))
    assert any("at least 0" in line for line in _broken(problem, starts=(-1, *starts[1:])))
    assert any("not positive" in line for line in _broken(problem, ii=0))
    far = (starts[0] + 10 * 161, *starts[1:])
    assert any("spread over" in line for line in _broken(problem, starts=far))


def test_breaks_of_policy_and_owners_are_named() -> None:
    problem = recorded("manual_schedule_vecadd#0")
    answer = solve(problem)
    late = list(answer.starts)
    late[3] += answer.ii
    assert any("in stage" in line for line in _broken(problem, starts=tuple(late)))
    order = replace(problem, policy=replace(problem.policy, pipe_order=((5, 0),)))
    assert any("issues before" in line for line in violations(order, *_parts(answer)))
    owners = replace(
        chains(1), exclusions=(OwnerExclusion(0, 1, 150, 20),), policy=Policy(2, False)
    )
    assert any("own one storage" in line for line in violations(owners, (0, 111, 123), 161, (2,)))
    stage = replace(chains(1), policy=Policy(2, True, stage_order=((2, 0),)))
    assert any("later stage" in line for line in violations(stage, (0, 111, 170), 161, (2,)))


def _parts(answer) -> tuple:
    return answer.starts, answer.ii, answer.versions


def test_moving_any_task_of_a_tight_schedule_is_seen() -> None:
    """Eight chains fill their port to the last cycle: no task of it can move at all."""
    problem = chains(8)
    answer = solve(problem)
    assert answer.ii == 8 * 39
    for task in range(len(problem.tasks)):
        if task % 3 == 1:
            continue
        for step in (-1, 1):
            moved = list(answer.starts)
            moved[task] += step
            if moved[task] >= 0:
                assert violations(problem, tuple(moved), answer.ii, answer.versions)


def test_verify_raises_with_the_first_break() -> None:
    problem = chains(2)
    with pytest.raises(CheckError, match="schedule breaks its problem"):
        verify(problem, (0,) * 6, 161, (2, 2))


def test_memory_is_counted_per_group() -> None:
    problem = recorded("fa_fwd_lse_auto#0")
    answer = solve(problem)
    greedy = tuple(3 for _ in problem.buffers)
    lines = violations(problem, answer.starts, answer.ii, greedy)
    assert any("bytes used of 65536" in line for line in lines)
