"""A hand-made ping-pong: a row is loaded while the one before it is worked on and stored."""

import numpy as np
import tilelang.ascend.language as T


def manual_ring(rows: int = 64, width: int = 4096, threads: int = 512, blocks: int = 2):
    """Two slots a buffer, indexed by hand; the compiler only has to synchronize them.

    One ring has a dimension for its slots, the other lays them out one after the other.
    """
    share = rows // blocks

    @T.prim_func
    def manual_ring(
        X: T.Tensor((rows, width), T.float32),
        Y: T.Tensor((rows, width), T.float32),
    ):
        with T.Kernel(blocks) as block:
            source = T.alloc_shared((2, width), T.float32)
            result = T.alloc_shared((2 * width,), T.float32)
            T.annotate_manual_multi_buffer(source, {result: 2})
            for i in T.serial(share):
                row = block * share + i
                slot = i % 2 * width
                T.copy(X[row, 0:width], source[i % 2, 0:width])
                with T.SimtVF(threads=threads):
                    for c in T.Parallel(width):
                        result[slot + c] = source[i % 2, c] * source[i % 2, c] + T.float32(1)
                T.copy(result[slot : slot + width], Y[row, 0:width])

    return manual_ring


TINY = {"rows": 12, "width": 128, "threads": 64, "blocks": 2}


def inputs(
    rng: np.random.Generator, rows: int = 64, width: int = 4096, **_: int
) -> dict[str, np.ndarray]:
    """Standard normal values."""
    return {"X": rng.standard_normal((rows, width), np.float32)}


def reference(X: np.ndarray) -> dict[str, np.ndarray]:
    """Squares plus one in float32."""
    return {"Y": X * X + np.float32(1)}


TOLERANCES = {
    "Y": {
        "rtol": 2**-23,
        "atol": 0.0,
        "why": "a fused multiply-add rounds once, two operations twice: one unit in the last place",
    }
}
