"""Strategies for the programs of ``tests.analysis.programs``.

All places stay within their tiles, at the sizes that ``oracle`` tries.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from tests.analysis.programs import (
    TILES,
    Bind,
    Condition,
    Flat,
    Guarded,
    Index,
    Local,
    Loop,
    Point,
    Program,
    Run,
    Scalar,
    Slice,
    Strided,
    Task,
    Under,
)

NUMBERS = ("p", "q")
"""Names of bound variables."""
LOCAL = "v"
POINTERS = ("u",)
CELLS = ("s", "t")


def _kept_within(index: Index) -> Index:
    """Places that memory or a binding tells are cut; those that go down begin further up."""
    if (index.bound or index.cell) and index.modulus == 0:
        index = replace(index, modulus=3)
    if any(factor < 0 for factor in index.factors) and index.modulus == 0:
        index = replace(index, offset=index.offset + 16)
    return index


_factors = st.tuples(
    st.sampled_from([0, 0, 1, 1, 2, 3, -1]),
    st.sampled_from([0, 0, 1, 2, -1]),
    st.sampled_from([0, 0, 1]),
)


def _names(names: tuple[str, ...], never: int) -> st.SearchStrategy[str]:
    return st.sampled_from([*names, *[""] * never])


def _index(
    bound: st.SearchStrategy[str], cell: st.SearchStrategy[str], moduli: list[int]
) -> st.SearchStrategy[Index]:
    return st.builds(
        Index,
        _factors,
        st.integers(0, 4),
        st.sampled_from([False, False, True]),
        bound,
        cell,
        st.sampled_from([1, 1, 1, 2]),
        st.sampled_from(moduli),
    ).map(_kept_within)


_rows = _index(_names((*NUMBERS, LOCAL), 5), _names(CELLS, 8), [0, 0, 2, 3])
_values = _index(_names(NUMBERS, 3), _names(CELLS, 3), [0, 2, 3])
_unread = _index(_names(NUMBERS, 3), st.just(""), [0, 2, 3])
_columns = st.builds(
    Index,
    _factors,
    st.integers(0, 3),
    st.just(False),
    st.just(""),
    st.just(""),
    st.just(1),
    st.sampled_from([2, 3, 8]),
)
_tiles = st.sampled_from(TILES)
_slices = st.builds(
    Slice, _tiles, _rows, st.integers(1, 2), _columns, st.integers(1, 8), st.booleans()
)
_plain = st.one_of(
    _slices,
    _slices,
    _slices,
    st.builds(
        Flat,
        _tiles,
        st.sampled_from([16, 32]),
        _rows,
        st.sampled_from([1, 4, 40]),
        st.booleans(),
        _names(POINTERS, 2),
    ),
    st.builds(
        Run, _tiles, _rows, st.integers(0, 15), st.sampled_from([1, 5, 16, 20]), st.booleans()
    ),
    st.builds(
        Strided,
        _tiles,
        _rows,
        st.integers(0, 3),
        st.sampled_from([1, 2]),
        st.integers(1, 5),
        st.booleans(),
    ),
    st.builds(Scalar, st.sampled_from(CELLS), st.none()),
    st.builds(Scalar, st.sampled_from(CELLS), _values),
)
_few = st.lists(_plain, min_size=1, max_size=2).map(tuple)
_inside = st.builds(
    Condition,
    _index(_names((LOCAL, *NUMBERS), 3), _names(CELLS, 1), [0, 2, 3]),
    st.integers(1, 3),
    st.booleans(),
)
_accesses = st.recursive(
    _plain,
    lambda inner: st.one_of(
        st.builds(
            Local, st.just(LOCAL), _values, st.lists(inner, min_size=1, max_size=2).map(tuple)
        ),
        st.builds(Under, _inside, st.lists(inner, min_size=1, max_size=2).map(tuple)),
    ),
    max_leaves=3,
)
_tasks = st.builds(Task, st.lists(_accesses, min_size=1, max_size=3).map(tuple))
_binds = st.builds(Bind, st.sampled_from(NUMBERS), _values)
# Nobody points into a tile that loops may own.
_points = st.builds(Point, st.sampled_from(POINTERS), st.just(TILES[0]), _rows)
_tests = st.builds(Condition, _unread, st.integers(1, 3), st.booleans())
_extents = st.sampled_from([2, 3, 4, 1, "n", *NUMBERS])
_starts = st.sampled_from([0, 0, 0, 2])
_steps = st.sampled_from([1, 1, 1, 2])


def _loop(body: st.SearchStrategy, least: int, most: int) -> st.SearchStrategy[Loop]:
    statements = st.lists(body, min_size=least, max_size=most).map(tuple)
    return st.builds(Loop, _extents, statements, _starts, _steps)


def _guarded(body: st.SearchStrategy) -> st.SearchStrategy[Guarded]:
    return st.builds(Guarded, _tests, st.lists(body, min_size=1, max_size=2).map(tuple))


_simple = st.one_of(_tasks, _tasks, _tasks, _guarded(_tasks), _binds, _points)
_inner = _loop(st.one_of(_simple, _simple, _simple, _loop(_simple, 1, 2)), 1, 3)
_outer = _loop(st.one_of(_simple, _simple, _inner, _guarded(_inner)), 2, 5)

programs = st.builds(
    Program,
    st.lists(st.one_of(_outer, _outer, _outer, _simple), min_size=1, max_size=3).map(tuple),
    st.sampled_from([None, 0, 1]),
    st.sampled_from([None, None, 2, 3]),
)
