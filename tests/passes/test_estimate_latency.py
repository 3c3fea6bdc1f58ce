"""EstimateLatency gives every task the figures that its stock twin gives it."""

from __future__ import annotations

from typing import Any

import pytest
import tilelang  # noqa: F401  # brings tvm with it
import tvm
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from tvm import tirx

from tests.passes.captured import KERNELS, early_stages
from tests.passes.cost_tir import (
    copies,
    instructions,
    mode_programs,
    multiplies,
    per_core_bodies,
    task,
    vector_blocks,
    work,
)
from tests.passes.tir import kernel_root, loop, ours, stock

PASS = "EstimateLatency"


@pytest.mark.parametrize("name", KERNELS)
def test_costs_of_real_kernels_are_stocks(name: str) -> None:
    before = early_stages(name)[PASS]
    tvm.ir.assert_structural_equal(ours(PASS)(before), stock(PASS)(before))


@pytest.mark.parametrize(("latency", "ii"), [(900, None), (None, 2), (900, 17), (64, 64)])
@pytest.mark.parametrize("name", ["copy", "task"])
def test_costs_that_a_real_kernel_gives_itself_are_stocks(
    name: str, latency: int | None, ii: int | None
) -> None:
    given = {"latency": latency, "ii": ii}
    marks = {key: tirx.IntImm("int64", n) for key, n in given.items() if n is not None}

    def override(node: Any) -> Any:
        if isinstance(node, tirx.AttrStmt) and node.attr_key == "tl.ascend_task":
            return tirx.AttrStmt(marks, node.attr_key, node.value, node.body)
        return None

    before = early_stages(name)[PASS]
    functions = {
        var: function.with_body(
            tirx.stmt_functor.ir_transform(function.body, None, override, ["tirx.AttrStmt"])
        )
        for var, function in before.functions.items()
    }
    changed = tvm.IRModule(functions)
    assert not tvm.ir.structural_equal(changed, before)
    tvm.ir.assert_structural_equal(ours(PASS)(changed), stock(PASS)(changed))


def outcome(run: Any, function: tirx.PrimFunc) -> Any:
    """What a pass makes of a function: the new one, or that it is refused."""
    try:
        return run(PASS)(function)
    except tvm.error.InternalError:
        return None


def check_like_stock(function: tirx.PrimFunc) -> None:
    expected = outcome(stock, function)
    actual = outcome(ours, function)
    event("refused" if expected is None else "estimated")
    if expected is None or actual is None:
        assert actual is expected, function.script()
    else:
        tvm.ir.assert_structural_equal(actual, expected)


INDEX = tirx.Var("i", "int32")
BOUND = tirx.Var("n", "int32")
random = settings(
    max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)


def in_loop(body: tirx.Stmt) -> tirx.PrimFunc:
    """A kernel with one task in a loop of 12 whose data has at most 1000 rows."""
    bounded = tirx.AttrStmt(BOUND <= 1000, "tl.assume", tirx.IntImm("int32", 1), task(body))
    return kernel_root(loop(INDEX, 12, bounded), params=(BOUND,))


@random
@given(copies(INDEX, BOUND))
def test_copies(body: tirx.Stmt) -> None:
    check_like_stock(in_loop(body))
    check_like_stock(kernel_root(task(body), params=(INDEX, BOUND)))


@random
@given(multiplies(INDEX, BOUND))
def test_multiplies(body: tirx.Stmt) -> None:
    check_like_stock(in_loop(body))


@random
@given(vector_blocks(INDEX, BOUND))
def test_vector_bodies(body: tirx.Stmt) -> None:
    check_like_stock(in_loop(body))


@random
@given(instructions(INDEX, BOUND))
def test_instructions_and_scalar_work(body: tirx.Stmt) -> None:
    check_like_stock(in_loop(body))


@random
@given(work(INDEX, BOUND))
def test_nested_work(body: tirx.Stmt) -> None:
    check_like_stock(in_loop(body))


@random
@given(st.data())
def test_hf32_mode(data: st.DataObject) -> None:
    guards = [tirx.Var("c", "bool"), tirx.Var("d", "bool")]
    body = data.draw(mode_programs(guards))
    check_like_stock(kernel_root(*body, params=tuple(guards)))


@random
@given(per_core_bodies(INDEX))
def test_per_core_tasks(body: tirx.Stmt) -> None:
    per_core = task(body, key="tl.ascend_per_core_task")
    check_like_stock(kernel_root(loop(INDEX, 7, per_core)))
