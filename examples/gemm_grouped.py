"""Grouped GEMM: the rows of A belong to one group after the other, each with a B of its own."""

import ml_dtypes
import numpy as np
import tilelang.ascend.language as T


def gemm_grouped(
    groups: int = 4,
    rows: int = 1024,
    n: int = 1024,
    k: int = 1024,
    tile_m: int = 128,
    tile_n: int = 256,
    tile_k: int = 128,
    blocks: int = 4,
):
    """Group ``g`` has ``Size[g]`` rows from row ``Start[g]`` on, which is a multiple of ``tile_m``.

    A group may be empty. The rows that fill up a group's last tile are multiplied like the others.
    Every block owns a band of columns of all groups.
    """
    band = n // blocks

    @T.prim_func
    def gemm_grouped(
        A: T.Tensor((rows, k), T.bfloat16),
        B: T.Tensor((groups, n, k), T.bfloat16),
        Start: T.Tensor((groups,), T.int32),
        Size: T.Tensor((groups,), T.int32),
        C: T.Tensor((rows, n), T.float32),
    ):
        with T.Kernel(blocks) as block:
            a = T.alloc_l1((tile_m, tile_k), T.bfloat16)
            b = T.alloc_l1((tile_n, tile_k), T.bfloat16)
            acc = T.alloc_l0c((tile_m, tile_n), T.float32)
            for g in T.serial(groups):
                for i in T.serial(T.ceildiv(Size[g], tile_m)):
                    row = Start[g] + i * tile_m
                    for j in T.serial(band // tile_n):
                        col = block * band + j * tile_n
                        for step in T.Pipelined(k // tile_k, num_stages=2):
                            T.copy(A[row, step * tile_k], a)
                            T.copy(B[g, col : col + tile_n, step * tile_k : (step + 1) * tile_k], b)
                            T.gemm(a, b, acc, transpose_B=True, clear_accum=step == 0)
                        T.copy(acc, C[row, col])

    return gemm_grouped


TINY = {
    "groups": 3,
    "rows": 96,
    "n": 64,
    "k": 64,
    "tile_m": 32,
    "tile_n": 32,
    "tile_k": 32,
    "blocks": 2,
}


def inputs(
    rng: np.random.Generator,
    groups: int = 4,
    rows: int = 1024,
    n: int = 1024,
    k: int = 1024,
    tile_m: int = 128,
    **_: int,
) -> dict[str, np.ndarray]:
    """Standard normal rows in bf16, zeros between the groups; the last tile of rows is unused."""
    cuts = np.sort(rng.integers(0, rows // tile_m, groups - 1))
    tiles = np.diff(cuts, prepend=0, append=rows // tile_m - 1)
    start = (np.cumsum(tiles) - tiles) * tile_m
    size = np.maximum(tiles * tile_m - rng.integers(0, tile_m, groups), 0)
    a = np.zeros((rows, k), np.float32)
    for first, count in zip(start, size, strict=True):
        a[first : first + count] = rng.standard_normal((count, k), np.float32)
    return {
        "A": a.astype(ml_dtypes.bfloat16),
        "B": rng.standard_normal((groups, n, k), np.float32).astype(ml_dtypes.bfloat16),
        "Start": start.astype(np.int32),
        "Size": size.astype(np.int32),
        "C": np.zeros((rows, n), np.float32),
    }


def reference(
    A: np.ndarray, B: np.ndarray, Start: np.ndarray, Size: np.ndarray, C: np.ndarray
) -> dict[str, np.ndarray]:
    """One product in float32 for each group; rows of no group keep the zeros of C."""
    expected = C.copy()
    for first, size, weights in zip(Start, Size, B, strict=True):
        rows = slice(first, first + size)
        expected[rows] = A[rows].astype(np.float32) @ weights.astype(np.float32).T
    return {"C": expected}


TOLERANCES = {
    "C": {
        "rtol": 1e-5,
        "atol": 1e-3,
        "why": "bf16 products are exact in float32, only the order of the 1024 additions differs: "
        "a standard deviation of about sqrt(K) * 2**-24 * sqrt(K) = 6e-5",
    }
}
