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


def _with_memory(capacity: int, *buffers: Buffer) -> ScheduleProblem:
    rows = tuple(range(len(buffers)))
    groups = (MemoryGroup("L1", capacity, rows),)
    policy = Policy(max_versions=5)
    return ScheduleProblem(TASKS[:1], buffers=buffers, memory_groups=groups, policy=policy)


def test_only_the_versions_asked_that_are_too_many_are_told() -> None:
    alone = _with_memory(20, Buffer("a", 10, 5), Buffer("b", 1, 2))
    assert _reasons(alone) == (
        "buffer a: 5 versions asked, 1 fit in L1 (20 bytes) beside the others",
    )
    together = _with_memory(21, Buffer("a", 10, 2), Buffer("b", 1, 2), Buffer("empty", 0, 3))
    assert _reasons(together) == ("buffers a, b: 2 + 2 versions asked need 22 bytes, L1 has 21",)
    for row in range(2):  # with one of the two requests less they fit
        buffers = list(together.buffers)
        buffers[row] = replace(buffers[row], versions=None)
        assert solve(replace(together, buffers=tuple(buffers))).solved


def _refilled(capacity: int, stages: tuple[int, ...], most: int) -> ScheduleProblem:
    """Pairs of tasks, each pair with a buffer of 10 bytes that the second one sets free."""
    count = len(stages) // 2
    tasks = tuple(Task(f"t{t}", (f"P{t}",), 5, 1) for t in range(2 * count))
    edges = [Edge(2 * b, 2 * b + 1, 5) for b in range(count)]
    edges += [Edge(2 * b + 1, 2 * b, 5, buffer=b) for b in range(count)]
    return ScheduleProblem(
        tasks,
        tuple(edges),
        buffers=tuple(Buffer("abc"[b], 10) for b in range(count)),
        memory_groups=(MemoryGroup("L1", capacity, tuple(range(count))),),
        policy=Policy(most, True, stages),
    )


def test_memory_too_small_for_the_versions_of_two_buffers() -> None:
    problem = _refilled(30, (0, 2, 0, 2), 2)
    assert set(_reasons(problem)) == {
        "t0 refills a after t1 has used it",
        "t2 refills b after t3 has used it",
        "buffers a, b: 2 + 2 versions need 40 bytes, L1 has 30",
        "the stages given with T.Stage",
    }
    for row in (2, 3):
        assert solve(replace(problem, edges=problem.edges[:row] + problem.edges[row + 1 :])).solved
    assert solve(_refilled(40, (0, 2, 0, 2), 2)).solved
    assert solve(replace(problem, policy=Policy(2, True))).solved


def test_buffers_beside_the_ones_too_many_are_told_only_if_their_bytes_matter() -> None:
    problem = _refilled(31, (0, 2, 0, 2, 0, 0), 2)
    small = replace(problem, buffers=(*problem.buffers[:2], Buffer("c", 1)))
    assert "buffers a, b: 2 + 2 versions need 40 bytes, L1 has 31" in _reasons(small)
    three = "buffers a, b, c: 2 + 2 + 1 versions need 50 bytes, L1 has 45"
    assert three in _reasons(_refilled(45, (0, 2, 0, 2, 0, 0), 2))


def test_memory_too_small_for_the_versions_of_one_buffer() -> None:
    problem = _refilled(10, (0, 2), 4)
    assert "buffer a: room for 1 version of 10 bytes in L1 (10 bytes)" in _reasons(problem)
    assert solve(replace(problem, memory_groups=())).solved


def test_memory_is_not_blamed_for_what_the_most_versions_forbid() -> None:
    reasons = _reasons(_refilled(10, (0, 3), 2))
    assert "t0 refills a (2 versions) after t1 has used it" in reasons
    assert not any("L1" in reason for reason in reasons)


@pytest.mark.parametrize("kind", ["loop", "region"])
def test_negative_latencies_do_not_hide_what_is_impossible(kind: str) -> None:
    """y follows x by at most one cycle, yet what they share is busy for three."""
    tasks = (Task("x", (), 5, 3), Task("y", (), 5, 3), Task("z", (), 9, 1))
    edges = (Edge(0, 1, 0), Edge(1, 0, -1), Edge(1, 2, 5))
    problem = ScheduleProblem(tasks, edges, (Resource("port", (0, 1)),), kind=kind)
    assert set(_reasons(problem)) == {
        "y needs x of the same iteration (0 cycles)",
        "y starts at most 1 cycles after x",
        "x and y share port",
    }
    looser = replace(problem, edges=(Edge(0, 1, 0), Edge(1, 0, -3), Edge(1, 2, 5)))
    assert solve(looser).solved


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


@pytest.mark.parametrize(
    "bad",
    [
        {"objective": "beauty"},
        {"engine": "abacus"},
        {"budget": 0},
        {"budget": float("inf")},
        {"budget": float("nan")},
        {"seed": -1},
        {"seed": 2**31},
    ],
)
def test_unknown_choices_are_refused(bad: dict) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        solve(chains(1), **bad)


@pytest.mark.parametrize("engine", ["cpsat", "z3"])
def test_the_widest_seed_and_budget_are_taken(engine: str) -> None:
    assert solve(chains(1), engine=engine, seed=2**31 - 1, budget=1e6).verdict is Verdict.OPTIMAL
