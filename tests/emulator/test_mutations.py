"""Each sync line of a kernel deleted in turn: the checks that do not depend on the interleaving
object, or the line is listed with the proof that nothing needs it."""

from __future__ import annotations

import re
from functools import cache

import pytest

from examples import WORKLOADS
from tests.emulator.conftest import Lowered, lower_workload

SYNC = re.compile(r"\s*asc_(sync|lock|unlock)")

QUICK = ["gemm_l0", "rmsnorm", "topk", "dynamic_add"]
SLOW = [
    *(
        "gemm_cube",
        "gemm_bias_gelu",
        "gemm_fp8",
        "gemm_splitk",
        "gemm_grouped",
        "mlp",
        "flash_simt",
        "flash_simd",
    ),
    "flash_hinted",
    *("softmax_rows", "layernorm_manual", "quant_fp8", "streams_1", "streams_2", "streams_4"),
    *("scan_rows", "while_sum", "manual_ring", "gemv"),
]

WITHIN = "the reduction between these two has barriers of its own, its last at its end"
DISJOINT = "the threads of the region never touch a byte that another writes"
REDUNDANT = {
    ("rmsnorm", 0): WITHIN,
    ("rmsnorm", 1): WITHIN,
    ("topk", 0): DISJOINT,
    ("topk", 1): DISJOINT,
}
"""By workload and by which of its block-wide SIMT barriers."""


@cache
def tiny(name: str) -> Lowered:
    return lower_workload(name, **WORKLOADS[name].tiny)


def delete(text: str, *indices: int) -> str:
    lines = text.splitlines()
    for i in indices:
        assert SYNC.match(lines[i])
        lines[i] = ""
    return "\n".join(lines)


def simt_barriers(text: str) -> list[int]:
    return [i for i, line in enumerate(text.splitlines()) if line.strip() == "asc_syncthreads();"]


@pytest.mark.parametrize(
    "name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)]
)
def test_deleted_sync_is_objected_to(name):
    kernel = tiny(name)
    assert kernel.run()[0].ok
    barriers = simt_barriers(kernel.text)
    allowed = {i for n, i in REDUNDANT if n == name}
    sync = [i for i, line in enumerate(kernel.text.splitlines()) if SYNC.match(line)]
    assert sync
    missed = [i for i in sync if kernel.run(delete(kernel.text, i))[0].ok]
    assert missed == [barriers[b] for b in sorted(allowed)]


@pytest.mark.parametrize("name", sorted({name for name, _ in REDUNDANT}))
def test_redundant_barriers_are_not_needed_together_either(name):
    """Without all of them no two threads meet, and the results stay right."""
    kernel = tiny(name)
    barriers = simt_barriers(kernel.text)
    listed = [barriers[b] for n, b in REDUNDANT if n == name]
    result, arrays = kernel.run(delete(kernel.text, *listed))
    assert result.ok and kernel.wrong(arrays) == []
