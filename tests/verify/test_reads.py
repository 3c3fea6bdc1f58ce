"""Scalar reads whose numbers are kept in variables: what waits for them, and which may be left out.

In most kernels here a turn loads tile 0 and reads numbers of it. Only what waits for these numbers
keeps the next turn's load from coming before the reads.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import tilelang  # noqa: F401  # puts tvm on the path
from tvm import tirx
from tvm.tirx import PrimExpr, Stmt, Var

from tests.verify.device import (
    TILE,
    again,
    either,
    handshake,
    kernel,
    load,
    lock,
    loop,
    part_load,
    read,
    real,
    seq,
    store,
    unlock,
    vector,
    when,
    write,
)
from tilelang_ascend_sched.verify import NOT_PROVEN, PROVEN, REFUSED, VerifyReport, verify

N, M = Var("n", "int32"), Var("m", "int32")
LOADED = seq(load(0, 0), handshake("MTE2_S", 0))
WORK = vector(4, 6)  # in tiles that no load touches
ELSEWHERE = 8 * TILE // 4  # an element of them
NOTHING = tirx.Evaluate(0)


def _variable(name: str) -> tirx.Buffer:
    return tirx.decl_buffer([1], "int32", name, scope="local.var")


U, V = _variable("u"), _variable("v")
PAIR = tirx.decl_buffer([2], "int32", "pair", scope="local.var")


def put(var: tirx.Buffer, value: int | PrimExpr) -> Stmt:
    return tirx.BufferStore(var, tirx.convert(value), [0])


def keep(value: PrimExpr, then: Callable[[Var], Stmt] = lambda _: NOTHING) -> Stmt:
    var = Var("kept", value.dtype)
    return seq(tirx.Bind(var, value), then(var))


def small(number: PrimExpr) -> PrimExpr:
    return tirx.LT(number, 2)


def flag(number: PrimExpr) -> PrimExpr:
    return tirx.Cast("int32", small(number))


def few(number: PrimExpr) -> PrimExpr:
    return tirx.max(tirx.min(number, 3), 0)


def check(*body: Stmt) -> VerifyReport:
    return verify(kernel(put(U, 0), put(V, 0), *body, scalars=(N, M)))


def turns(count: int | PrimExpr, *body: Stmt) -> VerifyReport:
    return check(loop(count, lambda _: seq(LOADED, *body)))


COUNTS = [3, 40, N]

AWAITED = {
    "if": keep(small(read(0)), lambda c: when(c, WORK)),
    "else": keep(small(read(0)), lambda c: either(c, NOTHING, WORK)),
    "continue": keep(small(read(0)), lambda c: seq(when(c, again()), WORK)),
    "while": seq(put(V, flag(read(0))), tirx.While(V[0] > 0, seq(WORK, put(V, flag(read(1)))))),
    "for": keep(few(read(0)), lambda c: loop(c, lambda _: WORK)),
    "address": keep(few(read(0)), lambda c: load(1 + c, 0)),
    "address in a tensor": keep(few(read(0)), lambda c: load(1, c)),
    "size": keep(few(read(0)), lambda c: seq(part_load(0, c), handshake("MTE2_S", 0))),
    "id": keep(flag(read(0)), lambda c: seq(lock("PIPE_V", c), unlock("PIPE_V", c))),
    "stored": keep(read(0), lambda c: write(ELSEWHERE, c)),
    "by way of others": seq(
        put(V, flag(read(0))), put(U, V[0] + 1), keep(U[0] - V[0], lambda c: when(c > 0, WORK))
    ),
    "the later of two": keep(
        small(read(0)), lambda c: keep(small(read(1)), lambda d: when(d, WORK))
    ),
    "either choice": keep(
        read(0), lambda c: keep(tirx.Select(small(c), 7, 9), lambda d: when(d < 8, WORK))
    ),
    "real number": keep(real(0), lambda c: when(c * 2.0 + 1.0 < 0.5, WORK)),
    "square root": keep(real(0), lambda c: when(tirx.sqrt(c) < 0.5, WORK)),
    "one of two sides": keep(
        small(read(0)),
        lambda c: keep(small(read(ELSEWHERE)), lambda d: when(tirx.And(d, c), WORK)),
    ),
    "both sides, as kept": keep(
        M > 3,
        lambda more: when(more, keep(small(read(0)), lambda c: when(tirx.And(more, c), WORK))),
    ),
    "both sides": when(M > 3, keep(small(read(0)), lambda c: when(tirx.And(M > 2, c), WORK))),
}
OPEN = {
    "nothing": keep(small(read(0))),
    "an array": tirx.BufferStore(PAIR, read(0), [1]),
    "an empty branch": keep(small(read(0)), lambda c: when(c, NOTHING)),
    "an empty branch on the read": when(small(read(0)), NOTHING),
    "only variables": keep(small(read(0)), lambda c: when(c, put(V, 1))),
    "no turn": keep(few(read(0)), lambda c: loop(c, lambda _: NOTHING)),
    "no turn of while": seq(put(V, flag(read(0))), tirx.While(V[0] > 0, put(V, 0))),
    "turns without work": keep(small(read(0)), lambda c: loop(2, lambda _: when(c, again()))),
    "one outcome": keep(small(read(0)), lambda c: when(M > 3, when(c, WORK))),
    "another value": seq(put(V, flag(read(0))), put(V, 1), when(V[0] > 0, WORK)),
    "the earlier of two": keep(
        small(read(0)), lambda c: keep(small(read(1)), lambda _: when(c, WORK))
    ),
    "one choice": keep(
        read(0), lambda c: keep(tirx.Select(M > 3, c, 7), lambda d: when(small(d), WORK))
    ),
    "the second side": keep(small(read(0)), lambda c: when(tirx.And(M > 3, c), WORK)),
    "a side after what is known": keep(
        small(tirx.min(read(0), 1)), lambda c: when(tirx.And(M > 3, c), WORK)
    ),
    "an unknown choice": keep(
        real(ELSEWHERE),
        lambda e: keep(
            read(0),
            lambda c: keep(tirx.Select(e < 0.5, c, 7), lambda d: when(small(d), WORK)),
        ),
    ),
    "a choice of a real number": keep(
        real(0), lambda c: when(tirx.Select(M > 3, c, tirx.const(1.0, "float32")) < 0.5, WORK)
    ),
    "the first side": keep(small(read(0)), lambda c: when(tirx.Or(c, M > 3), WORK)),
}


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", list(AWAITED))
def test_what_needs_a_number_comes_after_its_read(name: str, count: int | PrimExpr):
    report = turns(count, AWAITED[name])
    assert report.verdict == PROVEN, str(report)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", list(OPEN))
def test_what_nothing_needs_is_not_waited_for(name: str, count: int | PrimExpr):
    report = turns(count, OPEN[name])
    assert report.verdict == NOT_PROVEN, str(report)


def test_states_tell_which_reads_a_variable_is_made_of():
    """It is 1 after either branch, but made of a read after one of them only."""

    def turn(otherwise: Callable[[Var], Stmt]) -> Stmt:
        def chosen(c: Var) -> Stmt:
            return either(other, put(V, c), seq(otherwise(c), put(V, 1)))

        other = Var("other", "bool")
        read_first = tirx.Bind(other, small(read(ELSEWHERE)))
        return seq(when(V[0] > 0, WORK), LOADED, read_first, keep(flag(read(0)), chosen))

    needed = turn(lambda c: when(c > 0, WORK))
    assert check(loop(N, lambda _: needed)).verdict == PROVEN
    left = turn(lambda _: NOTHING)
    assert check(loop(N, lambda _: left)).verdict == NOT_PROVEN


@pytest.mark.parametrize("count", [40, N])
def test_choices_that_states_do_not_tell(count: int | PrimExpr):
    """They are made anew at every turn; from turn 5 on, the number is not needed."""

    def address(i: PrimExpr) -> Stmt:
        return keep(few(read(0)), lambda c: load(1, tirx.Select(i < 5, c, 0)))

    def unknown(i: PrimExpr) -> Stmt:
        one = tirx.const(1.0, "float32")
        return keep(real(0), lambda c: when(tirx.Select(i < 5, c, one) < 0.5, WORK))

    for turn in (address, unknown):
        report = check(loop(count, lambda i, turn=turn: seq(LOADED, turn(i))))
        assert report.verdict == NOT_PROVEN, str(report)


@pytest.mark.parametrize("last", [5, 20])
def test_turns_are_not_alike_if_other_reads_are_needed(last: int):
    """From turn ``last`` on, the address is another number."""

    def turn(i: PrimExpr) -> Stmt:
        def chosen(c: Var) -> Stmt:
            return keep(tirx.Select(i < last, c, 0), lambda at: load(1, at))

        return seq(LOADED, keep(few(read(0)), chosen))

    for count in (last, 40):
        report = check(loop(count, turn))
        assert report.verdict == (PROVEN if count == last else NOT_PROVEN), str(report)


def early(*body: Stmt) -> str:
    """The verdict where what the body reads of tile 0 may not be loaded yet."""
    return check(load(0, 0), *body).verdict


def test_a_read_that_nothing_needs_is_no_error():
    assert early(keep(small(read(0)))) == NOT_PROVEN
    assert early(when(small(read(0)), NOTHING)) == NOT_PROVEN
    assert early(keep(small(read(0)), lambda c: when(c, NOTHING))) == NOT_PROVEN
    needed = keep(small(read(ELSEWHERE)), lambda c: when(c, WORK))
    assert early(keep(small(read(0))), needed) == NOT_PROVEN


def test_a_read_that_is_needed_is_one():
    assert early(when(small(read(0)), WORK)) == REFUSED
    assert early(keep(small(read(0)), lambda c: when(c, WORK))) == REFUSED
    both = seq(put(V, read(0)), put(V, V[0] + read(ELSEWHERE)))
    assert early(both) == NOT_PROVEN
    assert early(both, when(small(V[0]), WORK)) == REFUSED


def test_a_read_that_is_needed_with_some_inputs_is_one():
    """The ways through the kernel that are walked first do not need it."""
    assert early(keep(small(read(0)), lambda c: when(M > 3, when(c, WORK)))) == REFUSED

    def last(c: Var) -> Stmt:
        return either(M > 3, NOTHING, either(tirx.EQ(N, 12345), NOTHING, when(c, WORK)))

    assert early(keep(small(read(0)), last)) == REFUSED


def test_what_was_written_before_a_read_that_may_be_waited_for():
    """The scalar pipe completes in order: after such a read, what it wrote before is there."""

    def stored(*body: Stmt) -> str:
        return check(write(ELSEWHERE), *body, store(0, 8)).verdict

    kept = small(read(TILE))
    assert stored() == REFUSED
    assert stored(keep(kept)) == REFUSED
    assert stored(keep(kept, lambda c: when(c, WORK))) == PROVEN
    assert stored(keep(kept, lambda c: when(c, NOTHING))) == NOT_PROVEN
    assert stored(keep(kept, lambda c: when(tirx.And(M > 3, c), WORK))) == NOT_PROVEN


SIDES = {
    "and": lambda more, number: tirx.And(more, small(number)),
    "or": lambda more, number: tirx.Or(tirx.Not(more), small(number)),
    "select": lambda more, number: small(tirx.Select(more, number, 1)),
    "if_then_else": lambda more, number: small(
        tirx.call_intrin("int32", "tirx.if_then_else", more, number, tirx.const(1, "int32"))
    ),
    "nested": lambda more, number: tirx.And(N > 2, tirx.Or(tirx.Not(more), small(number))),
}


@pytest.mark.parametrize("name", list(SIDES))
def test_a_read_on_a_side_is_waited_for_where_that_side_counts(name: str):
    """Where it does not, the read does not happen, and what was written before may not be there."""
    side = SIDES[name]

    def stored(more: PrimExpr) -> str:
        return check(write(ELSEWHERE), when(side(more, read(TILE)), WORK), store(0, 8)).verdict

    assert stored(M > 3) == NOT_PROVEN
    assert stored(real(2 * TILE) < 0.5) == NOT_PROVEN
    for body in (
        when(side(M > 3, read(0)), WORK),
        keep(side(M > 3, read(0)), lambda c: when(c, WORK)),
    ):
        for count in COUNTS:
            report = turns(count, body)
            assert report.verdict == PROVEN, str(report)


def test_a_read_on_a_side_goes_wrong_only_where_that_side_counts():
    assert early(when(tirx.And(M > 3, small(read(0))), WORK)) == REFUSED
    never = tirx.And(M > 3, tirx.And(M < 3, small(read(0))))
    assert early(when(never, WORK)) == PROVEN
    first = tirx.And(N >= 0, tirx.And(N < 1, small(read(N * 1_000_000))))
    assert turns(1, when(first, WORK)).verdict == PROVEN


def test_a_read_on_a_side_of_an_operand_is_not_waited_for():
    choice = tirx.Select(M > 3, read(TILE), 1)
    for body in (load(1 + few(choice), 0), write(ELSEWHERE + TILE, choice)):
        assert check(write(ELSEWHERE), body, store(0, 8)).verdict == NOT_PROVEN
