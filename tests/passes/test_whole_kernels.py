"""Whole kernels lowered with all our passes between stock ones.

The AscendC is the same to the byte, but where stock is wrong or another choice was as good; there
it runs right.
"""

from __future__ import annotations

import numpy as np
import pytest
import tvm

from tests.kernels.small import SMALL
from tests.passes.captured import KERNELS, lowered
from tests.passes.locked_copy import locked_copy
from tilelang_ascend_sched.emulator import emulate

OURS = (
    "NormalizeControlFlowForSchedule",
    "NormalizeConflictHints",
    "MaterializeScheduleUnits",
    "RestoreWhileLoops",
    "RewriteFlagToBuf",
)

# A hint that stock loses; flags of which another choice become locks.
DIFFERENT = ("permuted_rows", "many_flags")
REFUSED = ("streams_24",)

POLICIES = ("eager", "lazy", "random", "starve:MTE2", "starve:MTE3", "starve:V")

Arrays = dict[str, np.ndarray]


def kernels() -> list:
    left_out = (*DIFFERENT, *REFUSED, "streams_8", "streams_16")
    return [
        pytest.param(name, marks=[] if name in SMALL else [pytest.mark.slow])
        for name in KERNELS
        if name not in left_out
    ]


@pytest.mark.parametrize("name", kernels())
def test_the_text_is_that_of_the_stock_chain(name: str) -> None:
    function = KERNELS[name].build()
    assert lowered(function, *OURS) == lowered(function)


def run_everywhere(function: tvm.tirx.PrimFunc, inputs: Arrays, expected: Arrays) -> None:
    source = lowered(function, *OURS)
    for policy in POLICIES:
        arrays = {name: array.copy() for name, array in inputs.items()}
        arrays |= {name: np.zeros_like(array) for name, array in expected.items()}
        result = emulate(source, policy=policy, blocks=1, arguments=arrays)
        assert result.ok, (policy, result.findings)
        for name, array in expected.items():
            np.testing.assert_array_equal(arrays[name], array, err_msg=policy)


@pytest.mark.parametrize("name", DIFFERENT)
def test_kernels_that_come_out_different_run_right(name: str) -> None:
    kernel = KERNELS[name]
    inputs = kernel.inputs(np.random.default_rng(0))
    run_everywhere(kernel.build(), inputs, kernel.reference(**inputs))


def test_a_kernel_with_locks_of_its_own_runs_right() -> None:
    rows = np.random.default_rng(0).standard_normal((8, 64), np.float32)
    run_everywhere(locked_copy(), {"X": rows}, {"Y": rows + 1})
