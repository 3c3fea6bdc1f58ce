"""Every synchronization statement, changed: refused, or the change makes no difference."""

from __future__ import annotations

import numpy as np
import pytest

from tests.verify.lowered import KERNELS, device, lower_with
from tests.verify.mutate import Mutant, mutants
from tilelang_ascend_sched.emulator import emulate, launch
from tilelang_ascend_sched.verify import NOT_PROVEN, PROVEN, verify

SMALL = ("copy", "simt_add", "mixed_gemm", "cube_gemm", "two_loops", "dynamic_rows", "while_copy")
EXECUTED = ("simt_add", "mixed_gemm")
LARGE = ("gemm_relu", "flash_simd", "softmax_rows", "rmsnorm", "streams_16")


def survivors(name: str) -> list[Mutant]:
    """Mutants of a kernel that are proven and not the same code by their construction."""
    func = device(name)
    tried = 0
    left = []
    for mutant in mutants(func):
        tried += 1
        report = verify(mutant.func)
        assert report.verdict != NOT_PROVEN, f"{mutant}\n{report}"
        if report.verdict == PROVEN and not mutant.same_queues:
            left.append(mutant)
    assert tried > 5
    return left


@pytest.mark.parametrize("name", SMALL)
def test_deleted_or_renamed_is_refused(name):
    """TileLang's own passes leave nothing redundant in these kernels."""
    assert [str(mutant) for mutant in survivors(name) if "move" not in mutant.what] == []


@pytest.mark.parametrize("name", LARGE)
def test_deleted_or_renamed_is_refused_in_large_kernels(name):
    assert [str(mutant) for mutant in survivors(name) if "move" not in mutant.what] == []


@pytest.mark.parametrize("name", EXECUTED)
def test_what_is_proven_runs_right(name):
    """The emulator's race check finds nothing in mutants that are proven."""
    workload = KERNELS[name]
    inputs = workload.inputs(np.random.default_rng(1))
    for mutant in survivors(name)[:4]:
        body = mutant.func

        def change(mod, body=body):
            (var,) = [v for v in mod.functions if v.name_hint == body.attrs["global_symbol"]]
            changed = mod.clone() if hasattr(mod, "clone") else mod
            changed.update_func(var, body)
            return changed

        text = lower_with(workload.build(), change)
        parameters = launch.lower(workload.build())
        (only,) = parameters.launches
        arrays = workload.arguments(inputs)
        result = emulate(text, policy="random", seed=3, blocks=only.blocks({}), arguments=arrays)
        assert [str(finding) for finding in result.findings] == [], str(mutant)
        for output, expected in workload.reference(**inputs).items():
            assert workload.mismatch(output, arrays[output], expected) is None, str(mutant)
