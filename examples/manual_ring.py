"""A hand-made ping-pong: the next row is loaded while the present one is worked on."""

import numpy as np
import tilelang.ascend.language as T


def manual_ring(rows: int = 64, width: int = 4096, blocks: int = 2):
    """Two slots of one buffer, indexed by hand; the compiler only has to synchronize them."""
    share = rows // blocks

    @T.prim_func
    def manual_ring(
        X: T.Tensor((rows, width), T.float32),
        Y: T.Tensor((rows, width), T.float32),
    ):
        with T.Kernel(blocks) as block:
            ring = T.alloc_shared((2, width), T.float32)
            T.annotate_manual_multi_buffer(ring)
            first = block * share
            T.copy(X[first, 0:width], ring[0, 0:width])
            for i in T.serial(share):
                if i + 1 < share:
                    T.copy(X[first + i + 1, 0:width], ring[(i + 1) % 2, 0:width])
                with T.SimtVF(threads=512):
                    for c in T.Parallel(width):
                        ring[i % 2, c] = ring[i % 2, c] * ring[i % 2, c] + T.float32(1)
                T.copy(ring[i % 2, 0:width], Y[first + i, 0:width])

    return manual_ring


TINY = {"rows": 8, "width": 128, "blocks": 2}


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
