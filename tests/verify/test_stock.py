"""What TileLang's own passes make of the examples and the small kernels is proven right."""

from __future__ import annotations

import pytest

from tests.kernels.faults import FAULTS
from tests.verify.lowered import KERNELS, device, stock
from tilelang_ascend_sched.verify import PROVEN, REFUSED, verify

REFUSED_BY_TILELANG = {"streams_24"}
"""More flags than there are ids: TileLang's own passes give up."""


SLOW = {"streams_8"}
"""TileLang's solver takes more than ten seconds; ``python -m benchmarks.verify.cost`` proves it."""


@pytest.mark.parametrize("name", sorted(KERNELS.keys() - REFUSED_BY_TILELANG - SLOW))
def test_proven(name):
    report = stock(KERNELS[name].build).check()
    assert report.verdict == PROVEN, str(report)


WRONG = {"prefetch_ring": "set twice", "template_and_own_l0": "race", "unlike_pieces": "race"}
"""The faults that are mistakes in synchronization, and what is found."""


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_faults(name):
    """The other faults compute something else, in the right order."""
    report = stock(FAULTS[name][0].build).check()
    assert report.verdict == (REFUSED if name in WRONG else PROVEN), str(report)
    if name in WRONG:
        assert WRONG[name] in {finding.kind for finding in report.findings}


def test_work_grows_with_the_kernel():
    """Instructions walked per statement of the kernel: 16 times the chains, 16 times the work."""
    one, sixteen = (verify(device(f"streams_{count}")).instructions for count in (1, 16))
    assert sixteen <= 16**1.5 * one
