"""Owners, versions asked for, and rings that users index themselves.

No postponed annotations: see ``examples``.
"""

import pytest
import tilelang.ascend.language as T

from tests.analysis.edges import analysed, body_of, distances, rows

WIDTH = 64
ROWS = 8


def owners(asked, carried: bool = False):
    """Two loops fill one buffer; if ``carried``, the second reads what the first left there."""

    @T.prim_func
    def owners(
        X: T.Tensor((ROWS, WIDTH), T.float32),
        Y: T.Tensor((ROWS, WIDTH), T.float32),
    ):
        with T.Kernel(1):
            x = T.alloc_shared((WIDTH,), T.float32)
            if asked is not None:
                T.annotate_buffer_versions({x: asked})
            for i in T.Pipelined(4, num_stages=2):
                T.copy(X[i, 0:WIDTH], x)
                T.copy(x, Y[i, 0:WIDTH])
            for j in T.Pipelined(4, num_stages=2):
                if not carried:
                    T.copy(X[j + 4, 0:WIDTH], x)
                T.copy(x, Y[j + 4, 0:WIDTH])

    return owners


VERSIONS = {
    "the solver decides": (None, "versions", True),
    "a mode alone": ("counter", "versions", True),
    "two": (2, 2, True),
    "three, with a counter": ((3, "counter"), 3, True),
    "one, still owned": ((1, "auto"), 1, True),
    "one, not owned": (1, 1, False),
}


@pytest.mark.parametrize("name", VERSIONS)
def test_owners_exclude_each_other_and_wait_for_their_versions(name: str) -> None:
    asked, distance, owned = VERSIONS[name]
    function = owners(asked)
    ordered = {"WAW": {0}, "RAW": {0}, "WAR": {0}}
    assert distances(function, "kernel", "x") == ({"exclusion": {0}} if owned else ordered)
    for loop in "ij":
        found = distances(function, loop, "x")
        assert found["WAW"] == found["WAR"] == {distance}
        assert found["RAW"] - {"versions"} == {0}


def test_a_loop_that_reads_what_another_left_is_no_owner() -> None:
    function = owners(None, carried=True)
    assert rows(function, "kernel", "x") == {(0, 1, "RAW", "x", 0)}
    assert distances(function, "i", "x") == {"WAW": {1}, "RAW": {0}, "WAR": {1}}


def ring(slots: int, fill, drain):
    """A ring of the kernel's own: slot ``fill(i)`` is filled, then slot ``drain(i)`` is stored."""

    @T.prim_func
    def ring(
        X: T.Tensor((ROWS, WIDTH), T.float32),
        Y: T.Tensor((ROWS, WIDTH), T.float32),
    ):
        with T.Kernel(1):
            x = T.alloc_shared((slots, WIDTH), T.float32)
            T.annotate_manual_multi_buffer(x)
            for i in T.serial(ROWS):
                T.copy(X[i, 0:WIDTH], x[fill(i), 0:WIDTH])
                T.copy(x[drain(i), 0:WIDTH], Y[i, 0:WIDTH])

    return ring


RINGS = {
    "two slots": (2, lambda i: i % 2, lambda i: i % 2, (2, 0, 2)),
    "three slots": (3, lambda i: i % 3, lambda i: i % 3, (3, 0, 3)),
    "one of two slots": (2, lambda i: i * 0, lambda i: i * 0, (1, 0, 1)),
    "every other of four": (4, lambda i: i * 2 % 4, lambda i: i * 2 % 4, (2, 0, 2)),
    "each of two slots twice": (2, lambda i: i // 2 % 2, lambda i: i // 2 % 2, (1, 0, 1)),
    "two slots, one behind": (2, lambda i: i % 2, lambda i: (i + 1) % 2, (2, 1, 1)),
    "three slots, one behind": (3, lambda i: i % 3, lambda i: (i + 2) % 3, (3, 1, 2)),
    "three slots, two behind": (3, lambda i: i % 3, lambda i: (i + 1) % 3, (3, 2, 1)),
    "a slot that was never filled": (3, lambda i: i % 2, lambda i: i * 0 + 2, (2, None, None)),
}


@pytest.mark.parametrize("name", RINGS)
def test_a_ring_waits_until_its_slot_comes_again(name: str) -> None:
    slots, fill, drain, expected = RINGS[name]
    found = distances(ring(slots, fill, drain), "i", "x")
    wanted = zip(("WAW", "RAW", "WAR"), expected, strict=True)
    assert found == {kind: {distance} for kind, distance in wanted if distance is not None}


def counted(slots: int, counter: str):
    """A ring whose slot a counter tells: kept in memory, or worked out from the loop's variable."""

    @T.prim_func
    def counted(
        X: T.Tensor((ROWS, WIDTH), T.float32),
        Mask: T.Tensor((ROWS,), T.int32),
        Y: T.Tensor((ROWS, WIDTH), T.float32),
    ):
        with T.Kernel(1):
            x = T.alloc_shared((slots, WIDTH), T.float32)
            count = T.alloc_var(T.int32, init=0)
            T.annotate_manual_multi_buffer(x)
            for i in T.serial(ROWS):
                if Mask[i] > 0:
                    if counter == "memory":
                        T.copy(X[i, 0:WIDTH], x[count % slots, 0:WIDTH])
                        T.copy(x[count % slots, 0:WIDTH], Y[i, 0:WIDTH])
                        count = count + 1
                    else:
                        turn = i + 3
                        T.copy(X[i, 0:WIDTH], x[turn % slots, 0:WIDTH])
                        T.copy(x[turn % slots, 0:WIDTH], Y[i, 0:WIDTH])

    return counted


def test_a_counter_in_memory_is_not_trusted_and_counted() -> None:
    assert distances(counted(3, "memory"), "i", "x") == {"WAW": {1}, "RAW": {0}, "WAR": {1}}
    assert body_of(analysed(counted(3, "memory")), "i").unproven > 0
    # The counter orders itself: what reads it precedes its step, and waits for the one before.
    read = {(unit, 3, "WAR", "count", 0) for unit in (1, 2)}
    step = {(3, unit, "RAW", "count", 1) for unit in (1, 2, 3)}
    assert read | step <= rows(counted(3, "memory"), "i", "count")


def test_a_counter_that_follows_the_loop_is_known() -> None:
    assert distances(counted(3, "loop"), "i", "x") == {"WAW": {3}, "RAW": {0}, "WAR": {3}}
