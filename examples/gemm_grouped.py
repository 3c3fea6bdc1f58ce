"""Grouped GEMM: rows of A belong to one group after the other, each with a B of its own."""

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
    """``Size[g]`` rows go to group ``g``, any number of them, also none; their sum is ``rows``.

    Every block owns a band of columns of all groups. The last tile of a group reads into the next
    one's rows, and stores only those of its own.
    """
    band = n // blocks

    @T.prim_func
    def kernel(
        A: T.Tensor((rows, k), T.bfloat16),
        B: T.Tensor((groups, n, k), T.bfloat16),
        Size: T.Tensor((groups,), T.int32),
        C: T.Tensor((rows, n), T.float32),
    ):
        with T.Kernel(blocks) as block:
            a = T.alloc_l1((tile_m, tile_k), T.bfloat16)
            b = T.alloc_l1((tile_n, tile_k), T.bfloat16)
            acc = T.alloc_l0c((tile_m, tile_n), T.float32)
            start = T.alloc_var(T.int32)
            size = T.alloc_var(T.int32)
            start = 0
            for g in T.serial(groups):
                size = Size[g]
                for i in T.serial(T.ceildiv(size, tile_m)):
                    row = start + i * tile_m
                    count = T.min(tile_m, size - i * tile_m)
                    for j in T.serial(band // tile_n):
                        col = block * band + j * tile_n
                        for step in T.Pipelined(k // tile_k, num_stages=2):
                            T.copy(A[row, step * tile_k], a)
                            T.copy(B[g, col : col + tile_n, step * tile_k : (step + 1) * tile_k], b)
                            T.gemm(a, b, acc, transpose_B=True, clear_accum=step == 0)
                        T.copy(acc[0:count, 0:tile_n], C[row : row + count, col : col + tile_n])
                start += size

    return kernel


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
    **_: int,
) -> dict[str, np.ndarray]:
    """Standard normal operands in bf16; the rows are cut at random places."""
    cuts = np.sort(rng.integers(0, rows + 1, groups - 1))
    return {
        "A": rng.standard_normal((rows, k), np.float32).astype(ml_dtypes.bfloat16),
        "B": rng.standard_normal((groups, n, k), np.float32).astype(ml_dtypes.bfloat16),
        "Size": np.diff(cuts, prepend=0, append=rows).astype(np.int32),
    }


def reference(A: np.ndarray, B: np.ndarray, Size: np.ndarray) -> dict[str, np.ndarray]:
    """One product in float32 for each group."""
    parts = np.split(A.astype(np.float32), np.cumsum(Size)[:-1])
    return {
        "C": np.concatenate([a @ b.astype(np.float32).T for a, b in zip(parts, B, strict=True)])
    }


TOLERANCES = {
    "C": {
        "rtol": 1e-5,
        "atol": 1e-3,
        "why": "bf16 products are exact in float32, only the order of the 1024 additions differs: "
        "a standard deviation of about sqrt(K) * 2**-24 * sqrt(K) = 6e-5",
    }
}
