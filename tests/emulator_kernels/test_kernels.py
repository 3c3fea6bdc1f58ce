"""A choice of the kernels under a few interleavings; ``python -m tests.emulator_kernels`` runs all
of them, lowered both ways, under every one."""

from __future__ import annotations

import pytest

from tests.emulator_kernels import KERNELS
from tests.emulator_kernels.faults import FAULTS, NO_TEXT
from tests.emulator_kernels.run import complaints
from tests.kernels.run import lowered
from tilelang_ascend_sched.emulator import CompileError

CHOICE = (
    "int8_scaled",
    "transposed_float8_e4m3fn",
    "under_unit_flags",
    "scaled_fp8_by_hand",
    "odd_softmax",
    "histogram_in_ub",
    "simd_softmax",
    "long_numbers",
    "attention_36",
    "image_columns",
)
POLICIES = ("eager", "random", "starve:MTE2", "starve:FIX")


@pytest.mark.parametrize("name", CHOICE)
def test_runs_right(name):
    workload = KERNELS[name]
    text = lowered(workload.build, True)
    for seed, policy in enumerate(POLICIES):
        assert complaints(workload, text, policy, seed) == [], policy


@pytest.mark.parametrize("name", list(FAULTS))
def test_what_the_device_gives_no_meaning_is_told(name):
    workload, trace = FAULTS[name]
    told = complaints(workload, lowered(workload.build, False), "eager")
    assert told and told[0].startswith(trace), told
    assert len(told) == 1 or trace.startswith("error"), told


@pytest.mark.parametrize("name", list(NO_TEXT))
def test_text_that_no_compiler_takes_is_named(name):
    workload, message = NO_TEXT[name]
    with pytest.raises(CompileError, match=message):
        complaints(workload, lowered(workload.build, False), "eager")
