"""Spilled or not, every wait still comes after the set that it waited for.

Random programs are executed before and after the pass; what each wait follows afterwards, by the
rules of flags and locks, must cover what it followed before.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tvm import tirx

from tests.passes.order import answers, followers, issue, steps
from tests.passes.tir import kernel, loop, ours, seq, set_flag, stock, var, wait_flag, when

EVENTS = ("MTE2_V", "V_MTE3", "MTE3_MTE2")


class Program:
    """Takes fresh ids of each event and fresh loop names."""

    def __init__(self) -> None:
        self.next_id = dict.fromkeys(EVENTS, 0)
        self.loops = 0

    def ids(self, event: str, count: int, gap: int = 0) -> int:
        first = self.next_id[event] + gap
        self.next_id[event] = first + count
        return first

    def index(self) -> tirx.Var:
        self.loops += 1
        return var(f"i{self.loops}")


def handshake(program: Program, event: str, gap: int, trips: int) -> tirx.Stmt:
    flag = program.ids(event, 1, gap)
    return loop(program.index(), trips, set_flag(event, flag), wait_flag(event, flag))


def primed_ring(program: Program, event: str, versions: int, trips: int) -> tirx.Stmt:
    base, prime, turn, drain = (program.ids(event, versions), *(program.index() for _ in range(3)))
    return seq(
        loop(prime, versions, set_flag(event, prime + base)),
        loop(
            turn,
            trips,
            wait_flag(event, turn % versions + base),
            set_flag(event, turn % versions + base),
        ),
        loop(drain, versions, wait_flag(event, drain + base)),
    )


def guarded_ring(program: Program, event: str, versions: int, trips: int, every: int) -> tirx.Stmt:
    base, turn = program.ids(event, versions), program.index()
    flag = turn // every % versions + base
    return loop(
        turn,
        trips,
        when((turn % every).equal(0), set_flag(event, flag)),
        when((turn % every).equal(0), wait_flag(event, flag)),
    )


def carried(program: Program, event: str, trips: int) -> tirx.Stmt:
    """Set in each iteration, waited for in the next."""
    flag, turn = program.ids(event, 1), program.index()
    body = [when(turn > 0, wait_flag(event, flag)), set_flag(event, flag)]
    return seq(loop(turn, trips, *body), wait_flag(event, flag))


def reversed_pair(program: Program, event: str, trips: int) -> tirx.Stmt:
    """The wait is issued first: legal, since the pipes are different, but no work for a lock."""
    flag = program.ids(event, 1)
    return loop(program.index(), trips, wait_flag(event, flag), set_flag(event, flag))


@st.composite
def programs(draw: st.DrawFn) -> tirx.PrimFunc:
    program, parts = Program(), []
    for _ in range(draw(st.integers(1, 9))):
        event, trips = draw(st.sampled_from(EVENTS)), draw(st.integers(1, 5))
        shape = draw(st.integers(0, 4))
        if shape == 0:
            parts.append(handshake(program, event, draw(st.integers(0, 9)), trips))
        elif shape == 1:
            parts.append(primed_ring(program, event, draw(st.integers(1, 6)), trips))
        elif shape == 2:
            versions, every = draw(st.integers(1, 4)), draw(st.integers(1, 3))
            parts.append(guarded_ring(program, event, versions, trips, every))
        elif shape == 3:
            parts.append(carried(program, event, trips))
        else:
            parts.append(reversed_pair(program, event, trips))
    if draw(st.booleans()):
        parts = [loop(program.index(), 2, *parts)]
    return kernel(*parts)


@given(programs())
def test_every_wait_follows_what_it_followed_before(function: tirx.PrimFunc) -> None:
    before = issue(function.body)
    after = issue(ours("RewriteFlagToBuf")(function).body)
    assert lost_orders(before, after) == []
    assert all(op.index < (8 if op.kind in ("set", "wait") else 32) for op in after)


def lost_orders(before: list, after: list) -> list[tuple[int, int]]:
    """The (set, wait) pairs of ``before`` that ``after`` does not keep in order."""
    assert len(steps(after)) == len(before)
    reached = followers(after)
    return [(s, w) for s, w in answers(before) if w not in reached[s]]


def test_spilling_a_reversed_pair_would_lose_its_order() -> None:
    """The check above sees the one case in which a lock cannot stand in for a flag."""
    program = Program()
    forward = [handshake(program, "MTE2_V", 0, 1) for _ in range(8)]
    function = kernel(*forward, reversed_pair(program, "MTE2_V", 1))
    before = issue(function.body)
    assert lost_orders(before, issue(ours("RewriteFlagToBuf")(function).body)) == []
    # The stock pass keeps the first 8 ids, whatever their order.
    assert lost_orders(before, issue(stock("RewriteFlagToBuf")(function).body))


@pytest.mark.parametrize("versions", [9, 12])
def test_a_primed_ring_too_large_for_flags_spills_whole(versions: int) -> None:
    function = kernel(primed_ring(Program(), "MTE2_V", versions, 30))
    after = issue(ours("RewriteFlagToBuf")(function).body)
    assert {op.kind for op in after} == {"lock", "unlock"}
    assert lost_orders(issue(function.body), after) == []
