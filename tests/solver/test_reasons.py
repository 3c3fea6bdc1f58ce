"""What cannot be scheduled is told in the user's terms, with nothing that could be left out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.solver.problems import chains
from tilelang_ascend_sched.solver import (
    Buffer,
    Edge,
    MemoryGroup,
    Policy,
    Resource,
    ScheduleProblem,
    Task,
    Verdict,
    solve,
)

TASKS = (
    Task("load", ("MTE2",), 10, 5),
    Task("gemm", ("Cube",), 20, 8),
    Task("store", ("MTE2",), 10, 5),
)


def _reasons(problem: ScheduleProblem) -> tuple[str, ...]:
    answer = solve(problem)
    assert answer.verdict is Verdict.INFEASIBLE and not answer.solved
    assert answer.starts == () and answer.ii is None
    return answer.reasons


def test_a_cycle_of_dependences_in_one_iteration() -> None:
    edges = (Edge(0, 1, 10), Edge(1, 2, 20), Edge(2, 0, 3))
    for kind in ("loop", "region"):
        assert set(_reasons(ScheduleProblem(TASKS, edges, kind=kind))) == {
            "gemm needs load of the same iteration (10 cycles)",
            "store needs gemm of the same iteration (20 cycles)",
            "load needs store of the same iteration (3 cycles)",
        }


def test_the_shortest_of_several_cycles_is_told() -> None:
    edges = (Edge(0, 1, 10), Edge(1, 2, 20), Edge(2, 0, 3), Edge(0, 2, 1))
    assert set(_reasons(ScheduleProblem(TASKS, edges))) == {
        "store needs load of the same iteration (1 cycles)",
        "load needs store of the same iteration (3 cycles)",
    }


def test_a_cycle_without_latency_is_no_contradiction() -> None:
    answer = solve(ScheduleProblem(TASKS, (Edge(0, 1, 0), Edge(1, 0, 0))))
    assert answer.verdict is Verdict.OPTIMAL and answer.starts[0] == answer.starts[1]


def test_versions_asked_that_do_not_fit() -> None:
    problem = replace(
        chains(1),
        buffers=(Buffer("a_l1", 1000, versions=3),),
        memory_groups=(MemoryGroup("L1", 2500, (0,)),),
    )
    assert _reasons(problem) == ("buffer a_l1: 3 versions asked, 2 fit in L1 (2500 bytes)",)
    fits = replace(problem, memory_groups=(MemoryGroup("L1", 3000, (0,)),))
    assert solve(fits).versions == (3,)


def test_a_dependence_against_the_stages_given() -> None:
    policy = Policy(1, True, (2, 0, 0))
    reasons = _reasons(ScheduleProblem(TASKS, (Edge(0, 1, 10),), policy=policy))
    assert "gemm needs load of the same iteration (10 cycles)" in reasons
    assert "T.Stage(2) on load" in reasons and "T.Stage(0) on gemm" in reasons
    assert not any("store" in reason for reason in reasons)


def test_source_order_on_a_pipe_against_the_stages_given() -> None:
    """store is written after load on MTE2, yet its stage and a dependence want it before."""
    policy = Policy(1, True, (1, 0, 1), pipe_order=((0, 2),))
    reasons = _reasons(ScheduleProblem(TASKS, (Edge(2, 0, 1),), policy=policy))
    assert set(reasons) == {
        "load needs store of the same iteration (1 cycles)",
        "T.Stage(1) of store after T.Stage(1) of load on MTE2",
    }


def test_stage_order_against_the_stages_given() -> None:
    policy = Policy(1, True, (2, 0, 0), stage_order=((0, 1),))
    assert _reasons(ScheduleProblem(TASKS, policy=policy)) == (
        "load reads a value that gemm changes: not in a later stage",
    )


def test_contradicting_orders_on_a_shared_pipe_are_cut_to_the_core() -> None:
    policy = Policy(1, True, pipe_order=((0, 2), (2, 0), (0, 1)))
    problem = ScheduleProblem(
        TASKS,
        (Edge(0, 1, 10), Edge(1, 2, 20)),
        (Resource("Cube", (1,)), Resource("MTE2", (0, 2))),
        policy=policy,
    )
    reasons = _reasons(problem)
    assert set(reasons) == {
        "load and store share MTE2",
        "store is issued after load on MTE2",
        "load is issued after store on MTE2",
    }
    for row in range(2):  # without either order there is a schedule
        pairs = policy.pipe_order[:row] + policy.pipe_order[row + 1 :]
        assert solve(replace(problem, policy=replace(policy, pipe_order=pairs))).solved
    assert solve(replace(problem, resources=())).solved


@pytest.mark.parametrize("bad", [{"objective": "beauty"}, {"engine": "abacus"}, {"budget": 0}])
def test_unknown_choices_are_refused(bad: dict) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        solve(chains(1), **bad)
