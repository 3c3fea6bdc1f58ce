"""bf16 GEMM on the Cube alone: ``C = A @ B.T``, stored from L0C straight to GM in float32."""

import ml_dtypes
import numpy as np
import tilelang.ascend.language as T


def gemm_cube(
    m: int = 2048,
    n: int = 2048,
    k: int = 2048,
    tile_m: int = 128,
    tile_n: int = 256,
    tile_k: int = 128,
    blocks: int = 4,
):
    """Each block walks every ``blocks``-th tile of C; the copies of k step ``s + 1`` can overlap
    the products of step ``s``, and a tile's store the first copies of the next tile."""
    columns = n // tile_n
    tiles = m // tile_m * columns

    @T.prim_func
    def gemm_cube(
        A: T.Tensor((m, k), T.bfloat16),
        B: T.Tensor((n, k), T.bfloat16),
        C: T.Tensor((m, n), T.float32),
    ):
        with T.Kernel(blocks) as block:
            a = T.alloc_l1((tile_m, tile_k), T.bfloat16)
            b = T.alloc_l1((tile_n, tile_k), T.bfloat16)
            acc = T.alloc_l0c((tile_m, tile_n), T.float32)
            for turn in T.serial(tiles // blocks):
                tile = turn * blocks + block
                row = tile // columns * tile_m
                col = tile % columns * tile_n
                for step in T.Pipelined(k // tile_k, num_stages=2):
                    T.copy(A[row, step * tile_k], a)
                    T.copy(B[col, step * tile_k], b)
                    T.gemm(a, b, acc, transpose_B=True, clear_accum=step == 0)
                T.copy(acc, C[row, col])

    return gemm_cube


TINY = {"m": 64, "n": 64, "k": 64, "tile_m": 32, "tile_n": 32, "tile_k": 32, "blocks": 2}


def inputs(
    rng: np.random.Generator, m: int = 2048, n: int = 2048, k: int = 2048, **_: int
) -> dict[str, np.ndarray]:
    """Standard normal operands in bf16."""
    return {
        "A": rng.standard_normal((m, k), np.float32).astype(ml_dtypes.bfloat16),
        "B": rng.standard_normal((n, k), np.float32).astype(ml_dtypes.bfloat16),
    }


def reference(A: np.ndarray, B: np.ndarray) -> dict[str, np.ndarray]:
    """The product in float32."""
    return {"C": A.astype(np.float32) @ B.astype(np.float32).T}


TOLERANCES = {
    "C": {
        "rtol": 1e-5,
        "atol": 1e-3,
        "why": "bf16 products are exact in float32, only the order of the 2048 additions differs: "
        "a standard deviation of about sqrt(K) * 2**-24 * sqrt(K) = 1.2e-4",
    }
}
