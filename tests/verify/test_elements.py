"""Elements of a tensor that the scalar programs read, turn by turn."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import tilelang  # noqa: F401  # puts tvm on the path
from tvm import tirx
from tvm.tirx import PrimExpr, PrimFunc, Stmt, Var
from tvm.tirx import floormod as mod

from tests.verify.device import barrier, kernel, load, loop, seq, store, when
from tilelang_ascend_sched.verify import PROVEN, REFUSED, verify

N = Var("n", "int32")
Q = tirx.decl_buffer([8], "int32", "Q")
WRONG = seq(load(0, 0), store(1, 0), barrier("PIPE_ALL"))


def asked(i: PrimExpr) -> Stmt:
    return when(tirx.EQ(Q[mod(i, 8)], 1), WRONG)


def counted(i: PrimExpr) -> Stmt:
    return loop(Q[mod(i, 8)], lambda _: WRONG)


def known_fine(elements: int, turn: Callable[[PrimExpr], Stmt]) -> PrimFunc:
    """A loop that is only entered if none of the first elements makes its turn go wrong."""
    body = loop(N, lambda i: seq(load(0, i), barrier("PIPE_ALL"), turn(i)))
    for i in range(elements):
        body = when(Q[i] < 1, body)
    return kernel(tirx.DeclBuffer(Q), body, scalars=(Q.data, N))


@pytest.mark.parametrize("turn", [asked, counted])
@pytest.mark.parametrize("elements", [0, 1, 3, 7, 8])
def test_what_is_known_of_some_elements_says_nothing_of_others(turn, elements: int):
    report = verify(known_fine(elements, turn))
    assert report.verdict == (PROVEN if elements == 8 else REFUSED), str(report)


def test_lengths_read_anew_at_every_turn():
    """The number of the turn only decides which element is read."""

    def turn(i: PrimExpr) -> Stmt:
        length = Var("length", "int32")
        inner = loop(length, lambda j: seq(load(0, j), barrier("PIPE_ALL")))
        return seq(tirx.Bind(length, Q[mod(i, 8)]), inner)

    report = verify(kernel(tirx.DeclBuffer(Q), loop(N, turn), scalars=(Q.data, N)))
    assert report.verdict == PROVEN, str(report)
