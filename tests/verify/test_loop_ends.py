"""What is found out about a loop's end inside the loop is not known of the turns passed over.

Each kernel here does something wrong only if its loop has turned often enough, or is right only
because questions inside the loop are about the same end. It is judged with a number of turns that
is not known, and with each of many numbers: both must say the same.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import tilelang  # noqa: F401  # puts tvm on the path
from tvm import tirx
from tvm.tirx import PrimExpr, PrimFunc, Stmt, Var
from tvm.tirx import floormod as mod

from tests.verify.device import (
    barrier,
    handshake,
    kernel,
    load,
    loop,
    seq,
    set_flag,
    store,
    wait_flag,
    when,
)
from tilelang_ascend_sched.verify import NOT_PROVEN, PROVEN, REFUSED, verify

N = Var("n", "int32")
FAR = range(26)
Turns = int | PrimExpr


def fine(i: PrimExpr) -> Stmt:
    return seq(load(0, i), barrier("PIPE_ALL"))


WRONG = seq(load(0, 0), store(1, 0), barrier("PIPE_ALL"))


def often(n: Turns) -> list[Stmt]:
    return [loop(n, fine), when(_expr(n) >= 10, WRONG)]


def inside(n: Turns) -> list[Stmt]:
    return [loop(n, lambda i: seq(fine(i), when(_expr(n) >= 10, WRONG)))]


def late(n: Turns) -> list[Stmt]:
    return [loop(n, lambda i: seq(fine(i), when(i == 17, WRONG)))]


def again(n: Turns) -> list[Stmt]:
    """The second loop turns more often than the first has to turn before it repeats itself."""
    return [loop(n, fine), loop(n, lambda i: seq(fine(i), when(i >= 5, WRONG)))]


def shorter(n: Turns) -> list[Stmt]:
    return [loop(n, fine), loop(_expr(n) - 8, lambda _: WRONG)]


def nested(n: Turns) -> list[Stmt]:
    return [loop(n, lambda i: seq(loop(n, fine), when(i >= 4, WRONG)))]


def prefetched(n: Turns) -> list[Stmt]:
    """The guards inside follow the loop's end; without that, flags would be left set."""

    def turn(i: PrimExpr) -> Stmt:
        return seq(
            wait_flag("MTE2_MTE3", mod(i, 2)),
            when(
                i + 1 < _expr(n), load(mod(i + 1, 2), i + 1), set_flag("MTE2_MTE3", mod(i + 1, 2))
            ),
            store(i, mod(i, 2)),
            handshake("MTE3_MTE2", 0),
        )

    first = when(_expr(n) > 0, load(0, 0), set_flag("MTE2_MTE3", 0))
    return [first, loop(n, turn)]


def backwards(n: Turns) -> list[Stmt]:
    """A guard that moves against the loop's end."""
    return [loop(n, lambda i: seq(fine(i), when(_expr(n) > 12 - i, when(i < 3, WRONG))))]


def twice_as_fast(n: Turns) -> list[Stmt]:
    return [loop(n, lambda i: seq(fine(i), when(i * 2 < _expr(n), when(i > 8, WRONG))))]


def slots(n: Turns) -> list[Stmt]:
    """Addresses that do not move alike, but come back after eight turns."""
    turn = lambda i: seq(barrier("PIPE_MTE3"), store(mod(i, 8), 0))  # noqa: E731
    return [store(20, 0), loop(n, turn)]


def slots_met_late(n: Turns) -> list[Stmt]:
    """Turn 16 stores where turn 8 did, the last one before which there is a barrier."""
    turn = lambda i: seq(when(i < 9, barrier("PIPE_MTE3")), store(mod(i, 8), 0))  # noqa: E731
    return [store(20, 0), loop(n, turn)]


def guarded_addresses(n: Turns) -> list[Stmt]:
    """Stores that nothing waits for, at addresses that differ as long as the guard holds."""
    return [loop(n, lambda i: when(i < 3, store(i, 0))), store(3, 0)]


def guarded_addresses_meet(n: Turns) -> list[Stmt]:
    """The last turn that the guard lets through stores where the store after the loop does."""
    return [loop(n, lambda i: when(i <= 2, store(i, 0))), store(2, 0)]


def guarded_again(n: Turns) -> list[Stmt]:
    """The inner loop begins anew, and the guard holds once more."""
    turn = lambda i: when(2 * i - 1 < 3, barrier("PIPE_MTE3"), store(i, 0))  # noqa: E731
    return [store(9, 0), loop(3, lambda _: loop(n, turn))]


def guarded_turns(n: Turns) -> list[Stmt]:
    """A loop as long as the number of the turn around it."""
    return [loop(n, lambda i: when(i < 3, loop(i + 1, fine)))]


def guarded_turns_go_wrong(n: Turns) -> list[Stmt]:
    turn = lambda i: loop(i + 1, lambda j: when(j == 2, WRONG))  # noqa: E731
    return [loop(n, lambda i: when(i < 3, turn(i)))]


def growing_turns(n: Turns) -> list[Stmt]:
    """An inner loop as long as the number of the turn, with a ring that goes on through all."""

    def turn(i: PrimExpr) -> Stmt:
        return loop(2 * i + 1, lambda j: seq(load(0, j), handshake("MTE2_MTE3", 0), inner(j)))

    inner = lambda j: seq(store(j, 0), barrier("PIPE_MTE3"), handshake("MTE3_MTE2", 0))  # noqa: E731
    return [loop(n, turn)]


def growing_turns_go_wrong(n: Turns) -> list[Stmt]:
    """Only from the seventh turn on is the inner loop long enough to go wrong."""
    turn = lambda i: loop(i + 1, lambda j: seq(fine(j), when(j == 6, WRONG)))  # noqa: E731
    return [loop(n, turn)]


def growing_turns_go_wrong_if_short(n: Turns) -> list[Stmt]:
    """The flag that an inner loop of more than two turns raises is waited for in any case."""

    def turn(i: PrimExpr) -> Stmt:
        return seq(
            loop(i + 1, lambda j: when(j == 2, set_flag("MTE2_V", 0))), wait_flag("MTE2_V", 0)
        )

    return [loop(n, turn)]


def _expr(n: Turns) -> PrimExpr:
    return n if not isinstance(n, int) else tirx.IntImm("int32", n)


CASES = [often, inside, late, again, shorter, nested, prefetched, backwards, twice_as_fast]
CASES += [slots, slots_met_late, guarded_addresses, guarded_addresses_meet, guarded_again]
CASES += [guarded_turns, guarded_turns_go_wrong, growing_turns, growing_turns_go_wrong]
CASES += [growing_turns_go_wrong_if_short]


def build(case: Callable[[Turns], list[Stmt]], n: Turns) -> PrimFunc:
    return kernel(*case(n), scalars=(N,) if n is N else ())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_same_verdict_as_with_every_number_of_turns(case):
    report = verify(build(case, N))
    wrong = [n for n in FAR if verify(build(case, n)).verdict == REFUSED]
    assert report.verdict == (REFUSED if wrong else PROVEN), f"wrong with {wrong}\n{report}"
    assert report.verdict != NOT_PROVEN
