"""bf16 GEMM with K split over the blocks, which add their shares in GM: ``C += A @ B.T``."""

import ml_dtypes
import numpy as np
import tilelang.ascend.language as T


def gemm_splitk(
    m: int = 512,
    n: int = 512,
    k: int = 8192,
    tile_m: int = 128,
    tile_n: int = 128,
    tile_k: int = 128,
    split: int = 4,
):
    """Block ``s`` computes every tile over the ``s``-th of ``split`` pieces of K. The stores add
    atomically to C, which the caller has set to zero."""
    share = k // split

    @T.prim_func
    def gemm_splitk(
        A: T.Tensor((m, k), T.bfloat16),
        B: T.Tensor((n, k), T.bfloat16),
        C: T.Tensor((m, n), T.float32),
    ):
        with T.Kernel(split) as block:
            a = T.alloc_l1((tile_m, tile_k), T.bfloat16)
            b = T.alloc_l1((tile_n, tile_k), T.bfloat16)
            acc = T.alloc_l0c((tile_m, tile_n), T.float32)
            T.set_atomic("add", "float32")
            for i in T.serial(m // tile_m):
                for j in T.serial(n // tile_n):
                    for step in T.Pipelined(share // tile_k, num_stages=2):
                        T.copy(A[i * tile_m, block * share + step * tile_k], a)
                        T.copy(B[j * tile_n, block * share + step * tile_k], b)
                        T.gemm(a, b, acc, transpose_B=True, clear_accum=step == 0)
                    T.copy(acc, C[i * tile_m, j * tile_n])
            T.set_atomic_none()

    return gemm_splitk


TINY = {"m": 64, "n": 64, "k": 128, "tile_m": 32, "tile_n": 32, "tile_k": 32, "split": 2}


def inputs(
    rng: np.random.Generator, m: int = 512, n: int = 512, k: int = 8192, **_: int
) -> dict[str, np.ndarray]:
    """Standard normal operands in bf16 and the zeros that the blocks add to."""
    return {
        "A": rng.standard_normal((m, k), np.float32).astype(ml_dtypes.bfloat16),
        "B": rng.standard_normal((n, k), np.float32).astype(ml_dtypes.bfloat16),
        "C": np.zeros((m, n), np.float32),
    }


def reference(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> dict[str, np.ndarray]:
    """The product in float32 added to what C holds."""
    return {"C": C + A.astype(np.float32) @ B.astype(np.float32).T}


TOLERANCES = {
    "C": {
        "rtol": 1e-5,
        "atol": 4e-3,
        "why": "bf16 products are exact in float32, only the order of the 8192 additions differs: "
        "a standard deviation of about sqrt(K) * 2**-24 * sqrt(K) = 5e-4",
    }
}
