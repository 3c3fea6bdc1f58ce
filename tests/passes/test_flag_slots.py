"""Which runs of flags stay, and where the others' locks lie: compared with trying all choices."""

from __future__ import annotations

from itertools import combinations, permutations

from hypothesis import given
from hypothesis import strategies as st
from tvm_ffi import get_global_func

import tilelang_ascend_sched  # noqa: F401  # loads the native library

CAPACITY = 8

Run = tuple[int, int, bool]

RUNS = st.lists(st.tuples(st.integers(1, 10), st.integers(0, 50), st.booleans()), max_size=8)


def choose_kept(runs: list[Run], full_slots: bool) -> list[bool] | None:
    rows = [[int(field) for field in run] for run in runs]
    choose = get_global_func("tl.ascend_sched.testing.choose_kept")
    kept = choose(rows, CAPACITY, full_slots)
    return None if kept is None else [bool(k) for k in kept]


def lay_out(sizes: list[int], taken: list[bool]) -> list[int] | None:
    begins = get_global_func("tl.ascend_sched.testing.lay_out")(sizes, taken)
    return None if begins is None else [int(b) for b in begins]


def feasible(runs: list[Run]) -> list[tuple[int, int]]:
    """(slots, executions) of every choice that fits and keeps what is pinned."""
    pinned = {i for i, run in enumerate(runs) if run[2]}
    found = []
    for count in range(len(runs) + 1):
        for chosen in combinations(range(len(runs)), count):
            slots = sum(runs[i][0] for i in chosen)
            if slots <= CAPACITY and pinned <= set(chosen):
                found.append((slots, sum(runs[i][1] for i in chosen)))
    return found


@given(RUNS)
def test_the_slots_are_filled_as_no_other_choice_fills_them(runs: list[Run]) -> None:
    kept, best = choose_kept(runs, full_slots=True), feasible(runs)
    if kept is None:
        assert not best
        return
    assert totals(runs, kept) == max(best)


@given(RUNS)
def test_the_busiest_runs_stay(runs: list[Run]) -> None:
    kept, best = choose_kept(runs, full_slots=False), feasible(runs)
    if kept is None:
        assert not best
        return
    slots, executions = totals(runs, kept)
    assert (executions, slots) == max((e, s) for s, e in best)


def totals(runs: list[Run], kept: list[bool]) -> tuple[int, int]:
    chosen = [run for run, keep in zip(runs, kept, strict=True) if keep]
    assert all(keep for run, keep in zip(runs, kept, strict=True) if run[2])
    slots = sum(size for size, _, _ in chosen)
    assert slots <= CAPACITY
    return slots, sum(executed for _, executed, _ in chosen)


@given(st.integers(1, 8), st.integers(2, 12))
def test_ties_go_to_the_earlier_runs(size: int, count: int) -> None:
    kept = choose_kept([(size, 5, False)] * count, full_slots=True)
    fits = min(CAPACITY // size, count)
    assert kept == [True] * fits + [False] * (count - fits)


@given(st.lists(st.integers(1, 5), max_size=6), st.lists(st.booleans(), min_size=12, max_size=12))
def test_locks_are_disjoint_free_and_found_whenever_they_exist(
    sizes: list[int], taken: list[bool]
) -> None:
    begins = lay_out(sizes, taken)
    if begins is None:
        assert not any(first_fit(order, taken) for order in set(permutations(sizes)))
        return
    used = [
        i for begin, size in zip(begins, sizes, strict=True) for i in range(begin, begin + size)
    ]
    assert len(set(used)) == len(used)
    assert all(i < len(taken) and not taken[i] for i in used)


def first_fit(sizes: tuple[int, ...], taken: list[bool]) -> bool:
    """Whether the runs fit when laid down in this order. Some order fits if any layout exists:
    that of the layout's ids, from the lowest up, which first fit can only move down."""
    busy = list(taken)
    for size in sizes:
        for begin in range(len(busy) - size + 1):
            if not any(busy[begin : begin + size]):
                busy[begin : begin + size] = [True] * size
                break
        else:
            return False
    return True


def test_a_layout_that_first_fit_misses_is_found() -> None:
    # Gaps of 3 and 2 ids: first fit puts the 2 into the gap of 3 and has no room for the 3.
    assert lay_out([2, 3], [False, False, False, True, False, False]) == [4, 0]
