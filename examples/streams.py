"""N independent copy-in, SIMT, copy-out chains that share one loop.

No chain waits for another, so whatever time the loop takes beyond that of the busiest pipe is lost
by the schedule.
"""

import numpy as np
import tilelang.ascend.language as T

COUNTS = (1, 2, 4, 8, 16, 24)


def streams(count: int = 4, iterations: int = 8, width: int = 256):
    """Chain ``s`` turns its ``width`` values of each iteration into ``x + s + 1``."""
    chains = tuple(range(count))

    @T.prim_func
    def streams(
        X: T.Tensor((count, iterations, width), T.float32),
        Y: T.Tensor((count, iterations, width), T.float32),
    ):
        with T.Kernel(1):
            buffers = [T.alloc_shared((width,), T.float32) for _ in chains]
            for i in T.Pipelined(iterations, num_stages=2):
                for s in chains:
                    T.copy(X[s, i, 0:width], buffers[s])
                    with T.SimtVF(threads=width):
                        for c in T.Parallel(width):
                            buffers[s][c] = buffers[s][c] + T.float32(s + 1)
                    T.copy(buffers[s], Y[s, i, 0:width])

    return streams.with_attr("global_symbol", f"streams_{count}")


def streams_1(**sizes: int):
    """1 chain."""
    return streams(1, **sizes)


def streams_2(**sizes: int):
    """2 chains."""
    return streams(2, **sizes)


def streams_4(**sizes: int):
    """4 chains."""
    return streams(4, **sizes)


def streams_8(**sizes: int):
    """8 chains."""
    return streams(8, **sizes)


def streams_16(**sizes: int):
    """16 chains."""
    return streams(16, **sizes)


def streams_24(**sizes: int):
    """24 chains."""
    return streams(24, **sizes)


TINY = {"iterations": 4}


def inputs(
    rng: np.random.Generator, count: int = 4, iterations: int = 8, width: int = 256
) -> dict[str, np.ndarray]:
    """Standard normal values for every chain."""
    return {"X": rng.standard_normal((count, iterations, width), np.float32)}


def reference(X: np.ndarray) -> dict[str, np.ndarray]:
    """Each chain adds its own constant."""
    step = np.arange(1, len(X) + 1, dtype=np.float32)
    return {"Y": X + step[:, None, None]}


TOLERANCES = {"Y": {"rtol": 0.0, "atol": 0.0, "why": "one float32 addition rounds the same"}}
