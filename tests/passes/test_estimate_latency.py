"""EstimateLatency gives every task the figures that its stock twin gives it."""

from __future__ import annotations

import pytest
import tilelang  # noqa: F401  # brings tvm with it
import tvm

from tests.kernels.small import SMALL
from tests.passes.captured import KERNELS, stages
from tests.passes.tir import ours, stock

PASS = "EstimateLatency"


@pytest.mark.parametrize(
    "name", [pytest.param(k, marks=[] if k in SMALL else [pytest.mark.slow]) for k in KERNELS]
)
def test_costs_of_real_kernels_are_stocks(name: str) -> None:
    before = stages(name)[PASS]
    tvm.ir.assert_structural_equal(ours(PASS)(before), stock(PASS)(before))
