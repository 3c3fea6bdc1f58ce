"""Small kernels for instructions and modes that no example uses.

No postponed annotations: see ``examples``.
"""

import ml_dtypes
import numpy as np
import tilelang.ascend.language as T

from examples import EXACT, Tolerance, Workload

WIDTH = 64
SIDE = 32
BINS = 8


def simd_parallel():
    """A parallel loop that the compiler turns into SIMD: 128 columns are two registers."""

    @T.prim_func
    def simd_parallel(X: T.Tensor((4, 128), T.float32), Y: T.Tensor((4, 128), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((4, 128), T.float32)
            T.copy(X, x)
            with T.SimdVF():
                for r in T.serial(4):
                    for c in T.Parallel(128):
                        x[r, c] = x[r, c] * x[r, c]
            T.copy(x, Y)

    return simd_parallel


def ballot():
    """Every warp asks all its threads."""

    @T.prim_func
    def ballot(X: T.Tensor((4, SIDE), T.float32), Y: T.Tensor((4,), T.uint32)):
        with T.Kernel(1):
            x = T.alloc_shared((4, SIDE), T.float32)
            y = T.alloc_shared((4,), T.uint32)
            T.copy(X, x)
            with T.SimtVF(threads=4 * SIDE):
                thread = T.get_thread_binding()
                votes = T.ballot(x[thread // SIDE, thread % SIDE] > T.float32(0))
                if thread % SIDE == 0:
                    y[thread // SIDE] = T.cast(votes, T.uint32)
            T.copy(y, Y)

    return ballot


def histogram():
    """Threads of two blocks count in GM by atomic additions."""

    @T.prim_func
    def histogram(X: T.Tensor((256,), T.int32), Y: T.Tensor((BINS,), T.int32)):
        with T.Kernel(2) as block:
            x = T.alloc_shared((128,), T.int32)
            T.copy(X[block * 128 : (block + 1) * 128], x)
            with T.SimtVF(threads=128):
                for c in T.Parallel(128):
                    T.atomic_add(Y[x[c]], 1)

    return histogram


def padded_rows():
    """Rows of 13 values are filled up to 16 by the load itself."""

    @T.prim_func
    def padded_rows(X: T.Tensor((4, 13), T.float32), Y: T.Tensor((4, 16), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((4, 16), T.float32)
            T.copy(X[0:4, 0:13], x[0:4, 0:13], pad_value=7.0)
            T.copy(x, Y)

    return padded_rows


def between_blocks():
    """Every block reads from GM what another one has stored, after a barrier of all blocks."""

    @T.prim_func
    def between_blocks(
        X: T.Tensor((4, WIDTH), T.float32),
        Y: T.Tensor((4, WIDTH), T.float32),
        Z: T.Tensor((4, WIDTH), T.float32),
    ):
        with T.Kernel(4) as block:
            x = T.alloc_shared((WIDTH,), T.float32)
            z = T.alloc_shared((WIDTH,), T.float32)
            T.copy(X[block, 0:WIDTH], x)
            T.copy(x, Y[block, 0:WIDTH])
            T.ascend_sync_inter_arrive("PIPE_MTE3", 0)
            T.ascend_sync_inter_wait("PIPE_MTE2", 0)
            T.copy(Y[(block + 1) % 4, 0:WIDTH], z)
            T.copy(z, Z[block, 0:WIDTH])

    return between_blocks


def per_core_task():
    """One logical load that stands in two places, one for each block."""

    @T.prim_func
    def per_core_task(
        X: T.Tensor((4, WIDTH), T.float32),
        Z: T.Tensor((4, WIDTH), T.float32),
        Y: T.Tensor((2, 4, WIDTH), T.float32),
    ):
        with T.Kernel(2) as block:
            x = T.alloc_shared((WIDTH,), T.float32)
            for i in T.Pipelined(4, num_stages=2):
                with T.PerCoreTask():
                    if block == 0:
                        with T.Task():
                            T.copy(X[i, 0:WIDTH], x)
                    if block != 0:
                        with T.Task():
                            T.copy(Z[i, 0:WIDTH], x)
                T.copy(x, Y[block, i, 0:WIDTH])

    return per_core_task


def half_gemm():
    """fp16 in, fp16 out: the store from L0C rounds."""

    @T.prim_func
    def half_gemm(
        A: T.Tensor((SIDE, SIDE), T.float16),
        B: T.Tensor((SIDE, SIDE), T.float16),
        C: T.Tensor((SIDE, SIDE), T.float16),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((SIDE, SIDE), T.float16)
            b = T.alloc_l1((SIDE, SIDE), T.float16)
            acc = T.alloc_l0c((SIDE, SIDE), T.float32)
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, acc, transpose_B=True, clear_accum=True)
            T.copy(acc, C)

    return half_gemm


def hf32_gemm():
    """float32 operands with the short multiplication switched on around the product."""

    @T.prim_func
    def hf32_gemm(
        A: T.Tensor((SIDE, SIDE), T.float32),
        B: T.Tensor((SIDE, SIDE), T.float32),
        C: T.Tensor((SIDE, SIDE), T.float32),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((SIDE, SIDE), T.float32)
            b = T.alloc_l1((SIDE, SIDE), T.float32)
            acc = T.alloc_l0c((SIDE, SIDE), T.float32)
            T.set_hf32_mode("nearest_even")
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, acc, transpose_B=True, clear_accum=True)
            T.copy(acc, C)
            T.set_hf32_mode(None)

    return hf32_gemm


def mx_gemm():
    """e4m3 operands with a power-of-two scale for every 32 values along K, two scales a word."""
    deep = 4 * SIDE

    @T.prim_func
    def mx_gemm(
        A: T.Tensor((SIDE, 2 * deep), T.float8_e4m3fn),
        B: T.Tensor((SIDE, 2 * deep), T.float8_e4m3fn),
        ScaleA: T.Tensor((SIDE, 4), T.uint16),
        ScaleB: T.Tensor((SIDE, 4), T.uint16),
        C: T.Tensor((SIDE, SIDE), T.float32),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((SIDE, deep), T.float8_e4m3fn)
            b = T.alloc_l1((SIDE, deep), T.float8_e4m3fn)
            scale_a = T.alloc_l1((SIDE, 2), T.uint16)
            scale_b = T.alloc_l1((SIDE, 2), T.uint16)
            acc = T.alloc_l0c((SIDE, SIDE), T.float32)
            for k in T.Pipelined(2, num_stages=2):
                T.copy(A[0, k * deep], a)
                T.copy(B[0, k * deep], b)
                T.copy(ScaleA[0, k * 2], scale_a)
                T.copy(ScaleB[0, k * 2], scale_b)
                T.gemm_blockscaled(
                    a, b, acc, scale_a, scale_b, transpose_B=True, clear_accum=k == 0
                )
            T.copy(acc, C)

    return mx_gemm


def _normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape, np.float32)


def _votes(X: np.ndarray) -> dict[str, np.ndarray]:
    bits = (X > 0).astype(np.uint64) << np.arange(SIDE, dtype=np.uint64)
    return {"Y": bits.sum(1).astype(np.uint32)}


def _padded(X: np.ndarray) -> dict[str, np.ndarray]:
    return {"Y": np.pad(X, ((0, 0), (0, 3)), constant_values=7)}


def _pair(rng: np.random.Generator, dtype: type, depth: int = SIDE) -> dict[str, np.ndarray]:
    return {name: _normal(rng, SIDE, depth).astype(dtype) for name in ("A", "B")}


def _few_digits(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Values with so few digits that the short multiplication loses none."""
    return {
        name: array.astype(np.float32) for name, array in _pair(rng, ml_dtypes.bfloat16).items()
    }


def _mx(rng: np.random.Generator) -> dict[str, np.ndarray]:
    exponents = {name: rng.integers(125, 130, (SIDE, 8), np.uint8) for name in ("A", "B")}
    scales = {f"Scale{name}": e.view(np.uint16) for name, e in exponents.items()}
    return _pair(rng, ml_dtypes.float8_e4m3fn, 8 * SIDE) | scales


def _scaled(values: np.ndarray, scales: np.ndarray) -> np.ndarray:
    factors = np.exp2(scales.view(np.uint8).astype(np.float32) - 127)
    return values.astype(np.float32) * np.repeat(factors, 32, axis=1)


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(np.float32) @ b.astype(np.float32).T


ORDER = Tolerance(1e-5, 1e-3, "only the order of float32 additions differs")

WIDE = (
    Workload(
        "simd_parallel",
        simd_parallel,
        lambda rng: {"X": _normal(rng, 4, 128)},
        lambda X: {"Y": X * X},
        {"Y": EXACT},
    ),
    Workload("ballot", ballot, lambda rng: {"X": _normal(rng, 4, SIDE)}, _votes, {"Y": EXACT}),
    Workload(
        "histogram",
        histogram,
        lambda rng: {
            "X": rng.integers(0, BINS, 256, np.int32),
            "Y": np.arange(BINS, dtype=np.int32),
        },
        lambda X, Y: {"Y": Y + np.bincount(X, minlength=BINS).astype(np.int32)},
        {"Y": EXACT},
    ),
    Workload(
        "padded_rows",
        padded_rows,
        lambda rng: {"X": _normal(rng, 4, 13)},
        _padded,
        {"Y": EXACT},
    ),
    Workload(
        "between_blocks",
        between_blocks,
        lambda rng: {"X": _normal(rng, 4, WIDTH)},
        lambda X: {"Y": X, "Z": np.roll(X, -1, axis=0)},
        {"Y": EXACT, "Z": EXACT},
    ),
    Workload(
        "per_core_task",
        per_core_task,
        lambda rng: {"X": _normal(rng, 4, WIDTH), "Z": _normal(rng, 4, WIDTH)},
        lambda X, Z: {"Y": np.stack([X, Z])},
        {"Y": EXACT},
    ),
    Workload(
        "half_gemm",
        half_gemm,
        lambda rng: _pair(rng, np.float16),
        lambda A, B: {"C": _product(A, B).astype(np.float16)},
        {"C": Tolerance(2**-10, 1e-4, "a tie may round to the other fp16 neighbour")},
    ),
    Workload(
        "hf32_gemm",
        hf32_gemm,
        _few_digits,
        lambda A, B: {"C": _product(A, B)},
        {"C": ORDER},
    ),
    Workload(
        "mx_gemm",
        mx_gemm,
        _mx,
        lambda A, B, ScaleA, ScaleB: {"C": _product(_scaled(A, ScaleA), _scaled(B, ScaleB))},
        {
            "C": Tolerance(
                1e-5, 1e-2, "only the order of float32 additions differs; sums reach 1000"
            )
        },
    ),
)
