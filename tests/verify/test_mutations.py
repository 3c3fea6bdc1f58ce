"""Every synchronization statement, changed: refused, or the change makes no difference."""

from __future__ import annotations

import numpy as np
import pytest
import tilelang  # noqa: F401  # puts tvm on the path

from benchmarks.verify import mutations
from benchmarks.verify.subject import lower
from examples import WORKLOADS
from tests.fuzz.mutants import finish
from tests.verify.lowered import KERNELS, device, stock
from tests.verify.mutate import Mutant, mutants, replaced
from tilelang_ascend_sched.emulator import emulate, launch
from tilelang_ascend_sched.verify import NOT_PROVEN, PROVEN, REFUSED, verify

SMALL = ("copy", "simt_add", "mixed_gemm", "cube_gemm", "two_loops", "dynamic_rows", "while_copy")
EXECUTED = ("simt_add", "mixed_gemm")
LARGE = ("gemm_relu", "flash_simd", "softmax_rows", "rmsnorm")


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


def test_deleted_lock_is_refused():
    """Flags that were spilled to locks.

    A lock is free at first and nobody has to wait for it at last, so the 8 primes and the 8 drains
    order nothing. Another lock's later release may order as much.
    """
    left = [mutant for mutant in survivors("streams_16") if mutant.what == "delete"]
    assert len(left) == 16
    assert not any("PIPE_V" in mutant.statement for mutant in left)


@pytest.mark.parametrize("name", EXECUTED)
def test_what_is_proven_runs_right(name):
    """The emulator's race check finds nothing in mutants that are proven."""
    workload = KERNELS[name]
    inputs = workload.inputs(np.random.default_rng(1))
    module = stock(workload.build).module
    (only,) = launch.lower(workload.build()).launches
    for mutant in survivors(name)[:4]:
        text = finish(replaced(module, mutant.func))
        arrays = workload.arguments(inputs)
        result = emulate(text, policy="random", seed=3, blocks=only.blocks({}), arguments=arrays)
        assert [str(finding) for finding in result.findings] == [], str(mutant)
        for output, expected in workload.reference(**inputs).items():
            assert workload.mismatch(output, arrays[output], expected) is None, str(mutant)


def test_check_and_emulator_agree_on_every_changed_statement():
    """One kernel of what ``python -m benchmarks.verify.mutations`` does with all."""
    found = mutations.tried(lower("streams_1", "ours", **WORKLOADS["streams_1"].tiny))
    assert len(found) > 30
    assert [str(each) for each in found if each.outcome in mutations.DISAGREE] == []
    assert {each.outcome for each in found} >= {REFUSED, mutations.CLOSURE}
