"""Every example gives the right numbers when its generated text is executed."""

from __future__ import annotations

import pytest

from examples import WORKLOADS
from tests.kernels.run import complaints, lowered

POLICIES = ("eager", "random")

NOT_RUN = {
    "streams_24": "TileLang's own passes refuse it, see test_lower.py",
}
"""Examples that are not run here, and why."""


def run_tiny(name: str, policy: str, seed: int, **other: int) -> list[str]:
    workload = WORKLOADS[name]
    text = lowered(workload.build, False, **workload.tiny)
    return complaints(workload, text, policy, seed, **(workload.tiny | other))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", [name for name in WORKLOADS if name not in NOT_RUN])
def test_tiny_variant_runs_right(name, policy):
    assert run_tiny(name, policy, seed=3) == []


@pytest.mark.parametrize("rows", [0, 1, 8, 17, 64])
def test_dynamic_add_with_any_number_of_rows(rows):
    assert run_tiny("dynamic_add", "random", seed=rows, m=rows) == []


@pytest.mark.parametrize("name", ["while_sum", "gemm_grouped"])
@pytest.mark.parametrize("seed", range(4))
def test_data_decides_how_far_loops_go(name, seed):
    """Other seeds mean other counts of rows and other group sizes."""
    assert run_tiny(name, "random", seed) == []
