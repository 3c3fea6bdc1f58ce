"""Our edges cover those of TileLang's AutoSchedule; ``tests.analysis.stock`` compares all."""

from __future__ import annotations

import pytest

from tests.analysis.stock import compare


@pytest.mark.parametrize(
    "name", ["ring", "either_branch", "mixed_gemm", "permuted_rows", "gemm_grouped"]
)
def test_every_stock_edge_is_covered(name: str) -> None:
    found = compare(name)
    assert found.dropped == ()
    assert found.stock > 0
