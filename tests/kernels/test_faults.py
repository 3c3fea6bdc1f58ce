"""What TileLang's own passes lower wrongly is noticed when the text is executed."""

from __future__ import annotations

import pytest

from tests.kernels.faults import FAULTS
from tests.kernels.run import complaints, lowered


@pytest.mark.parametrize("policy", ["eager", "random"])
@pytest.mark.parametrize("name", list(FAULTS))
def test_fault_leaves_its_trace(name, policy):
    workload, trace = FAULTS[name]
    told = complaints(workload, lowered(workload.build, False), policy, seed=1)
    assert any(complaint.startswith(trace) for complaint in told), told
