"""Our passes beside their stock twins on the IR of real kernels."""

from __future__ import annotations

from collections import Counter

import pytest
import tvm

from tests.kernels.small import SMALL
from tests.passes.captured import KERNELS, early_stages, stages
from tests.passes.tir import ours, stock, sync_calls

# 24 chains need 24 flags of three events each, 48 more than there are flags, and 32 locks are had.
REFUSED = ("streams_24",)
# Some flags become locks; which ones and which locks is each pass's own choice.
SPILLING = ("many_flags", "streams_16")

SLOW = {name: [pytest.mark.slow] for name in KERNELS if name not in SMALL}


def kernels(*without: str) -> list:
    names = [name for name in KERNELS if name not in without]
    return [pytest.param(name, marks=SLOW.get(name, [])) for name in names]


@pytest.mark.parametrize("kernel", KERNELS)
def test_control_flow_becomes_the_same(kernel: str) -> None:
    before = early_stages(kernel)["NormalizeControlFlowForSchedule"]
    after = ours("NormalizeControlFlowForSchedule")(before)
    tvm.ir.assert_structural_equal(after, stock("NormalizeControlFlowForSchedule")(before))


# The hint of permuted_rows names a region that clamping cuts short; the stock pass loses it.
@pytest.mark.parametrize("kernel", [name for name in KERNELS if name != "permuted_rows"])
def test_hints_become_the_same(kernel: str) -> None:
    before = early_stages(kernel)["NormalizeConflictHints"]
    after = ours("NormalizeConflictHints")(before)
    tvm.ir.assert_structural_equal(after, stock("NormalizeConflictHints")(before))


@pytest.mark.parametrize("kernel", KERNELS)
def test_units_become_the_same(kernel: str) -> None:
    before = early_stages(kernel)["MaterializeScheduleUnits"]
    after = ours("MaterializeScheduleUnits")(before)
    tvm.ir.assert_structural_equal(after, stock("MaterializeScheduleUnits")(before))


@pytest.mark.parametrize("kernel", kernels(*REFUSED))
def test_while_loops_are_restored_the_same(kernel: str) -> None:
    before = stages(kernel)["RestoreWhileLoops"]
    after = ours("RestoreWhileLoops")(before)
    tvm.ir.assert_structural_equal(after, stock("RestoreWhileLoops")(before))


@pytest.mark.parametrize("kernel", kernels(*REFUSED, *SPILLING))
def test_flags_that_fit_are_numbered_the_same(kernel: str) -> None:
    before = stages(kernel)["RewriteFlagToBuf"]
    after = ours("RewriteFlagToBuf")(before)
    tvm.ir.assert_structural_equal(after, stock("RewriteFlagToBuf")(before))


@pytest.mark.parametrize("kernel", [pytest.param(k, marks=SLOW.get(k, [])) for k in SPILLING])
def test_as_many_flags_stay_and_as_many_locks_are_taken(kernel: str) -> None:
    before = stages(kernel)["RewriteFlagToBuf"]
    results = []
    for run in (ours, stock):
        functions = run("RewriteFlagToBuf")(before).functions.values()
        calls = [c for function in functions for c in sync_calls(function)]
        results.append(Counter((kind, name) for kind, name, _ in calls))
    assert results[0] == results[1]


@pytest.mark.slow
@pytest.mark.parametrize("kernel", REFUSED)
def test_what_stock_refuses_is_refused_with_the_loop_named(kernel: str) -> None:
    before = stages(kernel)["RewriteFlagToBuf"]
    with pytest.raises(tvm.error.InternalError, match="exceed"):
        stock("RewriteFlagToBuf")(before)
    with pytest.raises(tvm.error.InternalError, match=r"(?s)need 48 lock ids.*loop `i`"):
        ours("RewriteFlagToBuf")(before)
