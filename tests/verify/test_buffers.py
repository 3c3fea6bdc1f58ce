"""Buffers that the check cannot tell apart, and memories that are too small for them."""

from __future__ import annotations

import tilelang  # noqa: F401  # puts tvm on the path
from tvm import tirx

from tests.verify.device import TILE, barrier, kernel, load, packed, placed
from tilelang_ascend_sched.verify import NOT_PROVEN, PROVEN, REFUSED, VerifyReport, verify


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


def in_turn(count: int, late: int = -1) -> VerifyReport:
    """Buffers in one place, each loaded and stored before the next; ``late`` is stored at last."""
    ordered = barrier("PIPE_ALL"), barrier("PIPE_ALL")
    stmts = []
    for buffer in range(count):
        stmts += [placed(buffer, 0, load_from=buffer), ordered]
        if buffer != late:
            stmts += [placed(buffer, 0, store_to=buffer), ordered]
    if late >= 0:
        stmts.append(placed(late, 0, store_to=late))
    func, unpacked = packed(*stmts)
    return verify(func, unpacked=unpacked)


def test_as_many_buffers_in_one_place_as_are_told_apart():
    assert in_turn(64).verdict == PROVEN, str(in_turn(64))
    for late in (0, 62):
        report = in_turn(64, late)
        assert report.verdict == REFUSED
        assert {finding.kind for finding in report.findings} == {"shared bytes"}


def test_more_buffers_in_one_place_than_are_told_apart():
    for report in (in_turn(65), in_turn(65, 63)):
        assert report.verdict == NOT_PROVEN, str(report)
        (finding,) = report.findings
        assert finding.kind == "buffers unknown"
        assert "65 buffers share bytes with others, and the check tells 64 apart" in finding.message


def place_in_itself(element: int) -> tirx.PrimFunc:
    """A buffer that is written where one of its own elements says."""
    buffer = tirx.decl_buffer([64], "float32", "a", scope="shared.dyn")
    place = tirx.floormod(tirx.Cast("int32", tirx.BufferLoad(buffer, [element])), 64)
    store = tirx.BufferStore(buffer, tirx.const(0.0, "float32"), [place])
    body = tirx.SeqStmt([tirx.AllocBuffer(buffer), store])
    return tirx.PrimFunc([], body).with_attr("global_symbol", "kernel")


def test_an_address_made_of_loads_is_the_same_if_they_are():
    assert verify(place_in_itself(1), unpacked=place_in_itself(1)).verdict == PROVEN
    report = verify(place_in_itself(1), unpacked=place_in_itself(2))
    assert report.verdict == NOT_PROVEN
    assert "buffer a lies at byte 0 and at byte -4" in str(report)


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
