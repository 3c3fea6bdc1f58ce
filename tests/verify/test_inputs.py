"""What is known of run-time inputs settles no more than it says.

Each kernel is judged with inputs that are not known, and with many numbers for them. Where all it
does wrong is behind a guard, the check has to find numbers with which the guard opens, however
many turns that takes; where it is proven, no numbers may make it wrong. ``VERIFY_EXAMPLES`` sets
how many random ones are tried.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import tilelang  # noqa: F401  # puts tvm on the path
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tvm import tirx
from tvm.tirx import PrimExpr, PrimFunc, Stmt, Var
from tvm.tirx import floordiv as div
from tvm.tirx import floormod as mod

from tests.verify.device import (
    barrier,
    kernel,
    load,
    loop,
    part_load,
    part_store,
    seq,
    set_flag,
    store,
    wait_flag,
    when,
)
from tilelang_ascend_sched.verify import NOT_PROVEN, PROVEN, REFUSED, VerifyReport, verify

N, M = Var("n", "int32"), Var("m", "int32")
WRONG = seq(load(0, 0), store(1, 0), barrier("PIPE_ALL"))


def fine(i: PrimExpr) -> Stmt:
    return seq(load(0, i), barrier("PIPE_ALL"))


def number(value: int | PrimExpr) -> PrimExpr:
    return tirx.IntImm("int32", value) if isinstance(value, int) else value


def goes_wrong(condition: Callable[[PrimExpr], PrimExpr]) -> Callable[[PrimExpr], Stmt]:
    return lambda i: seq(fine(i), when(condition(i), WRONG))


def inner_loop(length: Callable[[PrimExpr], PrimExpr]) -> Callable[[PrimExpr], Stmt]:
    return lambda i: seq(fine(i), loop(length(i), lambda _: WRONG))


LATE = {
    "at least": (M, N, goes_wrong(lambda i: i >= M)),
    "equal": (M, N, goes_wrong(lambda i: tirx.EQ(i, M))),
    "another rate": (N, M, goes_wrong(lambda i: 2 * i >= N)),
    "the end, shifted": (N, N, goes_wrong(lambda i: i - 2 >= N - 4)),
    "the end, another rate": (N, N, goes_wrong(lambda i: 2 * i >= N + 3)),
    "remainder": (M, N, goes_wrong(lambda i: 2 * i > mod(M, 7) + 8)),
    "minimum": (M, N, goes_wrong(lambda i: tirx.min(8, M - i) < 2)),
    "last tile": (N, div(N + 31, 32), goes_wrong(lambda i: tirx.min(32, N - 32 * i) < 5)),
    "length": (M, N, inner_loop(lambda i: tirx.max(i - M, 0))),
    "clamped length": (M, N, inner_loop(lambda i: tirx.min(tirx.max(i - M, 0), 3))),
    "inside": (M, N, lambda i: loop(M, goes_wrong(lambda _: i > M + 3))),
    "tiles": (
        N,
        div(N + 31, 32),
        lambda i: seq(
            loop(tirx.min(32, N - 32 * i), fine), when(tirx.min(32, N - 32 * i) < 5, WRONG)
        ),
    ),
}
"""What is known, the number of turns, and the turn."""


@pytest.mark.parametrize("known", [0, 3, 7, 40])
@pytest.mark.parametrize("late", LATE)
def test_what_is_known_settles_only_the_first_turns(late: str, known: int):
    of, turns, turn = LATE[late]
    report = verify(kernel(when(of > known, loop(turns, turn)), scalars=(N, M)))
    assert report.verdict == REFUSED, str(report)


@pytest.mark.parametrize("known", [0, 1, 3, 40])
def test_a_loop_that_turns_for_sure_ends_as_well(known: int):
    report = verify(kernel(when(known < N, loop(N, fine), WRONG), scalars=(N, M)))
    assert report.verdict == REFUSED, str(report)


@pytest.mark.parametrize("known", [0, 1, 5])
@pytest.mark.parametrize("ahead", [1, 2])
def test_loads_ahead_of_a_loop(known: int, ahead: int):
    """What is known before the loop tells which loads ahead of it there are."""

    def ask(i: PrimExpr) -> Stmt:
        return seq(load(mod(i, 3), i), set_flag("MTE2_MTE3", mod(i, 3)))

    def turn(i: PrimExpr) -> Stmt:
        more = when(i + ahead < N, ask(i + ahead))
        return seq(
            wait_flag("MTE2_MTE3", mod(i, 3)), more, store(i, mod(i, 3)), barrier("PIPE_ALL")
        )

    first = [when(i < N, ask(number(i))) for i in range(ahead)]
    report = verify(kernel(when(known < N, *first, loop(N, turn)), scalars=(N, M)))
    assert report.verdict == PROVEN, str(report)


U = tirx.decl_buffer([1], "int32", "u", scope="local.var")


def doubtful() -> Stmt:
    """Never wrong, but not proven: the condition of the loop is forgotten in its next turn."""
    turn = seq(when(M < 1, WRONG), tirx.BufferStore(U, number(1), [0]))
    return seq(tirx.BufferStore(U, number(0), [0]), tirx.While(U[0] < M, turn))


def test_inputs_name_all_that_makes_a_kernel_wrong():
    """Also what is only asked in the run with inputs that were found for another doubt."""
    report = verify(kernel(doubtful(), when(N > 6, WRONG), scalars=(N, M)))
    assert report.verdict == REFUSED, str(report)
    assert named(report)["n"] > 6, str(report)


def test_what_no_inputs_do_is_no_error():
    never = when(tirx.EQ(mod(N, 2), 0), when(tirx.EQ(mod(N, 4), 1), WRONG))
    report = verify(kernel(doubtful(), never, scalars=(N, M)))
    assert report.verdict == NOT_PROVEN, str(report)


Terms = tuple[int, int, int, int, int]  # factors of i, j, n, m, and 1


@dataclass(frozen=True)
class Inner:
    """A loop in a turn: ``min(most, end)`` turns, where ``end`` is a sum."""

    end: Terms
    most: int
    guard: Terms
    wrong: Terms


@dataclass(frozen=True)
class Program:
    known: tuple[Terms, ...]
    turns: int
    guards: tuple[Terms, ...]
    wrong: Terms
    inner: Inner | None
    after: Terms

    def build(self, n: int | PrimExpr, m: int | PrimExpr) -> PrimFunc:
        zero = number(0)

        def total(terms: Terms, i: PrimExpr = zero, j: PrimExpr = zero) -> PrimExpr:
            a, b, c, d, e = terms
            return i * a + j * b + number(n) * c + number(m) * d + e

        def inner(i: PrimExpr) -> list[Stmt]:
            if self.inner is None:
                return []
            shape = self.inner

            def turn(j: PrimExpr) -> Stmt:
                one = when(total(shape.guard, i, j) <= 0, load(0, j), barrier("PIPE_ALL"))
                return seq(one, when(total(shape.wrong, i, j) > 12, WRONG))

            return [loop(tirx.max(tirx.min(total(shape.end, i), shape.most), 0), turn)]

        def turn(i: PrimExpr) -> Stmt:
            first = total(self.guards[0], i) <= 0
            again = total(self.guards[-1], i) <= 0
            return seq(
                when(first, set_flag("MTE2_V", 0)),
                part_load(0, total(self.wrong, i)),
                barrier("PIPE_ALL"),
                *inner(i),
                when(again, wait_flag("MTE2_V", 0)),
                when(total(self.wrong, i) > 10, WRONG),
                part_store(0, total(self.guards[0], i)),
                barrier("PIPE_ALL"),
            )

        lengths = (number(n), number(n) - 2, div(number(n) + 3, 4), number(m) + 1)
        body = [loop(lengths[self.turns], turn), when(total(self.after) > 8, WRONG)]
        for terms in self.known:
            body = [when(total(terms) > 0, *body)]
        return kernel(*body, scalars=tuple(v for v in (n, m) if isinstance(v, Var)))


def sums(i: int, j: int) -> st.SearchStrategy[Terms]:
    factor = st.sampled_from([0, 0, 1, -1, 1, -1, 2, -4])
    inside = st.sampled_from([0, 1, 1, -1, 2, -4])
    return st.tuples(
        inside if i else st.just(0),
        inside if j else st.just(0),
        factor,
        factor,
        st.integers(-6, 6),
    )


inners = st.builds(Inner, sums(1, 0), st.sampled_from([3, 100]), sums(1, 1), sums(1, 1))
programs = st.builds(
    Program,
    st.lists(sums(0, 0), max_size=2).map(tuple),
    st.integers(0, 3),
    st.lists(sums(1, 0), min_size=1, max_size=2).map(tuple),
    sums(1, 0),
    st.one_of(st.none(), inners),
    sums(0, 0),
)
EXAMPLES = int(os.environ.get("VERIFY_EXAMPLES", "60"))
NUMBERS = (*range(10), 13, 17)


def named(report: VerifyReport) -> dict[str, int]:
    """The inputs with which a finding was seen."""
    text = next(finding.inputs for finding in report.findings if finding.certain)
    return {name: int(value) for name, value in re.findall(r"(\w+) = (-?\d+)", text)}


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES == 60,
    suppress_health_check=list(HealthCheck),
)
@given(programs)
def test_same_verdict_as_with_numbers(program: Program):
    report = verify(program.build(N, M))
    if report.verdict == REFUSED:
        inputs = named(report)
        again = verify(program.build(inputs.get("n", 0), inputs.get("m", 0)))
        assert again.verdict == REFUSED, f"{report}\n{again}"
    elif report.verdict == PROVEN:
        for n, m in itertools.product(NUMBERS, NUMBERS):
            other = verify(program.build(n, m))
            assert other.verdict != REFUSED, f"{program}\n{report}\nwith n = {n}, m = {m}: {other}"
    else:
        assert report.verdict == NOT_PROVEN
