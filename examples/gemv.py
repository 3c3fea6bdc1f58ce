"""Batched matrix-vector product on the Vector cores: ``Y[b] = A[b] @ X[b]``, float32 out."""

import ml_dtypes
import numpy as np
import tilelang.ascend.language as T

LANES = 64


def gemv(batch: int = 64, m: int = 2048, k: int = 2048, tile: int = 8, blocks: int = 8):
    """Block ``b`` takes every ``blocks``-th matrix; SIMD lanes sum columns, then each other."""

    @T.prim_func
    def gemv(
        A: T.Tensor((batch, m, k), T.bfloat16),
        X: T.Tensor((batch, k), T.bfloat16),
        Y: T.Tensor((batch, m), T.float32),
    ):
        with T.Kernel(blocks) as block:
            a = T.alloc_shared((tile, k), T.bfloat16)
            x = T.alloc_shared((k,), T.bfloat16)
            y = T.alloc_shared((tile,), T.float32)
            for i in T.serial(batch // blocks):
                b = i * blocks + block
                T.copy(X[b, 0:k], x)
                for step in T.Pipelined(m // tile, num_stages=2):
                    T.copy(A[b, step * tile : (step + 1) * tile, 0:k], a)
                    with T.SimdVF():
                        for r in T.serial(tile):
                            total = T.simd.alloc_var("float32")
                            total = T.simd.vdup(0.0, "float32")
                            for c in T.serial(k // LANES):
                                left = T.simd.vcvt(
                                    T.simd.vld(a[r, c * LANES], "UNPK_B16"), "float32"
                                )
                                right = T.simd.vcvt(T.simd.vld(x[c * LANES], "UNPK_B16"), "float32")
                                T.simd.vmula(total, left, right)
                            T.simd.vsts(y[r], T.simd.vcadd(total), dist="ONEPT_B32")
                    T.copy(y, Y[b, step * tile : (step + 1) * tile])

    return gemv


TINY = {"batch": 4, "m": 32, "k": 256, "tile": 8, "blocks": 2}


def inputs(
    rng: np.random.Generator, batch: int = 64, m: int = 2048, k: int = 2048, **_: int
) -> dict[str, np.ndarray]:
    """Standard normal operands in bf16."""
    a = np.empty((batch, m, k), ml_dtypes.bfloat16)
    for matrix in a:  # one at a time: all of them in float32 take a gigabyte
        matrix[:] = rng.standard_normal((m, k), np.float32)
    return {"A": a, "X": rng.standard_normal((batch, k), np.float32).astype(ml_dtypes.bfloat16)}


def reference(A: np.ndarray, X: np.ndarray) -> dict[str, np.ndarray]:
    """Products in float32."""
    pairs = zip(A, X, strict=True)
    return {"Y": np.stack([a.astype(np.float32) @ x.astype(np.float32) for a, x in pairs])}


TOLERANCES = {
    "Y": {
        "rtol": 1e-5,
        "atol": 1e-3,
        "why": "bf16 products are exact in float32, only the order of the 2048 additions differs: "
        "a standard deviation of about sqrt(K) * 2**-24 * sqrt(K) = 1.2e-4",
    }
}
