"""bf16 GEMM whose ReLU runs on both Vector cores: ``C = max(A @ B.T, 0)``, C in float32."""

import ml_dtypes
import numpy as np
import tilelang.ascend.language as T


def gemm_relu(
    m: int = 256,
    n: int = 7168,
    k: int = 2048,
    tile_m: int = 256,
    tile_n: int = 224,
    tile_k: int = 128,
    blocks: int = 32,
):
    """Tiles of C are dealt out to ``blocks`` blocks; each AIV gets one half of a tile's rows."""
    rows = tile_m // 2

    @T.prim_func
    def gemm_relu(
        A: T.Tensor((m, k), T.bfloat16),
        B: T.Tensor((n, k), T.bfloat16),
        C: T.Tensor((m, n), T.float32),
    ):
        with T.Kernel(blocks) as block:
            a = T.alloc_l1((tile_m, tile_k), T.bfloat16)
            b = T.alloc_l1((tile_n, tile_k), T.bfloat16)
            acc = T.alloc_l0c((tile_m, tile_n), T.float32)
            half = T.alloc_shared((rows, tile_n), T.float32)
            for i, j in T.Persistent([m // tile_m, n // tile_n], blocks, block):
                row, col = i * tile_m, j * tile_n
                for step in T.Pipelined(k // tile_k, num_stages=2):
                    T.copy(B[col, step * tile_k], b)
                    T.copy(A[row, step * tile_k], a)
                    T.gemm(a, b, acc, transpose_B=True, clear_accum=step == 0)
                T.dual_copy(acc, half)
                with T.SimtVF(threads=256):
                    for r, c in T.Parallel(rows, tile_n):
                        half[r, c] = T.max(half[r, c], T.float32(0))
                T.dual_copy(half, C[row : row + tile_m, col : col + tile_n])

    return gemm_relu


TINY = {"m": 32, "n": 64, "k": 64, "tile_m": 32, "tile_n": 32, "tile_k": 32, "blocks": 2}


def inputs(
    rng: np.random.Generator, m: int = 256, n: int = 7168, k: int = 2048, **_: int
) -> dict[str, np.ndarray]:
    """Standard normal operands in bf16."""
    return {
        "A": rng.standard_normal((m, k), np.float32).astype(ml_dtypes.bfloat16),
        "B": rng.standard_normal((n, k), np.float32).astype(ml_dtypes.bfloat16),
    }


def reference(A: np.ndarray, B: np.ndarray) -> dict[str, np.ndarray]:
    """The product in float32, negative values cut to zero."""
    product = A.astype(np.float32) @ B.astype(np.float32).T
    return {"C": np.maximum(product, 0)}


TOLERANCES = {
    "C": {
        "rtol": 1e-5,
        "atol": 1e-3,
        "why": "bf16 products are exact in float32, only the order of the 2048 additions differs: "
        "a standard deviation of about sqrt(K) * 2**-24 * sqrt(K) = 1.2e-4",
    }
}
