"""What the prover says of regions, against all their elements."""

from __future__ import annotations

import itertools

import tilelang  # noqa: F401  # puts its TVM on the path
from hypothesis import given, settings
from hypothesis import strategies as st
from tvm import tirx
from tvm.ir import Range
from tvm_ffi import get_global_func

import tilelang_ascend_sched  # noqa: F401  # loads the native library

disjoint = get_global_func("tl.ascend_sched.testing.disjoint")
covers = get_global_func("tl.ascend_sched.testing.covers")
filled = get_global_func("tl.ascend_sched.testing.filled")

TURN, LATER = tirx.Var("i", "int32"), tirx.Var("j", "int32")
BUFFER = tirx.decl_buffer((64,), "float32", "x", scope="shared.dyn")

Interval = tuple[int, int, int]
"""(factor, offset, extent): elements factor * variable + offset and on."""


def number(value: int) -> tirx.IntImm:
    return tirx.IntImm("int32", value)


def region(variable: tirx.PrimExpr, interval: Interval) -> tirx.BufferRegion:
    factor, offset, extent = interval
    least = variable * number(factor) + offset
    return tirx.BufferRegion(BUFFER, [Range.from_min_extent(least, number(extent))])


def elements(value: int, interval: Interval) -> set[int]:
    factor, offset, extent = interval
    return set(range(factor * value + offset, factor * value + offset + extent))


intervals = st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(1, 4))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(intervals, intervals, st.integers(1, 3))
def test_disjoint_means_no_common_element(a: Interval, b: Interval, apart: int) -> None:
    ranges = [Range.from_min_extent(number(0), number(5))] * 2
    proven = disjoint(
        region(TURN, a), region(LATER, b), [TURN, LATER], ranges, [LATER.equal(TURN + apart)]
    )
    pairs = [(i, j) for i, j in itertools.product(range(5), repeat=2) if j == i + apart]
    met = any(elements(i, a) & elements(j, b) for i, j in pairs)
    assert proven == (not met)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(intervals, intervals, intervals, st.booleans())
def test_covered_means_every_element(
    a: Interval, b: Interval, whole: Interval, opposite: bool
) -> None:
    guard = TURN % 2 < 1
    guards = [guard, tirx.Not(guard) if opposite else guard]
    ranges = [Range.from_min_extent(number(0), number(5))]
    proven = covers(
        [region(TURN, a), region(TURN, b)], guards, region(TURN, whole), [TURN], ranges, []
    )
    expected = True
    for i in range(5):
        held = [i % 2 == 0, (i % 2 == 1) if opposite else (i % 2 == 0)]
        reached = set().union(
            *(elements(i, part) for part, h in zip((a, b), held, strict=True) if h)
        )
        expected = expected and elements(i, whole) <= reached
    assert proven == expected


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(-3, 4), st.integers(0, 4), st.integers(1, 4), st.integers(1, 5))
def test_a_filled_box_has_the_same_elements(
    factor: int, offset: int, extent: int, count: int
) -> None:
    interval = (factor, offset + 12, extent)
    before = region(TURN, interval)
    after = filled(before, [TURN], [Range.from_min_extent(number(0), number(count))])
    reached = set().union(*(elements(i, interval) for i in range(count)))
    box = after.region[0]
    if isinstance(box.min, tirx.IntImm) and isinstance(box.extent, tirx.IntImm):
        least = int(box.min)
        assert set(range(least, least + int(box.extent))) == reached
    else:
        assert len(reached) < max(reached) - min(reached) + 1 or factor == 0


def test_views_of_other_types_are_compared_in_bits() -> None:
    bytes_of = tirx.decl_buffer((256,), "int8", "b", data=BUFFER.data, scope="shared.dyn")
    floats = region(number(0), (0, 8, 4))

    def view(first: int, count: int) -> tirx.BufferRegion:
        return tirx.BufferRegion(bytes_of, [Range.from_min_extent(number(first), number(count))])

    assert disjoint(floats, view(0, 32), [], [], [])
    assert not disjoint(floats, view(0, 33), [], [], [])
    assert disjoint(floats, view(48, 16), [], [], [])
    assert not disjoint(floats, view(47, 1), [], [], [])


def test_conditions_that_exclude_each_other_part_equal_regions() -> None:
    ranges = [Range.from_min_extent(number(0), number(5))]
    same = region(number(0), (0, 0, 4))
    assert disjoint(same, same, [TURN], ranges, [TURN % 2 < 1, TURN % 2 >= 1])
    assert not disjoint(same, same, [TURN], ranges, [TURN % 2 < 1, TURN >= 1])
