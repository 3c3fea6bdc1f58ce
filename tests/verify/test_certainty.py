"""A race of an access that is only bounded is refused where it happens for sure, for some data.

No postponed annotations: see ``examples``.
"""

import pytest
import tilelang.ascend.language as T

from tests.verify.lowered import stock
from tests.verify.mutate import mutants
from tilelang_ascend_sched.verify import NOT_PROVEN, PROVEN, REFUSED

THREADS = 64


def unordered(build) -> str:
    """The verdict where a store may come before what it stores; as it is, the kernel is proven."""
    lowered = stock(build)
    report = lowered.check()
    assert report.verdict == PROVEN, str(report)
    (early,) = (
        mutant.func
        for mutant in mutants(lowered.device)
        if mutant.what == "move up" and 'set_flag("V_MTE3"' in mutant.statement
    )
    return lowered.check(early).verdict


def threads(
    lane: int = -1,
    lane_square: int = -1,
    square: int = -1,
    data: bool = False,
    below: int | None = None,
    blocks: int = 1,
):
    """The first 8 elements of ``y`` are stored, of which some threads write theirs.

    lane: only threads with that number, modulo 32, or whose number has that square; square: only
    in a turn whose number has it; data: only where ``x`` is positive; below: only elements below
    that one of X, or a run-time one for 0.
    """
    rows = T.dynamic("n") if below == 0 else blocks * 4 * THREADS
    end = rows if below == 0 else below

    def build():
        @T.prim_func
        def threads(X: T.Tensor((rows,), "float32"), Y: T.Tensor((blocks, 4, THREADS), "float32")):
            with T.Kernel(blocks) as block:
                x = T.alloc_shared((THREADS,), "float32")
                y = T.alloc_shared((THREADS,), "float32")
                for i in T.serial(4):
                    first = (block * 4 + i) * THREADS
                    T.copy(X[first], x)
                    with T.SimtVF(threads=THREADS):
                        thread = T.get_thread_binding()
                        of_lane = lane < 0 or thread % 32 == lane
                        of_square = lane_square < 0 or thread * thread == lane_square
                        of_turn = square < 0 or i * i == square
                        inside = end is None or first + thread < end
                        chosen = of_lane and of_square and of_turn and inside
                        if chosen and (not data or x[thread] > 0):
                            y[thread] = x[thread]
                    T.copy(y[0:8], Y[block, i, 0:8])

        return threads

    return build


def test_every_thread():
    assert unordered(threads()) == REFUSED


def test_some_threads():
    """Thread 5 writes what is stored; threads 9 and 41 do not; the square of none is 7."""
    assert unordered(threads(lane=5)) == REFUSED
    assert unordered(threads(lane=9)) == NOT_PROVEN
    assert unordered(threads(lane_square=7)) == PROVEN
    assert unordered(threads(lane_square=25)) == REFUSED


def test_some_turns():
    assert unordered(threads(square=4)) == REFUSED
    assert unordered(threads(square=7)) == NOT_PROVEN


def test_some_data():
    assert unordered(threads(data=True)) == REFUSED
    assert unordered(threads(data=True, lane=9)) == NOT_PROVEN
    assert unordered(threads(data=True, square=7)) == NOT_PROVEN


def test_some_extent():
    assert unordered(threads(below=0)) == REFUSED
    assert unordered(threads(below=100, blocks=2)) == REFUSED


def scattered(stored: int):
    def build():
        @T.prim_func
        def scattered(
            X: T.Tensor((4, 64), "float32"),
            I: T.Tensor((4, 64), "uint32"),  # noqa: E741
            Z: T.Tensor((4, 64), "float32"),
        ):
            with T.Kernel(1):
                x = T.alloc_shared((64,), "float32")
                places = T.alloc_shared((64,), "uint32")
                z = T.alloc_shared((64,), "float32")
                for i in T.serial(4):
                    T.copy(X[i, 0:64], x)
                    T.copy(I[i, 0:64], places)
                    with T.SimdVF():
                        T.simd.vscatter(T.simd.vld(x[0]), z[0], T.simd.vld(places[0]))
                    T.copy(z[0:stored], Z[i, 0:stored])

        return scattered

    return build


@pytest.mark.parametrize(("stored", "verdict"), [(64, REFUSED), (32, NOT_PROVEN)])
def test_somewhere(stored, verdict):
    """What takes all of a buffer meets what goes anywhere in it."""
    assert unordered(scattered(stored)) == verdict


def after_few_threads():
    @T.prim_func
    def after_few_threads(X: T.Tensor((THREADS,), "float32"), Y: T.Tensor((8,), "float32")):
        with T.Kernel(1) as _:
            x = T.alloc_shared((THREADS,), "float32")
            y = T.alloc_shared((THREADS,), "float32")
            T.copy(X, x)
            with T.SimtVF(threads=THREADS):
                thread = T.get_thread_binding()
                y[thread] = x[thread]
                if thread < 2:
                    x[thread * thread] = 0
                for j in T.serial(thread):
                    x[j] = 1
            T.copy(x[32:40], Y)

    return after_few_threads


def test_what_a_guard_says_of_threads_ends_with_it():
    """Threads above 32 write what is stored, in turns of a loop that the guarded ones lack."""
    assert unordered(after_few_threads) != PROVEN


def rows_of_threads(
    stored: int = 0, most: int | None = None, only: int | None = None, data: bool = False
):
    """Threads write as many of the 8 rows of ``y`` as a scalar variable says; one is stored.

    most: there are no more, whatever the tensor says; only: just that row is written; data: what
    the kernel has loaded says how many there are, not a tensor.
    """

    def build():
        @T.prim_func
        def rows_of_threads(
            X: T.Tensor((4, THREADS), "int32"),
            Count: T.Tensor((4,), "int32"),
            Y: T.Tensor((4, 8), "int32"),
        ):
            with T.Kernel(1):
                x = T.alloc_shared((THREADS,), "int32")
                y = T.alloc_shared((8, THREADS), "int32")
                count = T.alloc_var(T.int32)
                for i in T.serial(4):
                    T.copy(X[i, 0], x)
                    count = x[0] if data else Count[i]
                    if most is not None:
                        count = T.min(count, most)
                    with T.SimtVF(threads=THREADS):
                        thread = T.get_thread_binding()
                        for r in T.serial(T.min(8, count)):
                            if only is None or r == only:
                                y[r, thread] = x[thread]
                    T.copy(y[stored, 0:8], Y[i, 0:8])

        return rows_of_threads

    return build


def test_turns_that_a_scalar_variable_counts():
    """There is a first turn if there is any; there may be no second one."""
    assert unordered(rows_of_threads()) == REFUSED
    assert unordered(rows_of_threads(data=True)) == REFUSED
    assert unordered(rows_of_threads(stored=1)) == NOT_PROVEN
    assert unordered(rows_of_threads(most=0)) == NOT_PROVEN


def test_a_turn_that_a_guard_names_is_one_of_the_loop():
    assert unordered(rows_of_threads(stored=3, only=3, most=4)) == REFUSED
    assert unordered(rows_of_threads(stored=3, only=3, most=3)) == NOT_PROVEN
    assert unordered(rows_of_threads(stored=3, only=2)) == NOT_PROVEN
