"""A number in memory is the same until something is written there."""

from __future__ import annotations

import re

import pytest
from tvm import tirx
from tvm.tirx import PrimExpr, PrimFunc, Stmt

from tests.verify.device import (
    handshake,
    kernel,
    load,
    loop,
    number,
    seq,
    set_flag,
    store,
    vector,
    wait_flag,
    when,
)
from tilelang_ascend_sched.verify import NOT_PROVEN, PROVEN, REFUSED, verify

LOADED = seq(load(0, 0), handshake("MTE2_S", 0))
AGAIN = seq(handshake("S_MTE2", 0), LOADED)


def asked(element: int) -> PrimExpr:
    """Whether that element of tile 0 of UB is positive."""
    first, _ = number(0, 0)
    return tirx.BufferLoad(first.buffer, [first.indices[0] + element]) > 0


def guarded(*between: Stmt, element: int = 0) -> PrimFunc:
    """A tile is made if one number is positive, and stored if ``element`` is."""
    make = when(asked(0), vector(4, 3), set_flag("V_MTE3", 0))
    keep = when(asked(element), wait_flag("V_MTE3", 0), store(0, 4))
    return kernel(LOADED, make, *between, keep)


def test_what_is_read_again_is_what_it_was():
    """With one number, both guards hold or none does; the check does not see that it is right."""
    assert verify(guarded()).verdict == NOT_PROVEN
    report = verify(guarded(element=1))
    assert report.verdict == REFUSED
    assert re.fullmatch(r"ub\[0\] = [1-9]\d*, ub\[1\] = (0|-\d+)", report.findings[0].inputs)


@pytest.mark.parametrize(
    ("between", "verdict"),
    [(AGAIN, REFUSED), (load(1, 0), NOT_PROVEN), (load(2, 0), NOT_PROVEN)],
)
def test_it_may_be_another_one_once_something_is_written(between: Stmt, verdict: str):
    assert verify(guarded(between)).verdict == verdict


def test_numbers_of_one_element_are_told_one_after_the_other():
    flag = when(asked(128), set_flag("V_MTE3", 0))
    report = verify(kernel(loop(3, lambda _: seq(AGAIN, flag))))
    assert report.verdict == REFUSED
    assert report.findings[0].kind == "set twice"
    numbers = re.fullmatch(r"ub\[128\] = (\d+) then (\d+)( then -?\d+)*", report.findings[0].inputs)
    assert numbers is not None and int(numbers[1]) > 0 and int(numbers[2]) > 0


def test_one_guard_needs_no_second_look():
    both = seq(vector(4, 3), handshake("V_MTE3", 0), store(0, 4))
    assert verify(kernel(LOADED, when(asked(0), both))).verdict == PROVEN
