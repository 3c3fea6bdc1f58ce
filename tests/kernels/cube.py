"""Small kernels around the Cube: alone, with both Vector cores, and through hand-staged L0.

No postponed annotations: see ``examples``.
"""

import ml_dtypes
import numpy as np
import tilelang.ascend.language as T

from examples import Tolerance, Workload

SIDE = 32
STEPS = 3


def cube_gemm():
    """One tile of C over three K steps, stored by the Cube itself; two tiles in turn."""

    @T.prim_func
    def cube_gemm(
        A: T.Tensor((2 * SIDE, STEPS * SIDE), T.bfloat16),
        B: T.Tensor((SIDE, STEPS * SIDE), T.bfloat16),
        C: T.Tensor((2 * SIDE, SIDE), T.float32),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            b = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            acc = T.alloc_l0c((SIDE, SIDE), T.float32)
            for i in T.serial(2):
                for k in T.Pipelined(STEPS, num_stages=2):
                    T.copy(A[i * SIDE, k * SIDE], a)
                    T.copy(B[0, k * SIDE], b)
                    T.gemm(a, b, acc, transpose_B=True, clear_accum=k == 0)
                T.copy(acc, C[i * SIDE, 0])

    return cube_gemm


def mixed_gemm():
    """Products on the Cube, the sign turned on both Vector cores; two blocks of two tiles."""

    @T.prim_func
    def mixed_gemm(
        A: T.Tensor((4 * SIDE, SIDE), T.bfloat16),
        B: T.Tensor((SIDE, SIDE), T.bfloat16),
        C: T.Tensor((4 * SIDE, SIDE), T.float32),
    ):
        with T.Kernel(2) as block:
            a = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            b = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            acc = T.alloc_l0c((SIDE, SIDE), T.float32)
            half = T.alloc_shared((SIDE // 2, SIDE), T.float32)
            T.copy(B, b)
            for i in T.Pipelined(2, num_stages=2):
                row = (block * 2 + i) * SIDE
                T.copy(A[row, 0], a)
                T.gemm(a, b, acc, transpose_B=True, clear_accum=True)
                T.dual_copy(acc, half)
                with T.SimtVF(threads=64):
                    for r, c in T.Parallel(SIDE // 2, SIDE):
                        half[r, c] = -half[r, c]
                T.dual_copy(half, C[row : row + SIDE, 0:SIDE])

    return mixed_gemm


def l0_gemm():
    """L0A and L0B filled by hand, twice for each tile in L1."""
    wide = 2 * SIDE

    @T.prim_func
    def l0_gemm(
        A: T.Tensor((SIDE, STEPS * wide), T.bfloat16),
        B: T.Tensor((SIDE, STEPS * wide), T.bfloat16),
        C: T.Tensor((SIDE, SIDE), T.float32),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((SIDE, wide), T.bfloat16)
            b = T.alloc_l1((SIDE, wide), T.bfloat16)
            a0 = T.alloc_l0a((SIDE, SIDE), T.bfloat16)
            b0 = T.alloc_l0b((SIDE, SIDE), T.bfloat16)
            acc = T.alloc_l0c((SIDE, SIDE), T.float32)
            for k in T.Pipelined(STEPS, num_stages=2):
                T.copy(A[0, k * wide], a)
                T.copy(B[0, k * wide], b)
                for s in T.serial(2):
                    T.copy(a[0:SIDE, s * SIDE : (s + 1) * SIDE], a0)
                    T.copy(b[0:SIDE, s * SIDE : (s + 1) * SIDE], b0)
                    T.gemm(a0, b0, acc, transpose_B=True, clear_accum=k * 2 + s == 0)
            T.copy(acc, C)

    return l0_gemm


def atomic_gemm():
    """Two blocks add their halves of K to the same tile in GM."""

    @T.prim_func
    def atomic_gemm(
        A: T.Tensor((SIDE, 2 * SIDE), T.bfloat16),
        B: T.Tensor((SIDE, 2 * SIDE), T.bfloat16),
        C: T.Tensor((SIDE, SIDE), T.float32),
    ):
        with T.Kernel(2) as block:
            a = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            b = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            acc = T.alloc_l0c((SIDE, SIDE), T.float32)
            T.copy(A[0, block * SIDE], a)
            T.copy(B[0, block * SIDE], b)
            T.gemm(a, b, acc, transpose_B=True, clear_accum=True)
            T.set_atomic("add", "float32")
            T.copy(acc, C)
            T.set_atomic_none()

    return atomic_gemm


def _operands(rng: np.random.Generator, m: int, k: int) -> dict[str, np.ndarray]:
    return {
        "A": rng.standard_normal((m, k), np.float32).astype(ml_dtypes.bfloat16),
        "B": rng.standard_normal((SIDE, k), np.float32).astype(ml_dtypes.bfloat16),
    }


def _product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return A.astype(np.float32) @ B.astype(np.float32).T


ORDER = {
    "C": Tolerance(
        1e-5, 1e-4, "bf16 products are exact, only the order of at most 192 sums differs"
    )
}

CUBE = (
    Workload(
        "cube_gemm",
        cube_gemm,
        lambda rng: _operands(rng, 2 * SIDE, STEPS * SIDE),
        lambda A, B: {"C": _product(A, B)},
        ORDER,
    ),
    Workload(
        "mixed_gemm",
        mixed_gemm,
        lambda rng: _operands(rng, 4 * SIDE, SIDE),
        lambda A, B: {"C": -_product(A, B)},
        ORDER,
    ),
    Workload(
        "l0_gemm",
        l0_gemm,
        lambda rng: _operands(rng, SIDE, 2 * STEPS * SIDE),
        lambda A, B: {"C": _product(A, B)},
        ORDER,
    ),
    Workload(
        "atomic_gemm",
        atomic_gemm,
        lambda rng: _operands(rng, SIDE, 2 * SIDE) | {"C": np.zeros((SIDE, SIDE), np.float32)},
        lambda A, B, C: {"C": C + _product(A, B)},
        ORDER,
    ),
)
