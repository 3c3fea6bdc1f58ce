"""Vector add whose number of rows is known at run time only: ``Z = X + Y``, any M from 0 up."""

import numpy as np
import tilelang.ascend.language as T


def dynamic_add(n: int = 1024, rows: int = 16, threads: int = 512, blocks: int = 4, **_: int):
    """Tiles of ``rows`` rows are dealt out to the blocks; the last tile holds what remains."""
    m = T.dynamic("m")

    @T.prim_func
    def dynamic_add(
        X: T.Tensor((m, n), T.float32),
        Y: T.Tensor((m, n), T.float32),
        Z: T.Tensor((m, n), T.float32),
    ):
        with T.Kernel(blocks) as block:
            x = T.alloc_shared((rows, n), T.float32)
            y = T.alloc_shared((rows, n), T.float32)
            for turn in T.Pipelined(T.ceildiv(m, rows * blocks), num_stages=2):
                row = (turn * blocks + block) * rows
                if row < m:
                    T.copy(X[row, 0], x)
                    T.copy(Y[row, 0], y)
                    with T.SimtVF(threads=threads):
                        for r in T.serial(T.min(rows, m - row)):
                            for c in T.Parallel(n):
                                x[r, c] = x[r, c] + y[r, c]
                    T.copy(x, Z[row, 0])

    return dynamic_add


TINY = {"m": 37, "n": 64, "rows": 8, "threads": 32, "blocks": 2}


def inputs(
    rng: np.random.Generator, m: int = 4100, n: int = 1024, **_: int
) -> dict[str, np.ndarray]:
    """Two matrices of ``m`` rows; ``m`` may be any number, 0 included."""
    return {name: rng.standard_normal((m, n), np.float32) for name in ("X", "Y")}


def reference(X: np.ndarray, Y: np.ndarray) -> dict[str, np.ndarray]:
    """The sum in float32, which rounds as the kernel does."""
    return {"Z": X + Y}


TOLERANCES = {"Z": {"rtol": 0.0, "atol": 0.0, "why": "one float32 addition rounds the same"}}
