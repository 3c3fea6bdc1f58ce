"""bf16 GEMM staged by hand through L0A and L0B: ``C = A @ B.T``, float32 out."""

import ml_dtypes
import numpy as np
import tilelang.ascend.language as T


def gemm_l0(
    m: int = 1024,
    n: int = 1024,
    k: int = 2048,
    tile_m: int = 128,
    tile_n: int = 128,
    tile_k: int = 256,
    k0: int = 64,
    blocks: int = 4,
):
    """Two pipelined loops: GM to L1 by ``tile_k``, L1 to L0 by ``k0``."""
    inner = tile_k // k0

    @T.prim_func
    def gemm_l0(
        A: T.Tensor((m, k), T.bfloat16),
        B: T.Tensor((n, k), T.bfloat16),
        C: T.Tensor((m, n), T.float32),
    ):
        with T.Kernel(blocks) as block:
            a = T.alloc_l1((tile_m, tile_k), T.bfloat16)
            b = T.alloc_l1((tile_n, tile_k), T.bfloat16)
            a0 = T.alloc_l0a((tile_m, k0), T.bfloat16)
            b0 = T.alloc_l0b((tile_n, k0), T.bfloat16)
            acc = T.alloc_l0c((tile_m, tile_n), T.float32)
            for i, j in T.Persistent([m // tile_m, n // tile_n], blocks, block):
                for step in T.Pipelined(k // tile_k, num_stages=2):
                    T.copy(A[i * tile_m, step * tile_k], a)
                    T.copy(B[j * tile_n, step * tile_k], b)
                    for s in T.Pipelined(inner, num_stages=2):
                        T.copy(a[0:tile_m, s * k0 : (s + 1) * k0], a0)
                        T.copy(b[0:tile_n, s * k0 : (s + 1) * k0], b0)
                        T.gemm(a0, b0, acc, transpose_B=True, clear_accum=step * inner + s == 0)
                T.copy(acc, C[i * tile_m, j * tile_n])

    return gemm_l0


TINY = {
    "m": 64,
    "n": 64,
    "k": 128,
    "tile_m": 32,
    "tile_n": 32,
    "tile_k": 64,
    "k0": 32,
    "blocks": 2,
}


def inputs(
    rng: np.random.Generator, m: int = 1024, n: int = 1024, k: int = 2048, **_: int
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
