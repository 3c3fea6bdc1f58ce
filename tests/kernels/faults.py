"""``FAULTS``: correct kernels that TileLang's own passes lower wrongly, with the trace it leaves.

No postponed annotations: see ``examples``.
"""

import ml_dtypes
import numpy as np
import tilelang.ascend.language as T

from examples import EXACT, Tolerance, Workload

WIDTH = 64
SIDE = 32


def prefetch_ring():
    """Two slots indexed by hand, the next row loaded before the present one is worked on.

    The flag that frees a slot is raised again before anyone has waited for it.
    """

    @T.prim_func
    def prefetch_ring(X: T.Tensor((6, WIDTH), T.float32), Y: T.Tensor((6, WIDTH), T.float32)):
        with T.Kernel(1):
            slots = T.alloc_shared((2, WIDTH), T.float32)
            T.annotate_manual_multi_buffer(slots)
            T.copy(X[0, 0:WIDTH], slots[0, 0:WIDTH])
            for i in T.serial(6):
                if i + 1 < 6:
                    T.copy(X[i + 1, 0:WIDTH], slots[(i + 1) % 2, 0:WIDTH])
                with T.SimtVF(threads=64):
                    for c in T.Parallel(WIDTH):
                        slots[i % 2, c] = slots[i % 2, c] + T.float32(1)
                T.copy(slots[i % 2, 0:WIDTH], Y[i, 0:WIDTH])

    return prefetch_ring


def barrier_under_guard():
    """64 columns on 128 threads: the inner loop gets a barrier that half of them never reach."""

    @T.prim_func
    def barrier_under_guard(X: T.Tensor((4, WIDTH), T.float32), Y: T.Tensor((WIDTH,), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((4, WIDTH), T.float32)
            total = T.alloc_shared((WIDTH,), T.float32)
            T.copy(X, x)
            with T.SimtVF(threads=128):
                for c in T.Parallel(WIDTH):
                    total[c] = T.float32(0)
                    for r in T.serial(4):
                        if x[r, c] > T.float32(0):
                            total[c] += x[r, c]
            T.copy(total, Y)

    return barrier_under_guard


def shared_fragment():
    """A register of every thread lives across two SIMT regions; it becomes memory of them all."""

    @T.prim_func
    def shared_fragment(X: T.Tensor((WIDTH,), T.float32), Y: T.Tensor((WIDTH,), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((WIDTH,), T.float32)
            kept = T.alloc_fragment((WIDTH,), T.float32)
            T.copy(X, x)
            with T.SimtVF(threads=64):
                for c in T.Parallel(WIDTH):
                    kept[c] = x[c] * T.float32(2)
            with T.SimtVF(threads=64):
                for c in T.Parallel(WIDTH):
                    x[c] = kept[c]
            T.copy(x, Y)

    return shared_fragment


def rows_of_two_warps():
    """Sums of rows that are each spread over 64 of 128 threads."""

    @T.prim_func
    def rows_of_two_warps(X: T.Tensor((2, WIDTH), T.float32), Y: T.Tensor((2,), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((2, WIDTH), T.float32)
            y = T.alloc_shared((2,), T.float32)
            T.copy(X, x)
            with T.SimtVF(threads=128):
                values = T.alloc_fragment((2, WIDTH), T.float32)
                sums = T.alloc_fragment((2,), T.float32)
                for r, c in T.Parallel(2, WIDTH):
                    values[r, c] = x[r, c]
                T.reduce_sum(values, sums, dim=1)
                for r in T.Parallel(2):
                    y[r] = sums[r]
            T.copy(y, Y)

    return rows_of_two_warps


def simd_row_sums():
    """Row sums in SIMD: every row's sum is stored a whole register further on, past the output."""

    @T.prim_func
    def simd_row_sums(X: T.Tensor((4, WIDTH), T.float32), Y: T.Tensor((4,), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((4, WIDTH), T.float32)
            y = T.alloc_shared((4,), T.float32)
            T.copy(X, x)
            with T.SimdVF():
                T.reduce_sum(x, y, dim=1)
            T.copy(y, Y)

    return simd_row_sums


def slice_of_l1():
    """The right half of a tile in L1 is multiplied; the slice's offset is dropped."""

    @T.prim_func
    def slice_of_l1(
        A: T.Tensor((SIDE, 2 * SIDE), T.bfloat16),
        B: T.Tensor((SIDE, SIDE), T.bfloat16),
        C: T.Tensor((SIDE, SIDE), T.float32),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((SIDE, 2 * SIDE), T.bfloat16)
            b = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            acc = T.alloc_l0c((SIDE, SIDE), T.float32)
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a[0:SIDE, SIDE : 2 * SIDE], b, acc, transpose_B=True, clear_accum=True)
            T.copy(acc, C)

    return slice_of_l1


def slice_of_l0c():
    """Only the first rows of an accumulator are stored; they are read with the slice's pitch."""

    @T.prim_func
    def slice_of_l0c(
        A: T.Tensor((SIDE, SIDE), T.bfloat16),
        B: T.Tensor((SIDE, SIDE), T.bfloat16),
        C: T.Tensor((SIDE // 2, SIDE), T.float32),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            b = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            acc = T.alloc_l0c((SIDE, SIDE), T.float32)
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, acc, transpose_B=True, clear_accum=True)
            T.copy(acc[0 : SIDE // 2, 0:SIDE], C)

    return slice_of_l0c


def template_and_own_l0():
    """One product through the L1 template, one through L0 buffers of the kernel's own.

    Both use the same bytes of L0A and L0B and nothing orders them.
    """

    @T.prim_func
    def template_and_own_l0(
        A: T.Tensor((SIDE, SIDE), T.bfloat16),
        B: T.Tensor((SIDE, SIDE), T.bfloat16),
        C: T.Tensor((4, SIDE, SIDE), T.float32),
        D: T.Tensor((4, SIDE, SIDE), T.float32),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            b = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            a0 = T.alloc_l0a((SIDE, SIDE), T.bfloat16)
            b0 = T.alloc_l0b((SIDE, SIDE), T.bfloat16)
            first = T.alloc_l0c((SIDE, SIDE), T.float32)
            second = T.alloc_l0c((SIDE, SIDE), T.float32)
            T.copy(A, a)
            T.copy(B, b)
            for i in T.serial(4):
                T.gemm(a, b, first, transpose_B=True, clear_accum=True)
                T.copy(a, a0)
                T.copy(b, b0)
                T.gemm(a0, b0, second, transpose_B=True, clear_accum=True)
                T.copy(first, C[i, 0:SIDE, 0:SIDE])
                T.copy(second, D[i, 0:SIDE, 0:SIDE])

    return template_and_own_l0


def unlike_pieces():
    """Two products whose pieces in L0 differ in size: the same lock guards different bytes."""
    deep = 16 * SIDE

    @T.prim_func
    def unlike_pieces(
        A: T.Tensor((4 * SIDE, deep), T.bfloat16),
        B: T.Tensor((SIDE, deep), T.bfloat16),
        E: T.Tensor((SIDE, 2 * deep), T.bfloat16),
        C: T.Tensor((4 * SIDE, SIDE), T.float32),
        D: T.Tensor((SIDE, SIDE), T.float32),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((4 * SIDE, deep), T.bfloat16)
            b = T.alloc_l1((SIDE, deep), T.bfloat16)
            e = T.alloc_l1((SIDE, 2 * deep), T.bfloat16)
            first = T.alloc_l0c((4 * SIDE, SIDE), T.float32)
            second = T.alloc_l0c((SIDE, SIDE), T.float32)
            T.copy(A, a)
            T.copy(B, b)
            T.copy(E, e)
            T.gemm(a, b, first, transpose_B=True, clear_accum=True)
            T.gemm(e, e, second, transpose_B=True, clear_accum=True)
            T.copy(first, C)
            T.copy(second, D)

    return unlike_pieces


def _bf16(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape, np.float32).astype(ml_dtypes.bfloat16)


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(np.float32) @ b.astype(np.float32).T


def _sums_of_positive(X: np.ndarray) -> dict[str, np.ndarray]:
    total = np.zeros(WIDTH, np.float32)
    for row in X:
        total = total + np.maximum(row, 0)
    return {"Y": total}


ORDER = Tolerance(1e-5, 1e-3, "only the order of float32 additions differs")

FAULTS: dict[str, tuple[Workload, str]] = {
    workload.name: (workload, trace)
    for workload, trace in (
        (
            Workload(
                "prefetch_ring",
                prefetch_ring,
                lambda rng: {"X": rng.standard_normal((6, WIDTH), np.float32)},
                lambda X: {"Y": X + np.float32(1)},
                {"Y": EXACT},
            ),
            "flag-set-twice",
        ),
        (
            Workload(
                "barrier_under_guard",
                barrier_under_guard,
                lambda rng: {"X": rng.standard_normal((4, WIDTH), np.float32)},
                _sums_of_positive,
                {"Y": EXACT},
            ),
            "barrier",
        ),
        (
            Workload(
                "shared_fragment",
                shared_fragment,
                lambda rng: {"X": rng.standard_normal(WIDTH, np.float32)},
                lambda X: {"Y": 2 * X},
                {"Y": EXACT},
            ),
            "Y: ",
        ),
        (
            Workload(
                "rows_of_two_warps",
                rows_of_two_warps,
                lambda rng: {"X": rng.standard_normal((2, WIDTH), np.float32)},
                lambda X: {"Y": X.sum(1)},
                {"Y": ORDER},
            ),
            "Y: ",
        ),
        (
            Workload(
                "simd_row_sums",
                simd_row_sums,
                lambda rng: {"X": rng.standard_normal((4, WIDTH), np.float32)},
                lambda X: {"Y": X.sum(1)},
                {"Y": ORDER},
            ),
            "Y: ",
        ),
        (
            Workload(
                "slice_of_l1",
                slice_of_l1,
                lambda rng: {"A": _bf16(rng, SIDE, 2 * SIDE), "B": _bf16(rng, SIDE, SIDE)},
                lambda A, B: {"C": _product(A[:, SIDE:], B)},
                {"C": ORDER},
            ),
            "C: ",
        ),
        (
            Workload(
                "slice_of_l0c",
                slice_of_l0c,
                lambda rng: {"A": _bf16(rng, SIDE, SIDE), "B": _bf16(rng, SIDE, SIDE)},
                lambda A, B: {"C": _product(A[: SIDE // 2], B)},
                {"C": ORDER},
            ),
            "C: ",
        ),
        (
            Workload(
                "template_and_own_l0",
                template_and_own_l0,
                lambda rng: {"A": _bf16(rng, SIDE, SIDE), "B": _bf16(rng, SIDE, SIDE)},
                lambda A, B: {name: np.stack([_product(A, B)] * 4) for name in ("C", "D")},
                {"C": ORDER, "D": ORDER},
            ),
            "race",
        ),
        (
            Workload(
                "unlike_pieces",
                unlike_pieces,
                lambda rng: {
                    "A": _bf16(rng, 4 * SIDE, 16 * SIDE),
                    "B": _bf16(rng, SIDE, 16 * SIDE),
                    "E": _bf16(rng, SIDE, 32 * SIDE),
                },
                lambda A, B, E: {"C": _product(A, B), "D": _product(E, E)},
                {"C": ORDER, "D": ORDER},
            ),
            "race",
        ),
    )
}
