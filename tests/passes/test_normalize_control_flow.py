"""NormalizeControlFlowForSchedule on hand-written TIR."""

from __future__ import annotations

import pytest
import tvm
from tvm import tirx

from tests.passes.tir import (
    call,
    kernel_root,
    loop,
    ours,
    root_of,
    section,
    seq,
    set_flag,
    stock,
    var,
    when,
)

NAME = "NormalizeControlFlowForSchedule"
CELL = tirx.decl_buffer((4,), "int32", name="cell", scope="local.var")
N = var("n")
WORK = set_flag("MTE2_V", 0)


def cell(index: int) -> tirx.PrimExpr:
    return tirx.BufferLoad(CELL, [index])


def both(*body: tirx.Stmt) -> tirx.Stmt:
    """What our pass makes of the body, after checking that the stock one makes the same."""
    function = kernel_root(*body, params=(N, CELL.data))
    after = ours(NAME)(function)
    tvm.ir.assert_structural_equal(after, stock(NAME)(function))
    return root_of(after).body


def test_a_while_becomes_a_loop_that_leaves_itself() -> None:
    after = both(tirx.While(cell(0) < N, WORK))
    condition, leave, work = after.body.seq
    assert int(after.annotations["synthetic_while"]) == 1 and int(after.extent) == 2
    assert str(condition.value) == str(tirx.Not(cell(0) < N))
    assert leave.condition.same_as(condition.var)
    assert leave.then_case.value.op.name == "tl.loop_break"
    assert work.same_as(WORK)


def test_a_while_true_has_no_exit_of_its_own() -> None:
    assert both(tirx.While(tirx.IntImm("bool", 1), WORK)).body.same_as(WORK)


@pytest.mark.parametrize(
    ("stages", "extent"), [((), 2), ((2,), 2), ((3,), 6), ((2, 4), 12), ((6,), 60)]
)
def test_the_stand_in_extent_is_a_multiple_of_all_versions(
    stages: tuple[int, ...], extent: int
) -> None:
    loops = [loop(var("i"), 4, WORK, annotations={"num_stages": s}) for s in stages]
    assert int(both(tirx.While(N > 0, seq(WORK, *loops))).extent) == extent


def test_conditions_are_bound_before_their_branch() -> None:
    bind, branch = both(when(N > 3, WORK)).seq
    assert branch.condition.same_as(bind.var) and str(bind.value) == str(N > 3)


def test_both_branches_stay() -> None:
    _, branch = both(tirx.IfThenElse(N > 3, WORK, set_flag("MTE2_V", 1))).seq
    assert branch.else_case is not None


def test_a_condition_that_is_a_variable_stays() -> None:
    flag = tirx.Var("flag", "bool")
    bind, branch = both(tirx.Bind(flag, N > 3), when(flag, WORK)).seq
    assert bind.var.same_as(flag) and branch.condition.same_as(flag)


def test_bounds_in_memory_are_read_once_before_the_loop() -> None:
    i = var("i")
    inner = tirx.For(i, cell(0), cell(1), tirx.ForKind.SERIAL, WORK, step=cell(2))
    low, high, step, after = both(inner).seq
    assert [str(b.value) for b in (low, high, step)] == ["cell[0]", "cell[1]", "cell[2]"]
    assert after.min.same_as(low.var)
    assert after.extent.same_as(high.var)
    assert after.step.same_as(step.var)


def test_bounds_out_of_memory_stay() -> None:
    assert both(loop(var("i"), N * 2, WORK)).extent.same_as(N) is False
    assert isinstance(both(loop(var("i"), N * 2, WORK)), tirx.For)


@pytest.mark.parametrize("inside", ["block", "parallel loop"])
def test_what_is_one_task_is_left_alone(inside: str) -> None:
    body = seq(tirx.While(cell(0) < N, WORK), when(N > 3, WORK))
    if inside == "block":
        task = section("SIMD_VF", body)
    else:
        zero, four = tirx.IntImm("int32", 0), tirx.IntImm("int32", 4)
        task = tirx.For(var("i"), zero, four, tirx.ForKind.PARALLEL, body)
    assert both(task).same_as(task)


def test_nested_loops_are_normalized_inside_out() -> None:
    inner = tirx.While(cell(0) < N, when(N > 3, WORK))
    outer = both(tirx.While(cell(1) < N, seq(WORK, inner)))
    kinds = [tirx.Bind, tirx.IfThenElse, tirx.Evaluate, tirx.For]
    assert [type(stmt) for stmt in outer.body.seq] == kinds


def test_code_outside_kernels_is_left_alone() -> None:
    function = tirx.PrimFunc([N], when(N > 3, call("loop_break")))
    assert ours(NAME)(function).same_as(function)


def test_source_places_are_kept() -> None:
    span = tvm.ir.Span(tvm.ir.SourceName("kernel.py"), 7, 7, 1, 2)
    leave = tirx.call_intrin("handle", tirx.op.Op.get("tl.loop_break"), span=span)
    function = kernel_root(when(N > 3, tirx.Evaluate(leave)), params=(N,))
    _, branch = root_of(ours(NAME)(function)).body.seq
    assert branch.then_case.value.span.line == 7
