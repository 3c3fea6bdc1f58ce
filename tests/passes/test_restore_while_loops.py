"""RestoreWhileLoops on hand-written TIR."""

from __future__ import annotations

import pytest
import tvm
from tvm import tirx

from tests.passes.tir import call, kernel, loop, ours, seq, set_flag, stock, var, wait_flag, when

NAME = "RestoreWhileLoops"
TAG = {"synthetic_while": 1}


def leave_when(condition: tirx.PrimExpr) -> tirx.Stmt:
    return when(condition, call("loop_break"))


def loops(function: tirx.PrimFunc, kind: type) -> list:
    found = []
    tirx.stmt_functor.post_order_visit(
        function.body, lambda node: found.append(node) if isinstance(node, kind) else None
    )
    return found


@pytest.mark.parametrize("run", [ours, stock])
def test_a_loop_whose_variable_is_unused_becomes_while_true(run) -> None:
    n = var("n")
    body = [leave_when(n > 3), set_flag("MTE2_V", 0), wait_flag("MTE2_V", 0)]
    after = run(NAME)(kernel(loop(var("w"), 2, *body, annotations=TAG), params=(n,)))
    expected = kernel(tirx.While(tirx.IntImm("bool", 1), seq(*body)), params=(n,))
    tvm.ir.assert_structural_equal(after, expected, map_free_vars=True)


def test_other_loops_are_left_alone() -> None:
    i = var("i")
    function = kernel(loop(i, 2, set_flag("MTE2_V", i), annotations={"num_stages": 2}))
    assert ours(NAME)(function).same_as(function)


@pytest.mark.parametrize("run", [ours, stock])
def test_a_variable_that_cancels_needs_no_counter(run) -> None:
    w, k = var("w"), var("k")
    turn = loop(k, 4, set_flag("MTE2_V", (w * 4 + k) % 2))
    [forever] = loops(run(NAME)(kernel(loop(w, 2, turn, annotations=TAG))), tirx.While)
    tvm.ir.assert_structural_equal(
        forever.body, loop(k, 4, set_flag("MTE2_V", k % 2)), map_free_vars=True
    )


def test_a_variable_that_stays_counts_and_is_not_held_to_the_stand_in_extent() -> None:
    w = var("w")
    [forever] = loops(
        ours(NAME)(kernel(loop(w, 2, set_flag("MTE2_V", w % 3), annotations=TAG))), tirx.While
    )
    count, use = forever.body.seq
    assert isinstance(count, tirx.BufferStore)
    assert "w_counter[0] % 3" in str(use)


def simulate(function: tirx.PrimFunc, trips: int, skip: int) -> list[int]:
    """The ids that ``trips`` iterations set, the one numbered ``skip`` ending in a ``continue``."""
    *setup, forever = function.body.seq
    cells: dict[str, int] = {}

    def value(expr: tirx.PrimExpr) -> int:
        if isinstance(expr, tirx.IntImm):
            return int(expr.value)
        if isinstance(expr, tirx.BufferLoad):
            return cells[expr.buffer.name]
        combine = {tirx.Add: int.__add__, tirx.FloorMod: int.__mod__}[type(expr)]
        return combine(value(expr.a), value(expr.b))

    seen: list[int] = []

    def run(stmt: tirx.Stmt, trip: int) -> bool:
        """False if the iteration ended early."""
        if isinstance(stmt, tirx.SeqStmt):
            return all(run(child, trip) for child in stmt.seq)
        if isinstance(stmt, tirx.BufferStore):
            cells[stmt.buffer.name] = value(stmt.value)
        elif isinstance(stmt, tirx.Evaluate):
            if stmt.value.op.name == "tirx.continue_loop":
                return trip != skip
            seen.append(value(stmt.value.args[1]))
        return True

    for stmt in setup:
        run(stmt, -1)
    for trip in range(trips):
        run(forever.body, trip)
    return seen


def test_the_counter_grows_by_one_in_every_iteration_even_past_a_continue() -> None:
    w = var("w")
    skip = tirx.Evaluate(tirx.call_intrin("void", "tirx.continue_loop"))
    function = kernel(
        loop(w, 2, set_flag("MTE2_V", w % 3), skip, wait_flag("MTE2_V", w % 3), annotations=TAG)
    )
    # Iteration 1 stops after its set; what counts is that iteration 2 goes on to id 2.
    assert simulate(ours(NAME)(function), trips=4, skip=1) == [0, 0, 1, 2, 2, 0, 0]


def test_nested_while_loops_are_restored_each_with_its_counter() -> None:
    outer, inner = var("outer"), var("inner")
    body = loop(inner, 2, set_flag("MTE2_V", inner % 2 + outer % 3), annotations=TAG)
    after = ours(NAME)(kernel(loop(outer, 2, body, annotations=TAG)))
    assert len(loops(after, tirx.While)) == 2 and not loops(after, tirx.For)
    assert sorted(a.buffer.name for a in loops(after, tirx.AllocBuffer)) == [
        "inner_counter",
        "outer_counter",
    ]


def test_an_enclosing_loop_is_kept_and_restarts_the_counter() -> None:
    w, i = var("w"), var("i")
    inside = loop(w, 2, set_flag("MTE2_V", w % 3), annotations=TAG)
    after = ours(NAME)(kernel(loop(i, 5, inside)))
    [kept] = loops(after, tirx.For)
    assert [type(stmt) for stmt in kept.body.seq] == [
        tirx.AllocBuffer,
        tirx.BufferStore,
        tirx.While,
    ]
