"""Conflict hints, each beside what it must not change.

No postponed annotations: see ``examples``.
"""

import pytest
import tilelang.ascend.language as T

from tests.analysis.edges import rows

WIDTH = 64
ROWS = 8
WAW, RAW, WAR = (1, 1, "WAW", "Y", 1), (1, 2, "RAW", "Y", 0), (2, 1, "WAR", "Y", 1)
"""What ``scattered`` has of Y, as long as nobody knows where the rows go."""


def scattered(hint: str = "", **options):
    """Rows go where ``Place`` says (unit 1), and one is read again (unit 2)."""

    @T.prim_func
    def scattered(
        X: T.Tensor((ROWS, WIDTH), T.float32),
        Place: T.Tensor((ROWS,), T.int32),
        Y: T.Tensor((ROWS, WIDTH), T.float32),
        Z: T.Tensor((ROWS, WIDTH), T.float32),
    ):
        with T.Kernel(1):
            x = T.alloc_shared((WIDTH,), T.float32)
            y = T.alloc_shared((WIDTH,), T.float32)
            for i in T.serial(ROWS):
                if hint == "row":
                    T.assume_no_conflict(Y[Place[i], 0:WIDTH], **options)
                if hint == "rows":
                    T.assume_no_conflict(Y[Place[i], 0:WIDTH], Y[i, 0:WIDTH], **options)
                if hint == "all":
                    T.assume_no_conflict(Y, **options)
                if hint == "conflict":
                    T.assume_conflict(x, y, **options)
                T.copy(X[i, 0:WIDTH], x)
                T.copy(x, Y[Place[i], 0:WIDTH])
                T.copy(Y[i, 0:WIDTH], y)
                T.copy(y, Z[i, 0:WIDTH])

    return scattered


NOW = {(0, 2, "WAW", "x"), (0, 3, "RAW", "x"), (1, 2, "WAR", "x")}
LATER = {(2, 0, "WAW", "y"), (2, 1, "RAW", "y"), (3, 0, "WAR", "y")}


def after(distance: int, pairs: set[tuple[int, int, str, str]]) -> set:
    return {(*pair, distance) for pair in pairs}


HINTS = {
    "a row and itself": ("row", {}, {WAW}),
    "between iterations": ("row", {"cross": True}, {WAW}),
    "within an iteration, where none is": ("row", {"cross": False}, set()),
    "in the loop": ("row", {"level": 0}, {WAW}),
    "outside of the loop": ("row", {"level": -1}, set()),
    "two rows": ("rows", {}, {RAW, WAR}),
    "two rows between iterations": ("rows", {"cross": True}, {WAR}),
    "two rows outside of the loop": ("rows", {"level": -1}, set()),
    "two rows within an iteration": ("rows", {"cross": False}, {RAW, (1, 2, "RAW", "Y", 1)}),
    "all of a tensor": ("all", {}, {WAW, RAW, WAR}),
    "a conflict": ("conflict", {}, after(0, NOW) | after(1, LATER)),
    "a conflict within an iteration": ("conflict", {"cross": False}, after(0, NOW)),
    "a conflict between iterations": ("conflict", {"cross": True}, after(1, NOW | LATER)),
    "a conflict outside of the loop": ("conflict", {"level": -1}, set()),
}


@pytest.mark.parametrize("name", HINTS)
def test_a_hint_changes_the_edges_it_speaks_of_and_no_others(name: str) -> None:
    hint, options, changed = HINTS[name]
    plain = rows(scattered(), "i")
    assert {WAW, RAW, WAR} <= plain
    assert rows(scattered(hint, **options), "i") ^ plain == changed


def part(first: int, last: int, ahead: int = 0):
    """The hint names columns ``first`` to ``last`` of a row; columns 0 to 32 are written."""

    @T.prim_func
    def part(
        X: T.Tensor((ROWS, WIDTH), T.float32),
        Place: T.Tensor((ROWS + 1,), T.int32),
        Y: T.Tensor((ROWS, WIDTH), T.float32),
    ):
        with T.Kernel(1):
            x = T.alloc_shared((WIDTH,), T.float32)
            for i in T.serial(ROWS):
                T.assume_no_conflict(Y[Place[i + ahead], first:last])
                T.copy(X[i, 0:WIDTH], x)
                T.copy(x[0:32], Y[Place[i], 0:32])

    return part


@pytest.mark.parametrize(
    ("region", "holds"),
    [
        ((0, 32), True),
        ((0, 64), True),
        ((0, 31), False),
        ((1, 33), False),
        ((0, 32, 1), False),
    ],
)
def test_a_region_speaks_of_the_accesses_inside_it(region: tuple[int, ...], holds: bool) -> None:
    assert rows(part(*region), "i", "Y") == (set() if holds else {WAW})


def clamped(off: int | None):
    """Tiles of 16 rows, the last of which may end beyond the tensor."""
    n = T.dynamic("n")

    @T.prim_func
    def clamped(
        X: T.Tensor((n, WIDTH), T.float32),
        Place: T.Tensor((ROWS,), T.int32),
        Y: T.Tensor((n, WIDTH), T.float32),
    ):
        with T.Kernel(1):
            x = T.alloc_shared((16, WIDTH), T.float32)
            for i in T.serial(ROWS):
                if off is not None:
                    T.assume_no_conflict(Y[Place[i] * 16 + off : Place[i] * 16 + off + 16, 0:WIDTH])
                T.copy(X[i * 16 : i * 16 + 16, 0:WIDTH], x)
                T.copy(x, Y[Place[i] * 16 : Place[i] * 16 + 16, 0:WIDTH])

    return clamped


@pytest.mark.parametrize(("off", "holds"), [(None, False), (0, True), (1, False)])
def test_a_slice_is_still_meant_when_it_was_clamped(off: int | None, holds: bool) -> None:
    assert rows(clamped(off), "i", "Y") == (set() if holds else {WAW})


def grouped(group: bool):
    """Two loops scatter rows; together the two halves of a hint keep them apart."""

    @T.prim_func
    def grouped(
        X: T.Tensor((ROWS, WIDTH), T.float32),
        Place: T.Tensor((ROWS,), T.int32),
        Y: T.Tensor((ROWS, WIDTH), T.float32),
    ):
        with T.Kernel(1):
            x = T.alloc_shared((WIDTH,), T.float32)
            y = T.alloc_shared((WIDTH,), T.float32)
            for i in T.serial(4):
                if group:
                    T.assume_no_conflict(Y[Place[i], 0:WIDTH], group="halves")
                T.copy(X[i, 0:WIDTH], x)
                T.copy(x, Y[Place[i], 0:WIDTH])
            for j in T.serial(4):
                if group:
                    T.assume_no_conflict(Y[Place[j + 4], 0:WIDTH], group="halves")
                T.copy(X[j + 4, 0:WIDTH], y)
                T.copy(y, Y[Place[j + 4], 0:WIDTH])

    return grouped


@pytest.mark.parametrize("group", [False, True])
def test_a_group_speaks_of_the_body_around_both_halves(group: bool) -> None:
    between = set() if group else {(0, 1, "WAW", "Y", 0)}
    assert rows(grouped(group), "kernel", "Y") == between
    for loop in "ij":
        assert rows(grouped(group), loop, "Y") == {WAW}
