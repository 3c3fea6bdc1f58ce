"""bf16 GEMM with bias and GELU on the Vector cores: ``C = gelu(A @ B.T + bias)``, C in bf16.

GELU in its tanh form: ``x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))``.
"""

import math

import ml_dtypes
import numpy as np
import tilelang.ascend.language as T

SLOPE = math.sqrt(2 / math.pi)
CUBIC = 0.044715


def gemm_bias_gelu(
    m: int = 1024,
    n: int = 2048,
    k: int = 1024,
    tile_m: int = 128,
    tile_n: int = 128,
    tile_k: int = 128,
    blocks: int = 4,
):
    """Tiles of C are dealt out to the blocks; each AIV gets one half of a tile's rows."""
    rows = tile_m // 2

    @T.prim_func
    def gemm_bias_gelu(
        A: T.Tensor((m, k), T.bfloat16),
        B: T.Tensor((n, k), T.bfloat16),
        Bias: T.Tensor((n,), T.float32),
        C: T.Tensor((m, n), T.bfloat16),
    ):
        with T.Kernel(blocks) as block:
            a = T.alloc_l1((tile_m, tile_k), T.bfloat16)
            b = T.alloc_l1((tile_n, tile_k), T.bfloat16)
            acc = T.alloc_l0c((tile_m, tile_n), T.float32)
            half = T.alloc_shared((rows, tile_n), T.float32)
            bias = T.alloc_shared((tile_n,), T.float32)
            out = T.alloc_shared((rows, tile_n), T.bfloat16)
            for i, j in T.Persistent([m // tile_m, n // tile_n], blocks, block):
                row, col = i * tile_m, j * tile_n
                T.copy(Bias[col : col + tile_n], bias)
                for step in T.Pipelined(k // tile_k, num_stages=2):
                    T.copy(A[row, step * tile_k], a)
                    T.copy(B[col, step * tile_k], b)
                    T.gemm(a, b, acc, transpose_B=True, clear_accum=step == 0)
                T.dual_copy(acc, half)
                with T.SimtVF(threads=512):
                    for r, c in T.Parallel(rows, tile_n):
                        x = half[r, c] + bias[c]
                        inner = T.float32(SLOPE) * (x + T.float32(CUBIC) * x * x * x)
                        out[r, c] = T.cast(
                            T.float32(0.5) * x * (T.float32(1) + T.tanh(inner)), T.bfloat16
                        )
                T.dual_copy(out, C[row : row + tile_m, col : col + tile_n])

    return gemm_bias_gelu


TINY = {"m": 64, "n": 64, "k": 64, "tile_m": 32, "tile_n": 32, "tile_k": 32, "blocks": 2}


def inputs(
    rng: np.random.Generator, m: int = 1024, n: int = 2048, k: int = 1024, **_: int
) -> dict[str, np.ndarray]:
    """Operands scaled such that sums have deviation 1, where GELU bends."""
    return {
        "A": rng.standard_normal((m, k), np.float32).astype(ml_dtypes.bfloat16),
        "B": (rng.standard_normal((n, k), np.float32) / np.sqrt(k)).astype(ml_dtypes.bfloat16),
        "Bias": rng.standard_normal(n, np.float32),
    }


def reference(A: np.ndarray, B: np.ndarray, Bias: np.ndarray) -> dict[str, np.ndarray]:
    """The product in float32, GELU in float64, rounded to bf16 once."""
    x = (A.astype(np.float32) @ B.astype(np.float32).T + Bias).astype(np.float64)
    gelu = x / 2 * (1 + np.tanh(SLOPE * (x + CUBIC * x**3)))
    return {"C": gelu.astype(ml_dtypes.bfloat16)}


TOLERANCES = {
    "C": {
        "rtol": 2**-7,
        "atol": 1e-5,
        "why": "float32 arithmetic can round a value next to a tie to the other bf16 neighbour: "
        "one unit in the last of 8 bits; the cancellation in 1 + tanh "
        "leaves 2**-24 * |x|",
    }
}
