"""What TileLang's own passes make of the examples and the small kernels is proven right."""

from __future__ import annotations

import pytest

from examples import WORKLOADS
from tests.kernels.small import SMALL
from tests.verify.lowered import device
from tilelang_ascend_sched.verify import NOT_PROVEN, PROVEN, verify

REFUSED_BY_TILELANG = {"streams_24"}
"""More flags than there are ids: TileLang's own passes give up."""

NOT_MODELLED = {"between_blocks"}
"""Synchronization between blocks, whose other side the check does not see."""


@pytest.mark.parametrize("name", sorted({*SMALL, *WORKLOADS} - REFUSED_BY_TILELANG - NOT_MODELLED))
def test_proven(name):
    report = verify(device(name))
    assert report.verdict == PROVEN, str(report)


@pytest.mark.parametrize("name", sorted(NOT_MODELLED))
def test_not_modelled_is_said(name):
    report = verify(device(name))
    assert report.verdict == NOT_PROVEN
    assert any(finding.kind == "not modelled" for finding in report.findings)


def test_work_grows_with_the_kernel():
    """Instructions walked per statement of the kernel: 16 times the chains, 16 times the work."""
    one, sixteen = (verify(device(f"streams_{count}")).instructions for count in (1, 16))
    assert sixteen <= 16**1.5 * one
