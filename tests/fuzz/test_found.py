"""What random programs have shown, each at its smallest.

``WRONG``, ``SILENT``: TileLang's InsertSync synchronizes these wrongly, and the check, the race
check and numpy agree on it. Of the first it warns; the others the generator leaves out.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.fuzz import exclusions
from tests.fuzz.counts import MUTANT
from tests.fuzz.execute import Batch
from tests.fuzz.judge import AGREED_WRONG, RIGHT, WARNED, Trial, compare, judge
from tests.fuzz.lowering import lower, ours
from tests.fuzz.model import (
    HALF,
    INT,
    L0C,
    L1A,
    L1B,
    UB,
    WIDTH,
    Buffer,
    Cell,
    Condition,
    Expr,
    Gemm,
    Hint,
    If,
    Load,
    Loop,
    Narrow,
    Part,
    Program,
    Ref,
    Store,
    ToL1,
    ToUb,
    UbCell,
    Vec,
    While,
)
from tests.fuzz.mutants import finish
from tests.fuzz.small import ROW, one_row
from tests.verify.mutate import mutants, replaced


def restarted_ring(turns: int) -> Program:
    """Three slots, indexed by an inner loop that starts again for each turn of the outer one."""
    slot, row = Expr(((1, "j"),), 0, 3), Expr(((1, "j"),))
    inner = (Load(Ref("ring", slot), "X", row, ROW), Store(Ref("ring", slot), "Y", row, ROW))
    nest = Loop("i", "serial", Expr(constant=2), (Loop("j", "serial", Expr((), turns), inner),))
    return one_row(f"restarted_ring_{turns}", nest, buffers=(Buffer("ring", UB, ring=3),))


def conflict(name: str, *, outside: bool) -> Program:
    """Two buffers said to be in conflict, in a loop or around it."""
    hint = Hint(buffers=("a", "b"))
    ones = Vec(False, Ref("b"), None, 1, False, Expr(constant=1), ROW)
    work = (ones, Load(Ref("a"), "X", Expr(), ROW))
    inner = Loop("j", "serial", Expr(constant=2), work if outside else (hint, *work))
    outer = Loop("i", "serial", Expr(constant=2), (hint, inner) if outside else (inner,))
    store = Store(Ref("a"), "Y", Expr(), ROW)
    return one_row(name, outer, store, buffers=(Buffer("a", UB), Buffer("b", UB)))


def offset_loop(name: str, turns_with_work: int) -> Program:
    """A store and what overwrites its source, in the first turns only of a loop with offsets."""
    row = Ref("a")
    work = (Store(row, "Y", Expr(), ROW), Vec(False, row, row, -1, False, Expr(), ROW))
    test = Condition(Expr(((1, "i"),)), Expr(constant=turns_with_work))
    loop = Loop("i", "pipelined", Expr(constant=2), (If(test, work),), offset=True)
    return one_row(name, Load(row, "X", Expr(), ROW), loop, buffers=(Buffer("a", UB),))


def guarded_ring(name: str, modulus: int) -> Program:
    """Two slots, used in every ``modulus``-th of three turns."""
    slot, turn = Expr(((1, "i"),), 0, 2), Expr(((1, "i"),), 0, modulus)
    ring = Ref("ring", slot)
    work = (Load(ring, "X", Expr(), ROW), Store(ring, "Y", Expr(), ROW))
    loop = Loop("i", "serial", Expr(constant=3), (If(Condition(turn, Expr(constant=1)), work),))
    return one_row(name, loop, buffers=(Buffer("ring", UB, ring=2),))


def ring_filled_ahead(name: str) -> Program:
    """Two slots, of which the other one is loaded for the next turn."""
    turn, turns = ((1, "i"),), Expr(constant=3)
    now, ahead = Ref("ring", Expr(turn, 0, 2)), Ref("ring", Expr(turn, 1, 2))
    more = If(Condition(Expr(turn, 1), turns), (Load(ahead, "X", Expr(turn, 1), ROW),))
    work = Vec(False, now, now, 1, False, Expr(constant=1), ROW)
    loop = Loop("i", "serial", turns, (more, work, Store(now, "Y", Expr(turn), ROW)))
    first = Load(Ref("ring", Expr()), "X", Expr(), ROW)
    return one_row(name, first, loop, buffers=(Buffer("ring", UB, ring=2),))


def carried_operand(name: str, versions: int) -> Program:
    """Cube and Vector in turns: Vector makes the left operand of a product of the one before."""
    whole = Part(0, 16, 0, WIDTH)
    turns = Expr(constant=2)
    around = (
        Gemm("left", "right", "sums", True),
        ToUb("sums", Ref("tile")),
        Narrow(Ref("half"), Ref("tile")),
        ToL1(Ref("half"), "left"),
    )
    nest = Loop(
        "i",
        "serial",
        turns,
        (Load(Ref("left"), "A", Expr(), whole), Loop("j", "serial", turns, around)),
    )
    body = (Load(Ref("right"), "B", Expr(), whole), nest, Store(Ref("tile"), "Y", Expr(), whole))
    buffers = (
        Buffer("tile", UB),
        Buffer("half", HALF),
        Buffer("left", L1A, versions=versions),
        Buffer("right", L1B),
        Buffer("sums", L0C),
    )
    return Program(name, "mix", 16, 1, "float16", False, False, True, (), buffers, body)


def slots_named_after(name: str, versions: int) -> Program:
    """Three tiles are loaded in an inner loop; that with slots is stored after it."""
    turns, slots = Expr(constant=2), Ref("slots")
    work = (
        *(Load(Ref(each), "X", Expr((), at), ROW) for at, each in enumerate(("a", "slots", "b"))),
        *(Vec(False, Ref(each), slots, 2, True, Expr(), ROW) for each in ("a", "b")),
    )
    store = Store(slots, "Y", Expr((), 3), ROW)
    outer = Loop("i", "serial", turns, (Loop("j", "serial", turns, work), store))
    ends = (Store(Ref(each), "Y", Expr((), at), ROW) for at, each in enumerate("ab"))
    buffers = (Buffer("slots", UB, versions=versions), Buffer("a", UB), Buffer("b", UB))
    return one_row(name, outer, *ends, buffers=buffers)


def unread_operand(name: str, *, read: bool) -> Program:
    """Beside an inner loop that multiplies, another left operand is loaded for nothing, or not."""
    whole, turns = Part(0, 1, 0, WIDTH), Expr(constant=2)
    right, other = (Load(Ref(each), *slot, whole) for each, slot in OPERANDS.items())
    work = (Load(Ref("left"), "A", Expr(), whole), Gemm("left", "right", "sums", True))
    product = (Gemm("other", "right", "sums", True),) if read else ()
    body = (Loop("j", "serial", turns, work), right, other, *product)
    store = Store(Ref("sums"), "C", Expr(), whole)
    nest = (right, Loop("i", "serial", turns, body), store)
    buffers = (
        Buffer("left", L1A),
        Buffer("other", L1A),
        Buffer("right", L1B),
        Buffer("sums", L0C),
    )
    return Program(name, "cube", 1, 1, "float16", True, False, True, (), buffers, nest)


def used_in_other_ways(name: str, *, every: bool) -> Program:
    """A tile is loaded and stored in one turn, filled by Vector in the other; or stored in both."""
    tile = Ref("a")
    first = (Load(tile, "X", Expr(), ROW), Store(tile, "Y", Expr(), ROW))
    other = Vec(False, tile, None, 0, False, Expr(constant=1), ROW)
    guard = If(Condition(Expr(((1, "i"),)), Expr(constant=1)), first, (other,))
    after = (Store(tile, "Y", Expr((), 1), ROW),) if every else ()
    loop = Loop("i", "pipelined", Expr(constant=2), (guard, *after), stages=3)
    return one_row(name, loop, buffers=(Buffer("a", UB),))


def stored_and_filled_again(name: str, *, fills: bool = True) -> Program:
    """An inner loop stores what the outer one loads; if it ``fills``, it then fills it anew."""
    load, store = Load(Ref("a"), "X", Expr(), ROW), Store(Ref("a"), "Y", Expr(), ROW)
    made = Vec(False, Ref("a"), Ref("b"), 1, False, Expr((), -1), ROW)
    inner = Loop("j", "serial", Expr(constant=2), (store, made) if fills else (store,))
    outer = Loop("i", "pipelined", Expr(constant=2), (load, inner), stages=3)
    other = Load(Ref("b"), "X", Expr(), ROW)
    program = one_row(name, other, outer, buffers=(Buffer("a", UB), Buffer("b", UB)))
    return replace(program, configs=(("tl.ascend_sched.objective", "ii"),))


def restarted_counter(name: str, turns: int, *, again: bool = True, offset: bool = True) -> Program:
    """A loop with offsets in a ``while``, which is in a loop or not; one slot for the left side."""
    whole = Part(0, 1, 0, WIDTH)
    loads = (Load(Ref("left"), "A", Expr(), whole), Load(Ref("right"), "B", Expr(), whole))
    work = (*loads, Gemm("left", "right", "sums", True))
    staged = Loop("j", "pipelined", Expr(constant=turns), work, stages=3, offset=offset)
    counted = While("w", Expr(((1, "n"),)), (staged,))
    body = Loop("i", "serial", Expr(constant=2), (counted,)) if again else counted
    buffers = (Buffer("left", L1A, versions=1), Buffer("right", L1B), Buffer("sums", L0C))
    return Program(name, "cube", 1, 1, "float16", False, True, True, (), buffers, (body,))


OPERANDS = {"right": ("B", Expr()), "other": ("A", Expr())}
WRONG = {
    # Flags stand outside the guard, but as nothing carries over to a next turn, none comes back:
    # the producer sets its flag again before the consumer has waited.
    "one turn of a ring": guarded_ring("ring_once", 3),
    # Nothing carries over to a next turn, so the tasks may be many stages apart, and the guard is
    # put on the loop's turns, not on the flags.
    "one turn of an offset loop": offset_loop("offset_one", 1),
    # One flag is raised for the outer and for the inner loop's next turn.
    "conflict around a loop": conflict("conflict_around", outside=True),
    # The load of the next slot waits in every turn for a flag that is set for this one's.
    "ring filled ahead": ring_filled_ahead("ring_ahead"),
}
SILENT = [
    used_in_other_ways("other_ways", every=False),
    restarted_ring(4),
    carried_operand("carried_2", 2),
    slots_named_after("named_after_2", 2),
    restarted_counter("counter_3", 3),
    stored_and_filled_again("stored_again"),
]
FINE = [
    used_in_other_ways("every_turn", every=True),
    slots_named_after("named_after_1", 1),
    unread_operand("read_operand", read=True),
    restarted_ring(3),
    carried_operand("carried_1", 1),
    conflict("conflict_inside", outside=False),
    offset_loop("offset_all", 2),
    guarded_ring("ring_twice", 2),
    restarted_counter("counter_6", 6),
    restarted_counter("counter_once", 3, again=False),
    restarted_counter("counter_of_its_own", 3, offset=False),
    stored_and_filled_again("stored_once", fills=False),
]


@pytest.mark.parametrize("passes", ["ours", "stock"])
def test_wrong_programs_are_refused_by_all(passes: str, tmp_path: Path) -> None:
    """Or right, where the pass at fault is ours."""
    mine = "InsertSync" in ours(passes)
    outcomes = judge([*WRONG.values(), *SILENT], tmp_path, passes)
    expected = [WARNED] * len(WRONG) + [AGREED_WRONG] * len(SILENT)
    assert [each.kind for each in outcomes] == [RIGHT if mine else kind for kind in expected]


def test_the_generator_leaves_out_what_is_wrong_without_a_warning() -> None:
    assert all(map(exclusions.excluded, SILENT))
    assert not any(map(exclusions.excluded, [*WRONG.values(), *FINE]))


def test_an_operand_that_is_never_read_is_loaded_in_no_order(tmp_path: Path) -> None:
    """With the order of tasks that our solver finds, and whichever passes are ours."""
    program = unread_operand("unread_operand", read=False)
    assert exclusions.excluded(program)
    for passes in ("ours", "stock,EstimateLatency=ours"):
        (outcome,) = judge([program], tmp_path, passes)
        assert outcome.kind == AGREED_WRONG, outcome.detail
        assert "race in L1" in outcome.detail


@pytest.mark.parametrize("passes", ["ours", "stock"])
def test_their_neighbours_are_right(passes: str, tmp_path: Path) -> None:
    for outcome in judge(FINE, tmp_path, passes):
        assert outcome.kind == RIGHT, outcome.detail


def test_what_a_guard_reads_is_read_before_its_body(tmp_path: Path) -> None:
    """The check took the read for open: the tile and the integers share bytes, no flag between."""
    integers = Load(Ref("int0"), "U", Expr(), ROW)
    test = Condition(Expr(((1, UbCell("int0", 0)),)), Expr(constant=2))
    guard = If(test, (Load(Ref("a"), "X", Expr(), ROW),))
    buffers = (Buffer("a", UB), Buffer("int0", INT))
    program = one_row("guard_reads", integers, guard, buffers=buffers)
    (outcome,) = judge([replace(program, scheduled=False)], tmp_path, "ours")
    assert outcome.kind == RIGHT, outcome.detail


def test_a_guard_inside_a_guard_on_data_is_remembered(tmp_path: Path) -> None:
    """The check took the inner one, which becomes a variable of eight bits, for anything."""
    row = Expr(((1, "i"),))
    work = (Load(Ref("a"), "X", row, ROW), Store(Ref("a"), "Y", row, ROW))
    inner = If(Condition(row, Expr(constant=1)), work)
    outer = If(Condition(Expr(((1, Cell("P", row)),)), Expr(constant=4)), (inner,))
    loop = Loop("i", "serial", Expr(constant=2), (outer,))
    program = one_row("nested_guards", loop, buffers=(Buffer("a", UB),))
    (outcome,) = judge([program], tmp_path, "ours")
    assert outcome.kind == RIGHT, outcome.detail


def test_hand_overs_without_a_schedule_are_counted_by_their_waits(tmp_path: Path) -> None:
    """The check did not know a wait of the scalar unit to be over: sixteen turns were too many."""
    whole = Part(0, 16, 0, WIDTH)
    around = Loop("i", "serial", Expr(((1, "n"),)), (ToUb("sums", Ref("tile")),))
    body = (
        Vec(False, Ref("tile"), None, 0, False, Expr(), whole),
        Load(Ref("left"), "A", Expr(), whole),
        Load(Ref("right"), "B", Expr(), whole),
        Gemm("left", "right", "sums", True),
        around,
        Store(Ref("tile"), "Y", Expr(), whole),
    )
    buffers = (
        Buffer("tile", UB),
        Buffer("left", L1A),
        Buffer("right", L1B),
        Buffer("sums", L0C),
    )
    program = Program("hand_overs", "mix", 16, 1, "float16", False, True, False, (), buffers, body)
    (outcome,) = judge([program], tmp_path, "ours")
    assert outcome.kind == RIGHT, outcome.detail


def test_an_address_that_vector_code_reads_is_the_same_before_packing(tmp_path: Path) -> None:
    """The check knew no two addresses to be one if they were made of loads on chip."""
    integers = Load(Ref("int0"), "U", Expr(), ROW)
    load, store = Load(Ref("a"), "X", Expr(), ROW), Store(Ref("b"), "Y", Expr(), ROW)
    for scatters in (False, True):
        turned = Vec(False, Ref("b"), Ref("a"), 2, False, Expr(), ROW)
        turned = replace(turned, shift=UbCell("int0", 3), scatters=scatters, positive=scatters)
        body = (integers, load, Load(Ref("b"), "X", Expr((), 1), ROW), turned, store)
        buffers = (Buffer("a", UB), Buffer("b", UB), Buffer("int0", INT))
        program = one_row(f"turned_{scatters:d}", *body, buffers=buffers)
        (outcome,) = judge([program], tmp_path, "ours")
        assert outcome.kind == RIGHT, outcome.detail


def test_a_slot_beyond_the_tensors_races_as_the_check_says(tmp_path: Path) -> None:
    """Only there L1 is filled with zeros, which the barrier after it keeps from the next load."""
    whole = Part(0, 16, 0, WIDTH)
    place = Expr(((1, Cell("P", Expr())),))
    body = (
        Load(Ref("left"), "A", Expr(), whole),
        Load(Ref("right"), "B", place, whole, turned=True),
        Load(Ref("right"), "B", Expr(), whole),
        Gemm("left", "right", "sums", True),
        Store(Ref("sums"), "C", Expr(), whole),
    )
    buffers = (Buffer("left", L1A), Buffer("right", L1B), Buffer("sums", L0C))
    program = Program("slots", "cube", 1, 1, "float16", False, False, True, (), buffers, body)
    lowered = lower(program, tmp_path, "ours")
    barriers = [each for each in mutants(lowered.device) if "delete T.ascend_pipe" in str(each)]
    mutant = barriers[-1]
    report = lowered.check(mutant.func)
    text = finish(replaced(lowered.module, mutant.func))
    outcome = compare(Trial(program, text, Batch([text])), report, str(mutant))
    assert [finding.inputs for finding in report.findings] == ["P[0] = 8"]
    assert outcome.kind == MUTANT + AGREED_WRONG, outcome.detail
