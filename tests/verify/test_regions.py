"""Regions whose ends run-time inputs decide: told apart only by what holds at every turn."""

from __future__ import annotations

import pytest
import tilelang  # noqa: F401  # puts tvm on the path
from tvm import tirx
from tvm.tirx import PrimExpr, PrimFunc, Stmt, Var

from tests.verify.device import TILE, barrier, kernel, loop, part_load, part_store, seq
from tests.verify.lowered import small
from tilelang_ascend_sched.verify import PROVEN, verify

N, M = Var("n", "int32"), Var("m", "int32")
BARRIER = barrier("PIPE_MTE2")


def until(end: PrimExpr | int) -> Stmt:
    """Loads the elements of tile 0 before ``end``."""
    return part_load(0, end)


def since(start: PrimExpr | int) -> Stmt:
    """Loads the elements of tile 0 from ``start`` on."""
    return part_load(start, TILE)


def verdict(func: PrimFunc) -> str:
    return verify(func).verdict


def test_what_fills_the_rest_of_a_tile_is_apart_for_any_number():
    """Elements before and after ``n``, also where ``n`` is beyond the tile."""
    assert verdict(kernel(until(N), since(N), scalars=(N,))) == PROVEN
    assert verdict(kernel(until(N + 1), since(N), scalars=(N,))) != PROVEN
    # Each end is a minimum of its own.
    assert verdict(kernel(until(N - 3), since(N), scalars=(N,))) == PROVEN
    assert verdict(kernel(since(N), until(tirx.max(N - 3, 0)), scalars=(N,))) == PROVEN
    assert verdict(kernel(until(N), since(N - 3), scalars=(N,))) != PROVEN


def test_rows_filled_under_a_guard_that_comes_later():
    """``gemm_grouped`` fills rows of a last tile before it knows whether it loads the others."""
    report = small("gemm_grouped").check()
    assert report.verdict == PROVEN, str(report)
    assert report.paths < 100


def in_one_turn(n, turns, a: tuple[int, int], b: tuple[int, int]) -> PrimFunc:
    turn = lambda i: seq(until(n + a[0] + a[1] * i), since(n + b[0] + b[1] * i), BARRIER)  # noqa: E731
    return kernel(loop(turns, turn), scalars=(N, M))


def in_two_loops(n, turns, a: tuple[int, int], b: tuple[int, int]) -> PrimFunc:
    """Of the first loop only the last turn is unordered with the second one's."""
    first = loop(turns, lambda i: seq(BARRIER, since(n + a[0] + a[1] * i)))
    second = loop(turns, lambda i: seq(until(n + b[0] + b[1] * i), BARRIER))
    return kernel(first, second, scalars=(N, M))


def beside_a_store(n, turns, a: tuple[int, int], b: tuple[int, int]) -> PrimFunc:
    """The start cannot meet a fixed end at the first turns."""
    turn = lambda i: seq(since(n + 128 + b[0] + b[1] * i), BARRIER)  # noqa: E731
    return kernel(part_store(0, 64 + a[0]), loop(turns, turn), scalars=(N, M))


CASES = [
    *[(in_one_turn, (0, 0), (0, 0)), (in_one_turn, (0, -32), (0, -32))],
    *[(in_one_turn, (-32, 16), (0, 0)), (in_one_turn, (-64, 16), (0, 0))],
    *[(in_two_loops, (0, 0), (0, 0)), (in_two_loops, (0, -32), (0, -32))],
    *[(beside_a_store, (0, 0), (0, 0)), (beside_a_store, (0, 0), (0, -32))],
    *[(beside_a_store, (0, 0), (1000, -32)), (beside_a_store, (0, 0), (0, 16))],
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_proven_only_if_proven_with_every_number(number):
    build, a, b = CASES[number]
    if verdict(build(N, M, a, b)) != PROVEN:
        return
    for turns in (1, 2, 3, 6, 40):
        for n in (0, 1, 7, 32, 100, 200, 256, 1000):
            report = verify(build(tirx.IntImm("int32", n), turns, a, b))
            assert report.verdict == PROVEN, f"n = {n}, {turns} turns\n{report}"


@pytest.mark.parametrize("case", [CASES[0], CASES[1], CASES[4]])
def test_what_is_the_same_at_every_turn_is_proven(case):
    build, a, b = case
    assert verdict(build(N, M, a, b)) == PROVEN
