"""RMSNorm of bf16 rows with a bf16 weight: ``Y = X / sqrt(mean(X**2) + 1e-6) * W``."""

import ml_dtypes
import numpy as np
import tilelang.ascend.language as T

EPSILON = 1e-6


def rmsnorm(
    rows: int = 4096, width: int = 4096, tile: int = 4, threads: int = 512, blocks: int = 8
):
    """A tile of rows at a time; all threads of the region share each row."""
    share = rows // blocks

    @T.prim_func
    def rmsnorm(
        X: T.Tensor((rows, width), T.bfloat16),
        W: T.Tensor((width,), T.bfloat16),
        Y: T.Tensor((rows, width), T.bfloat16),
    ):
        with T.Kernel(blocks) as block:
            weight = T.alloc_shared((width,), T.bfloat16)
            x = T.alloc_shared((tile, width), T.bfloat16)
            y = T.alloc_shared((tile, width), T.bfloat16)
            T.copy(W, weight)
            for step in T.Pipelined(share // tile, num_stages=2):
                row = block * share + step * tile
                T.copy(X[row, 0], x)
                with T.SimtVF(threads=threads):
                    squares = T.alloc_fragment((width,), T.float32)
                    total = T.alloc_fragment((1,), T.float32)
                    for r in T.serial(tile):
                        for c in T.Parallel(width):
                            value = T.cast(x[r, c], T.float32)
                            squares[c] = value * value
                        T.reduce_sum(squares, total, dim=0)
                        for c in T.Parallel(width):
                            y[r, c] = T.cast(
                                T.cast(x[r, c], T.float32)
                                * T.rsqrt(total[0] / width + T.float32(EPSILON))
                                * T.cast(weight[c], T.float32),
                                T.bfloat16,
                            )
                T.copy(y, Y[row, 0])

    return rmsnorm


TINY = {"rows": 8, "width": 128, "tile": 2, "threads": 64, "blocks": 2}


def inputs(
    rng: np.random.Generator, rows: int = 4096, width: int = 4096, **_: int
) -> dict[str, np.ndarray]:
    """Standard normal rows; weights around 1."""
    return {
        "X": rng.standard_normal((rows, width), np.float32).astype(ml_dtypes.bfloat16),
        "W": rng.uniform(0.5, 1.5, width).astype(ml_dtypes.bfloat16),
    }


def reference(X: np.ndarray, W: np.ndarray) -> dict[str, np.ndarray]:
    """The norm in float64, the product in float32, rounded to bf16 once."""
    x = X.astype(np.float32)
    mean = np.square(x, dtype=np.float64).mean(1, keepdims=True)
    scaled = x / np.sqrt(mean + EPSILON) * W.astype(np.float32)
    return {"Y": scaled.astype(ml_dtypes.bfloat16)}


TOLERANCES = {
    "Y": {
        "rtol": 2**-7,
        "atol": 1e-30,
        "why": "float32 arithmetic can round a value next to a tie to the other bf16 neighbour: "
        "one unit in the last of 8 bits",
    }
}
