"""Passing over turns that are like those before says what executing every turn says.

Random small programs: loops in loops, rings with and without mistakes, guards at both ends,
addresses that move at different rates. Each is judged as the check does it, with every turn
executed, and with numbers of turns that only run-time inputs decide. ``VERIFY_EXAMPLES`` sets how
many are tried.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import pytest
import tilelang  # noqa: F401  # puts tvm on the path
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tvm import tirx
from tvm.tirx import PrimExpr, PrimFunc, Stmt, Var
from tvm.tirx import floormod as mod

from tests.verify.device import (
    X,
    Y,
    barrier,
    handshake,
    kernel,
    load,
    loop,
    seq,
    set_flag,
    store,
    vector,
    wait_flag,
    when,
)
from tilelang_ascend_sched.verify import PROVEN, REFUSED, verify

N = Var("n", "int32")
FAR = 40
TURNS = (*range(12), 16, 17, 18, 19, 23, 30, 31, 34, 35, 36, 37, 41)


@dataclass(frozen=True)
class Address:
    """A tile number: ``rate * i + offset``, its remainder, or cut off at ``most``."""

    rate: int
    offset: int
    modulus: int
    most: int

    def at(self, i: PrimExpr) -> PrimExpr:
        tile = i * self.rate + self.offset
        if self.modulus:
            return mod(tile, self.modulus)
        return tirx.Min(tile, tirx.IntImm("int32", self.most)) if self.most else tile


@dataclass(frozen=True)
class Step:
    kind: str
    slot: Address
    gm: Address
    flag: int
    guard: tuple[int, int]  # from this turn on, and up to that one

    def stmt(self, i: PrimExpr) -> Stmt:
        slot = mod(self.slot.at(i), 4)
        made = {
            "load": lambda: load(slot, self.gm.at(i) + 64, Y if self.flag else X),
            "store": lambda: store(self.gm.at(i) + 64, slot),
            "vector": lambda: vector(slot * 2 + 4, slot),
            "in": lambda: handshake("MTE2_V", self.flag),
            "out": lambda: handshake("V_MTE3", self.flag),
            "direct": lambda: handshake("MTE2_MTE3", mod(slot, 2)),
            "back": lambda: handshake("MTE3_MTE2", self.flag),
            "barrier": lambda: barrier("PIPE_ALL"),
            "drain": lambda: barrier("PIPE_MTE3"),
            "ring wait": lambda: wait_flag("MTE3_MTE2", mod(i, 2) + 2),
            "ring set": lambda: set_flag("MTE3_MTE2", mod(i + self.flag, 2) + 2),
        }[self.kind]()
        low, high = self.guard
        if low:
            made = when(i >= low, made)
        return when(i < high, made) if high else made


KINDS = (
    *("load", "store", "vector", "in", "out", "direct", "back", "barrier", "drain"),
    *("ring wait", "ring set"),
)
addresses = st.builds(
    Address,
    st.sampled_from([0, 1, 1, 1, 2, -1]),
    st.integers(0, 40),
    st.sampled_from([0, 0, 2, 3]),
    st.sampled_from([0, 0, 0, 20]),
)
guards = st.sampled_from([(0, 0), (0, 0), (0, 0), (2, 0), (0, 35), (30, 0), (17, 18)])
steps = st.builds(Step, st.sampled_from(KINDS), addresses, addresses, st.integers(0, 1), guards)
bodies = st.lists(steps, min_size=2, max_size=7)


def build(body: list[Step], inner: list[Step], turns: int | PrimExpr, repeats: int) -> PrimFunc:
    def turn(i: PrimExpr) -> Stmt:
        nested = [loop(20, lambda j: seq(*(s.stmt(j) for s in inner)))] if inner else []
        return seq(*(step.stmt(i) for step in body), *nested, barrier("PIPE_MTE1"))

    whole = loop(turns, turn)
    if repeats > 1:
        whole = loop(repeats, lambda _: loop(turns, turn))
    rings = any("ring" in step.kind for step in [*body, *inner])
    prime = [set_flag("MTE3_MTE2", slot) for slot in (2, 3)] if rings else []
    drain = [wait_flag("MTE3_MTE2", slot) for slot in (2, 3)] if rings else []
    scalars = () if isinstance(turns, int) else (N,)
    return kernel(*prime, whole, *drain, scalars=scalars)


def kinds(report) -> set[str]:
    return {finding.kind for finding in report.findings}


EXAMPLES = int(os.environ.get("VERIFY_EXAMPLES", "40"))
QUIET = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES == 40,
    suppress_health_check=list(HealthCheck),
)


@QUIET
@given(bodies, st.one_of(st.just([]), bodies), st.sampled_from([1, 3, 12]))
def test_same_as_every_turn(body, inner, repeats):
    func = build(body, inner, FAR, repeats)
    report, full = verify(func), verify(func, skips=False)
    assert (report.verdict, kinds(report)) == (full.verdict, kinds(full)), f"{report}\n{full}"


@QUIET
@given(bodies)
def test_same_as_every_number_of_turns(body):
    report = verify(build(body, [], N, 1))
    wrong = [
        turns
        for turns in TURNS
        if verify(build(body, [], turns, 1), skips=False).verdict == REFUSED
    ]
    if report.verdict == PROVEN:
        assert not wrong, f"{report}\nwrong with {wrong}"
    elif report.verdict == REFUSED:
        assert wrong, str(report)


@pytest.mark.parametrize("outer", [1, 3000])
def test_thousands_of_turns_cost_little(outer):
    """Double buffering in 3000 * 5000 turns."""

    def turn(i: PrimExpr) -> Stmt:
        slot = mod(i, 2)
        return seq(
            wait_flag("MTE3_MTE2", slot),
            load(slot, i),
            handshake("MTE2_MTE3", slot),
            store(i, slot),
            set_flag("MTE3_MTE2", slot),
        )

    def whole(turn) -> PrimFunc:
        prime = [set_flag("MTE3_MTE2", slot) for slot in (0, 1)]
        drain = [wait_flag("MTE3_MTE2", slot) for slot in (0, 1)]
        return kernel(*prime, loop(outer, lambda _: loop(5000, turn)), *drain)

    report = verify(whole(turn))
    assert report.verdict == PROVEN, str(report)
    assert report.instructions < 2000
    late = verify(whole(lambda i: seq(turn(i), when(i == 4321, set_flag("MTE2_V", 0)))))
    assert late.verdict == REFUSED
    assert kinds(late) <= {"left set", "set twice"}
