"""LayerNorm of float32 rows as a software pipeline staged by hand with ``T.Stage``."""

import numpy as np
import tilelang.ascend.language as T

EPSILON = 1e-5
LANES = 64


def layernorm_manual(rows: int = 4096, width: int = 4096, tile: int = 2, blocks: int = 8):
    """Stage 0 loads, stage 1 normalizes in SIMD, stage 2 stores: three tiles in flight.

    The mean is subtracted before squares are summed, so that no digits cancel.
    """
    share = rows // blocks

    @T.prim_func
    def layernorm_manual(
        X: T.Tensor((rows, width), T.float32),
        Gamma: T.Tensor((width,), T.float32),
        Beta: T.Tensor((width,), T.float32),
        Y: T.Tensor((rows, width), T.float32),
    ):
        with T.Kernel(blocks) as block:
            gamma = T.alloc_shared((width,), T.float32)
            beta = T.alloc_shared((width,), T.float32)
            x = T.alloc_shared((tile, width), T.float32)
            y = T.alloc_shared((tile, width), T.float32)
            T.copy(Gamma, gamma)
            T.copy(Beta, beta)
            for step in T.Pipelined(
                share // tile, num_stages=2, annotations={"enable_offset": True}
            ):
                row = block * share + step * tile
                with T.Stage(0):
                    T.copy(X[row, 0], x)
                with T.Stage(1), T.SimdVF():
                    for r in T.serial(tile):
                        total = T.simd.alloc_var("float32")
                        total = T.simd.vdup(0.0, "float32")
                        for c in T.serial(width // LANES):
                            total = T.simd.vadd(total, T.simd.vld(x[r, c * LANES]))
                        mean = T.simd.vmuls(T.simd.vdupv(T.simd.vcadd(total)), 1 / width)
                        square = T.simd.alloc_var("float32")
                        square = T.simd.vdup(0.0, "float32")
                        for c in T.serial(width // LANES):
                            away = T.simd.vsub(T.simd.vld(x[r, c * LANES]), mean)
                            square = T.simd.vadd(square, T.simd.vmul(away, away))
                        variance = T.simd.vmuls(T.simd.vdupv(T.simd.vcadd(square)), 1 / width)
                        deviation = T.simd.vsqrt(T.simd.vadds(variance, EPSILON))
                        for c in T.serial(width // LANES):
                            away = T.simd.vsub(T.simd.vld(x[r, c * LANES]), mean)
                            scaled = T.simd.vmul(
                                T.simd.vdiv(away, deviation), T.simd.vld(gamma[c * LANES])
                            )
                            T.simd.vsts(
                                y[r, c * LANES], T.simd.vadd(scaled, T.simd.vld(beta[c * LANES]))
                            )
                with T.Stage(2):
                    T.copy(y, Y[row, 0])

    return layernorm_manual


TINY = {"rows": 16, "width": 128, "tile": 2, "blocks": 2}


def inputs(
    rng: np.random.Generator, rows: int = 4096, width: int = 4096, **_: int
) -> dict[str, np.ndarray]:
    """Normal rows of mean 1 and deviation 2; weights around 1, offsets around 0."""
    return {
        "X": rng.normal(1, 2, (rows, width)).astype(np.float32),
        "Gamma": rng.uniform(0.5, 1.5, width).astype(np.float32),
        "Beta": rng.standard_normal(width, np.float32),
    }


def reference(X: np.ndarray, Gamma: np.ndarray, Beta: np.ndarray) -> dict[str, np.ndarray]:
    """The norm in float64."""
    x = X.astype(np.float64)
    away = x - x.mean(1, keepdims=True)
    deviation = np.sqrt(np.square(away).mean(1, keepdims=True) + EPSILON)
    return {"Y": (away / deviation * Gamma + Beta).astype(np.float32)}


TOLERANCES = {
    "Y": {
        "rtol": 1e-5,
        "atol": 1e-5,
        "why": "sums of 64 terms a lane and 64 lanes: relative errors of some 2**-24 in mean and "
        "deviation, times values of up to 6",
    }
}
