"""``HAND_SYNC``: kernels that synchronize by hand what scheduling orders too.

TileLang refuses those with cross-core flags in a block, and lets the others' synchronization drift
from what it guards. No postponed annotations: see ``examples``.
"""

import ml_dtypes
import numpy as np
import tilelang.ascend.language as T

from examples import EXACT, Tolerance, Workload

SIDE = 32
HALF = SIDE // 2
WIDTH = 64
TILES = 4


def cube_to_vector():
    """AIC stores a product, both AIVs wait for it and add 1."""

    @T.prim_func
    def cube_to_vector(
        A: T.Tensor((SIDE, SIDE), T.bfloat16),
        B: T.Tensor((SIDE, SIDE), T.bfloat16),
        C: T.Tensor((SIDE, SIDE), T.float32),
        Y: T.Tensor((SIDE, SIDE), T.float32),
    ):
        with T.Kernel(1):
            with T.Cube():
                a = T.alloc_l1((SIDE, SIDE), T.bfloat16)
                b = T.alloc_l1((SIDE, SIDE), T.bfloat16)
                acc = T.alloc_l0c((SIDE, SIDE), T.float32)
                T.copy(A, a)
                T.copy(B, b)
                T.gemm(a, b, acc, transpose_B=True, clear_accum=True)
                T.copy(acc, C)
                T.ascend_cross_core_set_flag(4, "PIPE_FIX", 3)
                T.ascend_cross_core_set_flag(4, "PIPE_FIX", 19)
            with T.Vector() as aiv:
                x = T.alloc_shared((HALF, SIDE), T.float32)
                T.ascend_cross_core_wait_flag(4, "PIPE_MTE2", 3)
                T.copy(C[aiv * HALF, 0], x)
                with T.SimtVF(threads=32):
                    for r, c in T.Parallel(HALF, SIDE):
                        x[r, c] = x[r, c] + T.float32(1)
                T.copy(x, Y[aiv * HALF, 0])

    return cube_to_vector


def trusted_flags():
    """As ``cube_to_vector``, but a hint keeps TileLang from ordering the tensor between them."""

    @T.prim_func
    def trusted_flags(
        A: T.Tensor((SIDE, SIDE), T.bfloat16),
        B: T.Tensor((SIDE, SIDE), T.bfloat16),
        C: T.Tensor((SIDE, SIDE), T.float32),
        Y: T.Tensor((SIDE, SIDE), T.float32),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            b = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            acc = T.alloc_l0c((SIDE, SIDE), T.float32)
            x = T.alloc_shared((HALF, SIDE), T.float32)
            T.assume_no_conflict(C)
            with T.Cube():
                T.copy(A, a)
                T.copy(B, b)
                T.gemm(a, b, acc, transpose_B=True, clear_accum=True)
                T.copy(acc, C)
                T.ascend_cross_core_set_flag(4, "PIPE_FIX", 3)
                T.ascend_cross_core_set_flag(4, "PIPE_FIX", 19)
            with T.Vector() as aiv:
                T.ascend_cross_core_wait_flag(4, "PIPE_MTE2", 3)
                T.copy(C[aiv * HALF, 0], x)
                with T.SimtVF(threads=32):
                    for r, c in T.Parallel(HALF, SIDE):
                        x[r, c] = x[r, c] + T.float32(1)
                T.copy(x, Y[aiv * HALF, 0])

    return trusted_flags


def vector_to_cube():
    """Both AIVs store their half of A doubled, AIC waits for both and multiplies."""

    @T.prim_func
    def vector_to_cube(
        A: T.Tensor((SIDE, SIDE), T.bfloat16),
        B: T.Tensor((SIDE, SIDE), T.bfloat16),
        W: T.Tensor((SIDE, SIDE), T.bfloat16),
        C: T.Tensor((SIDE, SIDE), T.float32),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            b = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            acc = T.alloc_l0c((SIDE, SIDE), T.float32)
            x = T.alloc_shared((HALF, SIDE), T.bfloat16)
            with T.Vector() as aiv:
                T.copy(A[aiv * HALF, 0], x)
                with T.SimtVF(threads=32):
                    for r, c in T.Parallel(HALF, SIDE):
                        x[r, c] = x[r, c] + x[r, c]
                T.copy(x, W[aiv * HALF, 0])
                T.ascend_cross_core_set_flag(4, "PIPE_MTE3", 5)
            with T.Cube():
                T.copy(B, b)
                T.ascend_cross_core_wait_flag(4, "PIPE_MTE2", 5)
                T.ascend_cross_core_wait_flag(4, "PIPE_MTE2", 21)
                T.copy(W, a)
                T.gemm(a, b, acc, transpose_B=True, clear_accum=True)
                T.copy(acc, C)

    return vector_to_cube


def tiles_to_vector():
    """One flag a tile, raised and awaited in loops of the blocks' own."""

    @T.prim_func
    def tiles_to_vector(
        A: T.Tensor((TILES, SIDE, SIDE), T.bfloat16),
        B: T.Tensor((SIDE, SIDE), T.bfloat16),
        C: T.Tensor((TILES, SIDE, SIDE), T.float32),
        Y: T.Tensor((TILES, SIDE, SIDE), T.float32),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            b = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            acc = T.alloc_l0c((SIDE, SIDE), T.float32)
            x = T.alloc_shared((HALF, SIDE), T.float32)
            with T.Cube():
                T.copy(B, b)
                for i in T.serial(TILES):
                    T.copy(A[i, 0, 0], a)
                    T.gemm(a, b, acc, transpose_B=True, clear_accum=True)
                    T.copy(acc, C[i, 0:SIDE, 0:SIDE])
                    T.ascend_cross_core_set_flag(4, "PIPE_FIX", 3)
                    T.ascend_cross_core_set_flag(4, "PIPE_FIX", 19)
            with T.Vector() as aiv:
                for i in T.serial(TILES):
                    T.ascend_cross_core_wait_flag(4, "PIPE_MTE2", 3)
                    T.copy(C[i, aiv * HALF, 0], x)
                    with T.SimtVF(threads=32):
                        for r, c in T.Parallel(HALF, SIDE):
                            x[r, c] = x[r, c] + T.float32(1)
                    T.copy(x, Y[i, aiv * HALF, 0])

    return tiles_to_vector


def tiles_both_ways():
    """Blocks in a loop: AIC waits until the AIVs have read the tile before it stores the next."""

    @T.prim_func
    def tiles_both_ways(
        A: T.Tensor((TILES, SIDE, SIDE), T.bfloat16),
        B: T.Tensor((SIDE, SIDE), T.bfloat16),
        W: T.Tensor((SIDE, SIDE), T.float32),
        Y: T.Tensor((TILES, SIDE, SIDE), T.float32),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            b = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            acc = T.alloc_l0c((SIDE, SIDE), T.float32)
            x = T.alloc_shared((HALF, SIDE), T.float32)
            for i in T.serial(TILES):
                with T.Cube():
                    T.copy(A[i, 0, 0], a)
                    T.copy(B, b)
                    T.gemm(a, b, acc, transpose_B=True, clear_accum=True)
                    if i > 0:
                        T.ascend_cross_core_wait_flag(4, "PIPE_FIX", 6)
                        T.ascend_cross_core_wait_flag(4, "PIPE_FIX", 22)
                    T.copy(acc, W)
                    T.ascend_cross_core_set_flag(4, "PIPE_FIX", 3)
                    T.ascend_cross_core_set_flag(4, "PIPE_FIX", 19)
                with T.Vector() as aiv:
                    T.ascend_cross_core_wait_flag(4, "PIPE_MTE2", 3)
                    T.copy(W[aiv * HALF, 0], x)
                    if i + 1 < TILES:
                        T.ascend_cross_core_set_flag(4, "PIPE_MTE2", 6)
                    with T.SimtVF(threads=32):
                        for r, c in T.Parallel(HALF, SIDE):
                            x[r, c] = x[r, c] + T.float32(1)
                    T.copy(x, Y[i, aiv * HALF, 0])

    return tiles_both_ways


def issue_order():
    """The scalar unit itself waits, and so all that it issues afterwards."""

    @T.prim_func
    def issue_order(
        A: T.Tensor((SIDE, SIDE), T.bfloat16),
        B: T.Tensor((SIDE, SIDE), T.bfloat16),
        C: T.Tensor((SIDE, SIDE), T.float32),
        Y: T.Tensor((SIDE, SIDE), T.float32),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            b = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            acc = T.alloc_l0c((SIDE, SIDE), T.float32)
            x = T.alloc_shared((HALF, SIDE), T.float32)
            with T.Cube():
                T.copy(A, a)
                T.copy(B, b)
                T.gemm(a, b, acc, transpose_B=True, clear_accum=True)
                T.copy(acc, C)
                T.ascend_cross_core_set_flag(4, "PIPE_FIX", 3)
                T.ascend_cross_core_set_flag(4, "PIPE_FIX", 19)
            with T.Vector() as aiv:
                T.ascend_cross_core_wait_flag(4, "PIPE_S", 3)
                T.copy(C[aiv * HALF, 0], x)
                with T.SimtVF(threads=32):
                    for r, c in T.Parallel(HALF, SIDE):
                        x[r, c] = x[r, c] + T.float32(1)
                T.copy(x, Y[aiv * HALF, 0])

    return issue_order


def rows_exchanged():
    """Two blocks, Vector alone: each reads what the other stored, after a barrier of all blocks."""

    @T.prim_func
    def rows_exchanged(
        X: T.Tensor((2, WIDTH), T.float32),
        W: T.Tensor((2, WIDTH), T.float32),
        Y: T.Tensor((2, WIDTH), T.float32),
    ):
        with T.Kernel(2) as block:
            x = T.alloc_shared((WIDTH,), T.float32)
            with T.Vector(vector=1):
                T.copy(X[block, 0], x)
                T.copy(x, W[block, 0])
                T.ascend_sync_inter_arrive("PIPE_MTE3", 2)
                T.ascend_sync_inter_wait("PIPE_MTE2", 2)
                T.copy(W[1 - block, 0], x)
                T.copy(x, Y[block, 0])

    return rows_exchanged


def own_flags():
    """Flags of the kernel's own between a load and the sum, with an id that scheduling uses too."""

    @T.prim_func
    def own_flags(X: T.Tensor((8, WIDTH), T.float32), Y: T.Tensor((8, WIDTH), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((WIDTH,), T.float32)
            for i in T.Pipelined(8, num_stages=2):
                T.copy(X[i, 0], x)
                T.ascend_set_flag("MTE2_V", i % 2)
                T.ascend_wait_flag("MTE2_V", i % 2)
                with T.SimtVF(threads=64):
                    for c in T.Parallel(WIDTH):
                        x[c] = x[c] + T.float32(1)
                T.copy(x, Y[i, 0])

    return own_flags


def own_barriers():
    """Barriers of all pipes around the sum, and one of MTE2 between two loads."""

    @T.prim_func
    def own_barriers(X: T.Tensor((8, WIDTH), T.float32), Y: T.Tensor((8, WIDTH), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((WIDTH,), T.float32)
            for i in T.serial(8):
                T.copy(X[i, 0:HALF], x[0:HALF])
                T.ascend_pipe_barrier("PIPE_MTE2")
                T.copy(X[i, HALF:WIDTH], x[HALF:WIDTH])
                T.ascend_pipe_barrier("PIPE_ALL")
                with T.SimtVF(threads=64):
                    for c in T.Parallel(WIDTH):
                        x[c] = x[c] + T.float32(1)
                T.ascend_pipe_barrier("PIPE_ALL")
                T.copy(x, Y[i, 0])

    return own_barriers


def barrier_at_root():
    """A barrier of all pipes outside every loop, in a kernel of Vector alone."""

    @T.prim_func
    def barrier_at_root(X: T.Tensor((8, WIDTH), T.float32), Y: T.Tensor((8, WIDTH), T.float32)):
        with T.Kernel(8) as i:
            x = T.alloc_shared((WIDTH,), T.float32)
            T.copy(X[i, 0], x)
            T.ascend_pipe_barrier("PIPE_ALL")
            T.copy(x, Y[i, 0])

    return barrier_at_root


def barriers_in_loop():
    """Barriers of all pipes around each part of a loop that is free to overlap its iterations."""

    @T.prim_func
    def barriers_in_loop(X: T.Tensor((8, WIDTH), T.float32), Y: T.Tensor((8, WIDTH), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((WIDTH,), T.float32)
            for i in T.Pipelined(8, num_stages=2):
                T.ascend_pipe_barrier("PIPE_ALL")
                T.copy(X[i, 0], x)
                T.ascend_pipe_barrier("PIPE_ALL")
                with T.SimtVF(threads=64):
                    for c in T.Parallel(WIDTH):
                        x[c] = x[c] + T.float32(1)
                T.ascend_pipe_barrier("PIPE_ALL")
                T.copy(x, Y[i, 0])

    return barriers_in_loop


def barriers_of_both_cores():
    """Nothing but barriers orders the buffers of either core: hints keep TileLang from it."""

    @T.prim_func
    def barriers_of_both_cores(
        A: T.Tensor((SIDE, SIDE), T.bfloat16),
        B: T.Tensor((SIDE, SIDE), T.bfloat16),
        X: T.Tensor((SIDE, SIDE), T.float32),
        C: T.Tensor((SIDE, SIDE), T.float32),
        Y: T.Tensor((SIDE, SIDE), T.float32),
    ):
        with T.MixedKernel(1, sids=2) as (_, aiv):
            a = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            b = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            acc = T.alloc_l0c((SIDE, SIDE), T.float32)
            x = T.alloc_shared((HALF, SIDE), T.float32)
            T.assume_no_conflict(a)
            T.assume_no_conflict(b)
            T.assume_no_conflict(acc)
            T.assume_no_conflict(x)
            T.copy(A, a)
            T.copy(B, b)
            T.copy(X[aiv * HALF, 0], x)
            T.ascend_pipe_barrier("PIPE_ALL")
            T.gemm(a, b, acc, transpose_B=True, clear_accum=True)
            with T.SimtVF(threads=32):
                for r, c in T.Parallel(HALF, SIDE):
                    x[r, c] = x[r, c] + T.float32(1)
            T.ascend_pipe_barrier("PIPE_ALL")
            T.copy(acc, C)
            T.copy(x, Y[aiv * HALF, 0])

    return barriers_of_both_cores


def _bf16(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal((*shape, SIDE), np.float32).astype(ml_dtypes.bfloat16)


def _f32(rng: np.random.Generator, rows: int) -> np.ndarray:
    return rng.standard_normal((rows, WIDTH), np.float32)


def _product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return A.astype(np.float32) @ B.astype(np.float32).T


def _doubled(A: np.ndarray, B: np.ndarray) -> dict[str, np.ndarray]:
    return {"W": A + A, "C": _product(A + A, B)}


def _plus_one(A: np.ndarray, B: np.ndarray) -> dict[str, np.ndarray]:
    product = _product(A, B)
    return {"C": product, "Y": product + 1}


def _tiles_plus_one(A: np.ndarray, B: np.ndarray) -> dict[str, np.ndarray]:
    product = _product(A, B)
    return {"W": product[-1], "Y": product + 1}


ORDER = Tolerance(1e-5, 1e-3, "only the order of float32 additions differs")

HAND_SYNC: dict[str, Workload] = {
    workload.name: workload
    for workload in (
        Workload(
            "cube_to_vector",
            cube_to_vector,
            lambda rng: {"A": _bf16(rng, SIDE), "B": _bf16(rng, SIDE)},
            _plus_one,
            {"C": ORDER, "Y": ORDER},
        ),
        Workload(
            "trusted_flags",
            trusted_flags,
            lambda rng: {"A": _bf16(rng, SIDE), "B": _bf16(rng, SIDE)},
            _plus_one,
            {"C": ORDER, "Y": ORDER},
        ),
        Workload(
            "vector_to_cube",
            vector_to_cube,
            lambda rng: {"A": _bf16(rng, SIDE), "B": _bf16(rng, SIDE)},
            _doubled,
            {"W": EXACT, "C": ORDER},
        ),
        Workload(
            "tiles_to_vector",
            tiles_to_vector,
            lambda rng: {"A": _bf16(rng, TILES, SIDE), "B": _bf16(rng, SIDE)},
            _plus_one,
            {"C": ORDER, "Y": ORDER},
        ),
        Workload(
            "tiles_both_ways",
            tiles_both_ways,
            lambda rng: {"A": _bf16(rng, TILES, SIDE), "B": _bf16(rng, SIDE)},
            _tiles_plus_one,
            {"W": ORDER, "Y": ORDER},
        ),
        Workload(
            "issue_order",
            issue_order,
            lambda rng: {"A": _bf16(rng, SIDE), "B": _bf16(rng, SIDE)},
            _plus_one,
            {"C": ORDER, "Y": ORDER},
        ),
        Workload(
            "rows_exchanged",
            rows_exchanged,
            lambda rng: {"X": _f32(rng, 2)},
            lambda X: {"W": X, "Y": X[::-1]},
            {"W": EXACT, "Y": EXACT},
        ),
        Workload(
            "own_flags",
            own_flags,
            lambda rng: {"X": _f32(rng, 8)},
            lambda X: {"Y": X + np.float32(1)},
            {"Y": EXACT},
        ),
        Workload(
            "own_barriers",
            own_barriers,
            lambda rng: {"X": _f32(rng, 8)},
            lambda X: {"Y": X + np.float32(1)},
            {"Y": EXACT},
        ),
        Workload(
            "barrier_at_root",
            barrier_at_root,
            lambda rng: {"X": _f32(rng, 8)},
            lambda X: {"Y": X},
            {"Y": EXACT},
        ),
        Workload(
            "barriers_in_loop",
            barriers_in_loop,
            lambda rng: {"X": _f32(rng, 8)},
            lambda X: {"Y": X + np.float32(1)},
            {"Y": EXACT},
        ),
        Workload(
            "barriers_of_both_cores",
            barriers_of_both_cores,
            lambda rng: {
                "A": _bf16(rng, SIDE),
                "B": _bf16(rng, SIDE),
                "X": rng.standard_normal((SIDE, SIDE), np.float32),
            },
            lambda A, B, X: {"C": _product(A, B), "Y": X + np.float32(1)},
            {"C": ORDER, "Y": EXACT},
        ),
    )
}
