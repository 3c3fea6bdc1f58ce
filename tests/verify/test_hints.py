"""``T.assume_no_conflict`` frees the accesses that it names from order, and no others.

No postponed annotations: see ``examples``.
"""

import pytest
import tilelang.ascend.language as T

from tilelang_ascend_sched.verify import (
    NOT_PROVEN,
    PROVEN,
    REFUSED,
    VerifyReport,
    verify_lowered,
)

ROWS, WIDTH = 8, 64
ROW = (ROWS, WIDTH)
CONFIGS = {"tl.enable_auto_schedule": False, "tl.ascend_sched.verify": "off"}
"""The synchronization is what the kernel says, so that what it leaves out is known."""


def check(kernel) -> VerifyReport:
    (report,) = verify_lowered(kernel, pass_configs=CONFIGS)
    return report


def used(report: VerifyReport) -> list[str]:
    """The hints that the proof rests on."""
    return [text for text in report.assumptions if "assume_no_conflict" in text]


def scatter(hint, ordered: bool = False, rows=ROWS):
    """Stores a row to places that a tensor tells; ``hint(Y, Order, i)`` stands in the loop."""

    @T.prim_func
    def scatter(
        X: T.Tensor(ROW, "float32"),
        Order: T.Tensor((rows,), "int32"),
        Y: T.Tensor((rows, WIDTH), "float32"),
    ):
        with T.Kernel(1), T.Vector():
            x = T.alloc_shared((WIDTH,), "float32")
            T.copy(X[0, 0:WIDTH], x)
            T.ascend_set_flag("MTE2_MTE3", 0)
            T.ascend_wait_flag("MTE2_MTE3", 0)
            for i in T.serial(rows):
                hint(Y, Order, i)
                T.copy(x, Y[Order[i], 0:WIDTH])
                if ordered:
                    T.ascend_pipe_barrier("PIPE_MTE3")

    return scatter


@T.macro
def same_rows(Y, Order, i):
    T.assume_no_conflict(Y[Order[i], 0:WIDTH])


@T.macro
def all_of_it(Y, Order, i):
    T.assume_no_conflict(Y)


@T.macro
def wider_rows(Y, Order, i):
    T.assume_no_conflict(Y[Order[i] : Order[i] + 2, 0:WIDTH])


@T.macro
def between_turns(Y, Order, i):
    T.assume_no_conflict(Y[Order[i], 0:WIDTH], level=0, cross=True)


@T.macro
def no_hint(Y, Order, i):
    pass


@T.macro
def other_rows(Y, Order, i):
    T.assume_no_conflict(Y[i, 0:WIDTH])


@T.macro
def half_rows(Y, Order, i):
    T.assume_no_conflict(Y[Order[i], 0 : WIDTH // 2])


@T.macro
def other_tensor(Y, Order, i):
    T.assume_no_conflict(Order)


@T.macro
def other_pair(Y, Order, i):
    T.assume_no_conflict(Y[Order[i], 0:WIDTH], Y[i, 0:WIDTH])


@T.macro
def within_a_turn(Y, Order, i):
    T.assume_no_conflict(Y[Order[i], 0:WIDTH], cross=False)


@T.macro
def outside_of_loops(Y, Order, i):
    T.assume_no_conflict(Y[Order[i], 0:WIDTH], level=-1)


@T.macro
def that_they_do(Y, Order, i):
    T.assume_conflict(Y[Order[i], 0:WIDTH])


@pytest.mark.parametrize("hint", [same_rows, all_of_it, wider_rows, between_turns])
def test_used(hint):
    report = check(scatter(hint))
    assert report.verdict == PROVEN, str(report)
    (text,) = used(report)
    assert "at test_hints.py:" in text
    assert report.unused_hints == ()


@pytest.mark.parametrize(
    "hint",
    [
        no_hint,
        other_rows,
        half_rows,
        other_tensor,
        other_pair,
        within_a_turn,
        outside_of_loops,
        that_they_do,
    ],
)
def test_a_race_that_no_hint_names(hint):
    report = check(scatter(hint))
    assert report.verdict == REFUSED, str(report)
    (finding,) = report.findings
    assert (finding.kind, finding.tensor) == ("race", "Y")
    assert "Order[1] = " in finding.inputs
    assert used(report) == []


def test_unused():
    report = check(scatter(same_rows, ordered=True))
    assert report.verdict == PROVEN, str(report)
    assert used(report) == []
    (text,) = report.unused_hints
    assert text.startswith("assume_no_conflict(Y[Order[i], 0:64]) at test_hints.py:")
    assert text.endswith("in order without it")


def test_names_nothing():
    (text,) = check(scatter(half_rows, ordered=True)).unused_hints
    assert "Y[Order[i], 0:32]" in text and text.endswith("accesses nothing that it names")


def test_any_number_of_turns():
    """What a hint frees for ever is not kept."""
    report = check(scatter(same_rows, rows=T.dynamic("n")))
    assert report.verdict == PROVEN, str(report)
    assert len(used(report)) == 1


def hand_over(ordered: bool, **hint):
    """Each row goes to GM and back within one turn."""

    @T.prim_func
    def hand_over(
        X: T.Tensor(ROW, "float32"),
        Order: T.Tensor((ROWS,), "int32"),
        Y: T.Tensor(ROW, "float32"),
        Z: T.Tensor(ROW, "float32"),
    ):
        with T.Kernel(1), T.Vector():
            x = T.alloc_shared((WIDTH,), "float32")
            y = T.alloc_shared((ROWS, WIDTH), "float32")
            T.copy(X[0, 0:WIDTH], x)
            T.ascend_set_flag("MTE2_MTE3", 0)
            T.ascend_wait_flag("MTE2_MTE3", 0)
            for i in T.serial(ROWS):
                T.assume_no_conflict(Y[Order[i], 0:WIDTH], **hint)
                T.copy(x, Y[Order[i], 0:WIDTH])
                if ordered:
                    T.ascend_set_flag("MTE3_MTE2", i)
                    T.ascend_wait_flag("MTE3_MTE2", i)
                T.copy(Y[Order[i], 0:WIDTH], y[i, 0:WIDTH])
            T.ascend_set_flag("MTE2_MTE3", 1)
            T.ascend_wait_flag("MTE2_MTE3", 1)
            T.copy(y, Z)

    return hand_over


def test_between_iterations_only():
    assert check(hand_over(True, cross=True)).verdict == PROVEN
    report = check(hand_over(False, cross=True))
    assert report.verdict == REFUSED, str(report)
    assert {finding.distance for finding in report.findings} == {"i + 0"}


def test_within_one_iteration_only():
    report = check(hand_over(False, cross=False))
    assert report.verdict == REFUSED, str(report)
    assert "i + 0" not in {finding.distance for finding in report.findings}
    assert check(hand_over(False)).verdict == PROVEN


def nest(level):
    """The same rows again in each turn of the outer loop."""

    @T.prim_func
    def nest(
        X: T.Tensor(ROW, "float32"), Order: T.Tensor((ROWS,), "int32"), Y: T.Tensor(ROW, "float32")
    ):
        with T.Kernel(1), T.Vector():
            x = T.alloc_shared((WIDTH,), "float32")
            T.copy(X[0, 0:WIDTH], x)
            T.ascend_set_flag("MTE2_MTE3", 0)
            T.ascend_wait_flag("MTE2_MTE3", 0)
            for _outer in T.serial(2):
                for inner in T.serial(3):
                    T.assume_no_conflict(Y[Order[inner], 0:WIDTH], level=level)
                    T.copy(x, Y[Order[inner], 0:WIDTH])

    return nest


def test_levels():
    for level, distance in ((0, "inner + 1, _outer + 0"), (1, "inner + 0, _outer + 1")):
        report = check(nest(level))
        assert report.verdict == REFUSED, str(report)
        assert [finding.distance for finding in report.findings] == [distance]
    assert check(nest(None)).verdict == PROVEN


def pairs(both: bool):
    """Two stores a turn, to rows that two tensors tell."""

    @T.prim_func
    def pairs(
        X: T.Tensor(ROW, "float32"),
        Low: T.Tensor((ROWS,), "int32"),
        High: T.Tensor((ROWS,), "int32"),
        Y: T.Tensor(ROW, "float32"),
    ):
        with T.Kernel(1), T.Vector():
            x = T.alloc_shared((WIDTH,), "float32")
            T.copy(X[0, 0:WIDTH], x)
            T.ascend_set_flag("MTE2_MTE3", 0)
            T.ascend_wait_flag("MTE2_MTE3", 0)
            for i in T.serial(ROWS):
                T.assume_no_conflict(Y[Low[i], 0:WIDTH], Y[High[i], 0:WIDTH])
                if both:
                    T.assume_no_conflict(Y[Low[i], 0:WIDTH])
                    T.assume_no_conflict(Y[High[i], 0:WIDTH])
                T.copy(x, Y[Low[i], 0:WIDTH])
                T.copy(x, Y[High[i], 0:WIDTH])

    return pairs


def test_pairs():
    report = check(pairs(both=False))
    assert report.verdict == REFUSED, str(report)
    assert all(finding.first.line == finding.second.line for finding in report.findings)
    report = check(pairs(both=True))
    assert report.verdict == PROVEN, str(report)
    assert len(used(report)) == 3


def groups(turns: int):
    """Written in one loop, read in another: each declaration stands in its own."""

    @T.prim_func
    def groups(
        X: T.Tensor(ROW, "float32"),
        Place: T.Tensor((ROWS,), "int32"),
        Other: T.Tensor((ROWS,), "int32"),
        Y: T.Tensor(ROW, "float32"),
        Z: T.Tensor(ROW, "float32"),
    ):
        with T.Kernel(1), T.Vector():
            x = T.alloc_shared((WIDTH,), "float32")
            y = T.alloc_shared((ROWS, WIDTH), "float32")
            T.copy(X[0, 0:WIDTH], x)
            T.ascend_set_flag("MTE2_MTE3", 0)
            T.ascend_wait_flag("MTE2_MTE3", 0)
            for i in T.serial(turns):
                T.assume_no_conflict(Y[Place[i], 0:WIDTH], group="rows")
                T.copy(x, Y[Place[i], 0:WIDTH])
            for j in T.serial(ROWS):
                T.assume_no_conflict(Y[Other[j], 0:WIDTH], group="rows")
                T.copy(Y[Other[j], 0:WIDTH], y[j, 0:WIDTH])
            T.ascend_set_flag("MTE2_MTE3", 1)
            T.ascend_wait_flag("MTE2_MTE3", 1)
            T.copy(y, Z)

    return groups


def test_groups():
    report = check(groups(turns=1))
    assert report.verdict == PROVEN, str(report)
    assert "Y[Place[0], 0:64], Y[Other[j], 0:64]" in used(report)[0]
    report = check(groups(turns=2))
    assert report.verdict != PROVEN, str(report)
    assert {finding.second.pipe for finding in report.findings} == {"MTE3"}


def on_chip(named: str):
    """Neither buffer is handed over between its load and its store."""

    @T.prim_func
    def on_chip(X: T.Tensor(ROW, "float32"), Y: T.Tensor(ROW, "float32")):
        with T.Kernel(1), T.Vector():
            first = T.alloc_shared((WIDTH,), "float32")
            second = T.alloc_shared((WIDTH,), "float32")
            if named == "first":
                T.assume_no_conflict(first)
            else:
                T.assume_no_conflict(first)
                T.assume_no_conflict(second[0:WIDTH])
            T.copy(X[0, 0:WIDTH], first)
            T.copy(X[1, 0:WIDTH], second)
            T.copy(first, Y[0, 0:WIDTH])
            T.copy(second, Y[1, 0:WIDTH])

    return on_chip


def test_on_chip():
    report = check(on_chip("both"))
    assert report.verdict == PROVEN, str(report)
    assert len(used(report)) == 2
    report = check(on_chip("first"))
    assert report.verdict == REFUSED, str(report)
    (finding,) = report.findings
    assert finding.buffer == "second"


def to_computed_slots(named: str):
    """Rows are loaded to slots on chip that a tensor tells, and nothing is between the loads."""

    @T.prim_func
    def to_computed_slots(
        X: T.Tensor(ROW, "float32"), Order: T.Tensor((ROWS,), "int32"), Y: T.Tensor(ROW, "float32")
    ):
        with T.Kernel(1), T.Vector():
            slots = T.alloc_shared(ROW, "float32")
            for i in T.serial(ROWS):
                if named == "slot":
                    T.assume_no_conflict(slots[Order[i] % ROWS, 0:WIDTH])
                elif named == "half":
                    T.assume_no_conflict(slots[Order[i] % ROWS, 0 : WIDTH // 2])
                elif named == "other":
                    T.assume_no_conflict(slots[i, 0:WIDTH])
                T.copy(X[i, 0:WIDTH], slots[Order[i] % ROWS, 0:WIDTH])
            T.ascend_set_flag("MTE2_MTE3", 0)
            T.ascend_wait_flag("MTE2_MTE3", 0)
            T.copy(slots, Y)

    return to_computed_slots


def test_computed_address_on_chip():
    report = check(to_computed_slots("slot"))
    assert report.verdict == PROVEN, str(report)
    (text,) = used(report)
    assert text.startswith("accesses do not conflict where a hint says so: ")
    assert "slots[Order[i] % 8, 0:64]" in text


@pytest.mark.parametrize("named", ["", "half", "other"])
def test_computed_address_on_chip_that_no_hint_names(named):
    report = check(to_computed_slots(named))
    assert report.verdict == REFUSED, str(report)
    (finding,) = report.findings
    assert (finding.kind, finding.memory, finding.buffer) == ("race", "UB", "slots")
    assert finding.inputs == "0 for all that is read from tensors"
    assert used(report) == []


SIDE, HALF = 32, 16


def across_cores(named: str):
    """The Cube stores a product to GM, and both Vector cores load it from there at once."""

    @T.prim_func
    def across_cores(
        A: T.Tensor((SIDE, SIDE), "bfloat16"),
        B: T.Tensor((SIDE, SIDE), "bfloat16"),
        C: T.Tensor((SIDE, SIDE), "float32"),
        D: T.Tensor((SIDE, SIDE), "float32"),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((SIDE, SIDE), "bfloat16")
            b = T.alloc_l1((SIDE, SIDE), "bfloat16")
            acc = T.alloc_l0c((SIDE, SIDE), "float32")
            x = T.alloc_shared((HALF, SIDE), "float32")
            if named == "tensor":
                T.assume_no_conflict(C)
            with T.Cube():
                T.copy(A, a)
                T.copy(B, b)
                T.ascend_set_flag("MTE2_MTE1", 0)
                T.ascend_wait_flag("MTE2_MTE1", 0)
                T.gemm(a, b, acc, transpose_B=True, clear_accum=True)
                T.ascend_set_flag("M_FIX", 0)
                T.ascend_wait_flag("M_FIX", 0)
                if named == "sides":
                    T.assume_no_conflict(C[0:SIDE, 0:SIDE], group="rows")
                T.copy(acc, C)
            with T.Vector() as aiv:
                if named == "sides":
                    T.assume_no_conflict(C[aiv * HALF : aiv * HALF + HALF, 0:SIDE], group="rows")
                T.copy(C[aiv * HALF : aiv * HALF + HALF, 0:SIDE], x)

    return across_cores


def test_across_cores():
    report = check(across_cores("tensor"))
    assert report.verdict == PROVEN, str(report)
    assert "assume_no_conflict(C)" in used(report)[0]
    report = check(across_cores("sides"))
    assert report.verdict == PROVEN, str(report)
    assert "C[0:32, 0:32], C[sid * 16:sid * 16 + 16, 0:32]" in used(report)[0]
    report = check(across_cores(""))
    assert report.verdict == REFUSED, str(report)
    cores = {(finding.first.core, finding.second.core) for finding in report.findings}
    assert cores == {("AIC", "AIV0")}  # AIV1 runs the same two statements


@T.macro
def store_row(x, Y, row):
    T.copy(x, Y[row, 0:WIDTH])


def one_line():
    """Two stores on one line, of which the hint names one."""

    @T.prim_func
    def one_line(
        X: T.Tensor(ROW, "float32"), Order: T.Tensor((ROWS,), "int32"), Y: T.Tensor(ROW, "float32")
    ):
        with T.Kernel(1), T.Vector():
            x = T.alloc_shared((WIDTH,), "float32")
            T.copy(X[0, 0:WIDTH], x)
            T.ascend_set_flag("MTE2_MTE3", 0)
            T.ascend_wait_flag("MTE2_MTE3", 0)
            for i in T.serial(ROWS):
                T.assume_no_conflict(Y[Order[i], 0:WIDTH])
                store_row(x, Y, Order[i])
                store_row(x, Y, Order[i] + 1)

    return one_line


def test_what_a_line_cannot_tell_is_not_proven():
    report = check(one_line())
    assert report.verdict == NOT_PROVEN, str(report)
    assert "unless assume_no_conflict(Y[Order[i], 0:64])" in report.findings[0].message
