"""Every example gives the right numbers when its generated text is executed."""

from __future__ import annotations

import pytest

from examples import WORKLOADS
from tests.kernels.run import complaints, lowered

NOT_RUN = {
    "streams_24": "refused: 72 event ids, of which 24 and 32 locks exist; see test_lower.py",
}
"""Examples that are not run here, and why."""

SLOW_IN_STOCK = {
    "streams_8": "TileLang's solver takes some ten seconds",
    "streams_16": "TileLang's solver takes some ten seconds",
}
"""Examples that are run as lowered by us alone, and why."""

NAMES = [name for name in WORKLOADS if name not in NOT_RUN]


def run_tiny(name: str, policy: str, seed: int, ours: bool = True, **other: int) -> list[str]:
    workload = WORKLOADS[name]
    text = lowered(workload.build, ours, **workload.tiny)
    return complaints(workload, text, policy, seed, **(workload.tiny | other))


@pytest.mark.parametrize("policy", ["eager", "random"])
@pytest.mark.parametrize("name", NAMES)
def test_runs_right(name, policy):
    assert run_tiny(name, policy, seed=3) == []


@pytest.mark.parametrize("name", [name for name in NAMES if name not in SLOW_IN_STOCK])
def test_runs_right_as_lowered_by_stock(name):
    assert run_tiny(name, "random", seed=4, ours=False) == []


@pytest.mark.parametrize("rows", [0, 1, 8, 17, 64])
def test_dynamic_add_with_any_number_of_rows(rows):
    assert run_tiny("dynamic_add", "random", seed=rows, m=rows) == []


@pytest.mark.parametrize("name", ["while_sum", "gemm_grouped"])
@pytest.mark.parametrize("seed", range(4))
def test_data_decides_how_far_loops_go(name, seed):
    """Other seeds mean other counts of rows and other group sizes."""
    assert run_tiny(name, "random", seed) == []


def test_rings_that_run_out_of_locks_share_them():
    """16 chains of short rows get more versions than there are flags and locks for."""
    workload = WORKLOADS["streams_16"]
    sizes = workload.tiny | {"width": 64}
    text = lowered(workload.build, True, **sizes)
    assert complaints(workload, text, "random", 1, **sizes) == []
