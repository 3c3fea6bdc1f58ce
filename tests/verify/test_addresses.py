"""Addresses in GM that run-time inputs decide."""

from __future__ import annotations

import pytest
import tilelang  # noqa: F401  # puts tvm on the path
from tvm.tirx import PrimExpr, Var

from tests.verify.device import kernel, store
from tilelang_ascend_sched.verify import PROVEN, REFUSED, verify

N, M = Var("n", "int32"), Var("m", "int32")


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        (2 * N, 2 * M + 1, PROVEN),
        (6 * N + 1, 4 * M, PROVEN),
        (2 * N, 2 * M, REFUSED),
        (6 * N, 4 * M + 2, REFUSED),
        (2 * N, 3 * M + 1, REFUSED),
        (N, M, REFUSED),
    ],
    ids=str,
)
def test_tiles_that_never_meet(first: PrimExpr, second: PrimExpr, verdict: str):
    """Two stores in any order, to numbers of tiles that have another remainder, or may be one."""
    report = verify(kernel(store(first, 0), store(second, 1), scalars=(N, M)))
    assert report.verdict == verdict, str(report)
