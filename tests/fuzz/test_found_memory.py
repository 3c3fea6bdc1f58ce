"""What random programs have shown of buffers: their bytes and their versions.

TileLang puts or finds them in the wrong place and says nothing, so the generator leaves these out.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.fuzz import exclusions
from tests.fuzz.judge import AGREED_WRONG, FALSE_ALARM, MISSED, RIGHT, judge
from tests.fuzz.lowering import ours
from tests.fuzz.model import (
    INT,
    UB,
    WIDTH,
    Buffer,
    Cell,
    Condition,
    Expr,
    If,
    Load,
    Loop,
    Part,
    Program,
    Ref,
    Stmt,
    Store,
    UbCell,
    Vec,
    While,
)
from tests.fuzz.small import ROW, one_row


def test_a_bound_in_ub_is_read_at_every_turn(tmp_path: Path) -> None:
    """Without a schedule the integers and the loaded tile share bytes, so the loop ends early."""
    rows, half = Part(0, 4, 0, WIDTH), Part(0, 4, 32, 32)
    twos = Vec(False, Ref("b"), None, 0, False, Expr(constant=2), rows)
    load = Load(Ref("a"), "X", Expr(((1, "i"),), 2, 8), rows)
    work = (twos, load, Store(Ref("b"), "Y", Expr(((1, "i"),), 0, 8), half))
    loop = Loop("i", "serial", Expr(((1, UbCell("int0", 5)),)), work)
    integers = Load(Ref("int0"), "U", Expr(), rows)
    buffers = (Buffer("a", UB), Buffer("b", UB), Buffer("int0", INT))
    program = replace(one_row("bound_in_ub", integers, loop, buffers=buffers), rows=4)
    (outcome,) = judge([replace(program, scheduled=False)], tmp_path, "stock")
    assert exclusions.excluded(outcome.program)
    assert outcome.kind == AGREED_WRONG, outcome.detail


def given_away(name: str, *, counted: bool, read_after: bool) -> Program:
    """A tile filled before a loop and read at every turn, before the loop fills another one."""
    first, second = Ref("first"), Ref("second")
    work = (
        Store(first, "Y", Expr(((1, "i"),)), ROW),
        Vec(False, second, None, 0, False, Expr(constant=1), ROW),
        Store(second, "Y", Expr(((1, "i"),), 4), ROW),
    )
    turns = Expr(constant=2)
    loop = Loop("i", "serial", turns, work) if counted else While("i", turns, work)
    after = (Store(first, "Y", Expr((), 2), ROW),) if read_after else ()
    buffers = (Buffer("first", UB), Buffer("second", UB))
    program = one_row(name, Load(first, "X", Expr(), ROW), loop, *after, buffers=buffers)
    return replace(program, scheduled=False)


@pytest.mark.parametrize("counted", [True, False])
def test_a_tile_that_the_next_turn_reads_has_given_away_its_bytes(
    counted: bool, tmp_path: Path
) -> None:
    """TileLang's packing without a schedule looks for later statements, not for later turns."""
    wrong = given_away("given_away", counted=counted, read_after=False)
    kept = given_away("kept", counted=counted, read_after=True)
    assert exclusions.excluded(wrong) and exclusions.excluded(wrong, ours("ours"))
    assert not exclusions.excluded(kept)
    assert not exclusions.excluded(replace(wrong, scheduled=True))
    outcome, right = judge([wrong, kept], tmp_path, "stock")
    assert outcome.kind == AGREED_WRONG, outcome.detail
    assert "second replaces what buffer first still needs" in outcome.detail
    assert right.kind == RIGHT, right.detail


def loops_alone(name: str, *first: Stmt, beside: bool, versions: int | None = None) -> Program:
    """A buffer filled in one loop, changed and stored in another; named beside them or not."""
    tile, turns = Ref("a"), Expr(constant=2)
    fill = Loop("i", "pipelined", turns, (Load(tile, "X", Expr(), ROW),), stages=3)
    store = Store(tile, "Y", Expr(((1, "j"),)), ROW)
    body = (fill, Loop("j", "serial", turns, (*first, store)))
    after = (Store(tile, "Y", Expr((), 4), ROW),) if beside else ()
    return one_row(name, *body, *after, buffers=(Buffer("a", UB, versions=versions),))


LEFT_ROW = Part(0, 1, 0, WIDTH // 2)
IN_PART = {
    "load": Load(Ref("a"), "X", Expr((), 1), LEFT_ROW),
    "SIMT": Vec(False, Ref("a"), None, 0, False, Expr(constant=1), LEFT_ROW),
    "SIMD": Vec(True, Ref("a"), Ref("a"), 2, False, Expr(constant=1), ROW),
}


@pytest.mark.parametrize("passes", ["ours", "stock"])
def test_the_next_version_is_begun_with_a_part(passes: str, tmp_path: Path) -> None:
    """All is in order, so the check has nothing to say; what is read has never been written."""
    wrong = [loops_alone(f"part_{each}", IN_PART[each], beside=False) for each in IN_PART]
    wrong.append(loops_alone("part_asked", IN_PART["load"], beside=False, versions=3))
    whole = replace(IN_PART["load"], part=ROW)
    seen = replace(IN_PART["SIMD"], simd=False)
    right = [loops_alone("part_beside", IN_PART["load"], beside=True)]
    right += [loops_alone(f"whole_{at}", s, beside=False) for at, s in enumerate((whole, seen))]
    assert all(exclusions.excluded(each, ours(passes)) for each in wrong)
    assert not any(exclusions.excluded(each, ours(passes)) for each in right)
    for outcome in judge(wrong, tmp_path, passes):
        assert outcome.kind == MISSED, outcome.detail
        assert "never-written" in outcome.detail
    for outcome in judge(right, tmp_path, passes):
        assert outcome.kind == RIGHT, outcome.detail


def unpacked(program: Program) -> Program:
    """The same with bytes of its own for each buffer."""
    reuse = (("tl.disable_shared_memory_reuse", True),)
    return replace(program, name=f"{program.name}_unpacked", configs=reuse)


def test_integers_that_a_guard_asks_for_have_given_away_their_bytes(tmp_path: Path) -> None:
    """Without a schedule; refused also where the wrong numbers do not reach GM."""
    test = Condition(Expr(((1, UbCell("int0", 1)),)), Expr(constant=2))
    guard = If(test, (Store(Ref("a"), "Y", Expr((), 3), ROW),))
    integers, load = Load(Ref("int0"), "U", Expr((), 1), ROW), Load(Ref("a"), "X", Expr(), ROW)
    program = one_row(
        "asked", integers, load, guard, buffers=(Buffer("a", UB), Buffer("int0", INT))
    )
    _refused_where_bytes_are_shared(replace(program, scheduled=False), "int0", tmp_path)


def test_what_is_loaded_beyond_a_tensor_leaves_what_there_was(tmp_path: Path) -> None:
    """With one row, nothing is loaded at the second turn; the first one's tile is replaced."""
    ones = Vec(False, Ref("a"), None, 0, False, Expr(constant=1), ROW)
    work = (ones, Load(Ref("b"), "X", Expr(((2, "i"),), 0, 8), ROW))
    store = Store(Ref("b"), "Y", Expr(), ROW)
    loop = Loop("i", "serial", Expr(constant=2), (*work, store))
    program = one_row("beyond", loop, buffers=(Buffer("a", UB), Buffer("b", UB)))
    program = replace(program, scheduled=False, open_rows=True)
    _refused_where_bytes_are_shared(program, "b", tmp_path)


def test_integers_loaded_beyond_a_tensor_are_those_of_the_turn_before(tmp_path: Path) -> None:
    """Nothing is loaded at the next turn, and the guard asks for bytes that its body has filled.

    Rightly refused; ``meaning`` knows nothing of such turns, so that no numbers are compared.
    """
    integers = Load(Ref("int0"), "U", Expr(((1, Cell("P", Expr(((1, "i"),), 0, 8))),)), ROW)
    test = Condition(Expr(((1, UbCell("int0", 5)),)), Expr(constant=2))
    work = (Vec(False, Ref("a"), None, 0, False, Expr(constant=-1), ROW),)
    guard = If(test, (*work, Store(Ref("a"), "Y", Expr(), ROW)))
    loop = Loop("i", "serial", Expr(constant=2), (integers, guard))
    program = one_row("integers_beyond", loop, buffers=(Buffer("a", UB), Buffer("int0", INT)))
    program = replace(program, scheduled=False)
    within = Loop("i", "serial", Expr(constant=2), (replace(integers, slot=Expr()), guard))
    right = [unpacked(program), replace(program, name="integers_within", body=(within,))]
    assert exclusions.excluded(program) and not any(map(exclusions.excluded, right))
    wrong, *kept = judge([program, *right], tmp_path, "stock")
    assert wrong.kind == FALSE_ALARM, wrong.detail
    assert "a replaces what buffer int0 still needs" in wrong.detail
    for outcome in kept:
        assert outcome.kind == RIGHT, outcome.detail


def _refused_where_bytes_are_shared(program: Program, name: str, folder: Path) -> None:
    right = unpacked(program)
    assert exclusions.excluded(program) and not exclusions.excluded(right)
    wrong, kept = judge([program, right], folder, "stock")
    assert wrong.kind == AGREED_WRONG, wrong.detail
    assert f"replaces what buffer {name} still needs" in wrong.detail
    assert kept.kind == RIGHT, kept.detail
