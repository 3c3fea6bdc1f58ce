"""Our passes beside their stock twins on the IR of real kernels."""

from __future__ import annotations

from collections import Counter

import pytest
import tvm

from examples import WORKLOADS
from tests.passes.captured import QUICK, stages
from tests.passes.tir import ours, stock, sync_calls

# 24 chains need 24 flags of three events each, 48 more than there are flags, and 32 locks are had.
REFUSED = ("streams_24",)
SPILLING = ("streams_16",)

LOWERED = [
    pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow)
    for name in WORKLOADS
    if name not in REFUSED and name not in SPILLING
]


@pytest.mark.parametrize("workload", LOWERED)
@pytest.mark.parametrize("name", ["RestoreWhileLoops", "RewriteFlagToBuf"])
def test_the_result_is_the_same(name: str, workload: str) -> None:
    before = stages(workload)[name]
    tvm.ir.assert_structural_equal(ours(name)(before), stock(name)(before))


@pytest.mark.slow
@pytest.mark.parametrize("workload", SPILLING)
def test_as_many_flags_stay_and_as_many_locks_are_taken(workload: str) -> None:
    before = stages(workload)["RewriteFlagToBuf"]
    results = []
    for run in (ours, stock):
        after = run("RewriteFlagToBuf")(before)
        calls = [c for function in after.functions.values() for c in sync_calls(function)]
        locks = {index for kind, _, index in calls if kind == "lock"}
        results.append((Counter((kind, name) for kind, name, _ in calls), locks))
    assert results[0] == results[1]


@pytest.mark.slow
@pytest.mark.parametrize("workload", REFUSED)
def test_what_stock_refuses_is_refused_with_the_loop_named(workload: str) -> None:
    before = stages(workload)["RewriteFlagToBuf"]
    with pytest.raises(tvm.error.InternalError, match="exceed"):
        stock("RewriteFlagToBuf")(before)
    with pytest.raises(tvm.error.InternalError, match=r"(?s)need 48 lock ids.*loop `i`"):
        ours("RewriteFlagToBuf")(before)
