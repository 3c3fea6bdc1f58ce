"""Buffers that the check cannot tell apart, and memories that are too small for them."""

from __future__ import annotations

import tilelang  # noqa: F401  # puts tvm on the path
from tvm import tirx

from tests.verify.device import TILE, kernel, load, packed, placed
from tilelang_ascend_sched.verify import NOT_PROVEN, PROVEN, REFUSED, verify


def test_another_kernel_before_packing():
    """One access more than before packing."""
    _, unpacked = packed(placed(0, 0, load_from=0))
    report = verify(kernel(load(0, 0), load(1, 1)), unpacked=unpacked)
    assert report.verdict == NOT_PROVEN
    (finding,) = report.findings
    assert finding.kind == "buffers unknown"
    assert "2 accesses on chip, and 1 before packing" in finding.message


def test_a_buffer_with_two_places():
    func, unpacked = packed(placed(0, 0, load_from=0), placed(0, 1, load_from=1))
    report = verify(func, unpacked=unpacked)
    assert report.verdict == NOT_PROVEN
    assert f"buffer a lies at byte 0 and at byte {TILE}" in str(report)


def test_not_given_is_an_assumption():
    func, unpacked = packed(placed(0, 0, load_from=0))
    shared = "no two live buffers share bytes"
    assert any(shared in text for text in verify(func).assumptions)
    report = verify(func, unpacked=unpacked)
    assert report.verdict == PROVEN
    assert not any(shared in text for text in report.assumptions)


def test_allocation_beyond_the_memory():
    """Untouched bytes count, too."""
    func = kernel(load(0, 0))
    more = tirx.decl_buffer([1 << 20], "uint8", "more", scope="shared.dyn")
    report = verify(func.with_body(tirx.SeqStmt([tirx.AllocBuffer(more), func.body])))
    assert report.verdict == REFUSED
    assert "the buffers reach to byte 1048576 of UB, which has 253952 bytes" in str(report)
