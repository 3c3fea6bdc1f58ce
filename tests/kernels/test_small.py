"""The small kernels run right, lowered with our passes and with TileLang's own."""

from __future__ import annotations

import pytest

from tests.kernels.run import complaints, lowered
from tests.kernels.small import SMALL

POLICIES = ("eager", "lazy", "random", "starve:MTE2", "starve:V")


@pytest.mark.parametrize("ours", [True, False], ids=["ours", "stock"])
@pytest.mark.parametrize("name", list(SMALL))
def test_runs_right(name, ours):
    workload = SMALL[name]
    text = lowered(workload.build, ours)
    for seed, policy in enumerate(POLICIES):
        assert complaints(workload, text, policy, seed) == [], policy


@pytest.mark.parametrize("rows", [0, 1, 3, 4, 5])
def test_dynamic_rows_with_any_number_of_rows(rows):
    workload = SMALL["dynamic_rows"]
    text = lowered(workload.build, True)
    assert complaints(workload, text, "random", m=rows) == []
