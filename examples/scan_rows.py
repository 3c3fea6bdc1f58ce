"""Running sum along rows, chunk by chunk, with the sums so far kept in UB."""

import numpy as np
import tilelang.ascend.language as T


def scan_rows(
    rows: int = 64,
    width: int = 65536,
    chunk: int = 1024,
    tile: int = 16,
    lanes: int = 32,
    blocks: int = 4,
):
    """``lanes`` threads share a row of a chunk: each adds up a stretch of it, looks up the sums of
    the stretches before its own, and writes its part of the running sum."""
    stretch = chunk // lanes

    @T.prim_func
    def scan_rows(
        X: T.Tensor((rows, width), T.float32),
        Y: T.Tensor((rows, width), T.float32),
    ):
        with T.Kernel(blocks) as block:
            x = T.alloc_shared((tile, chunk), T.float32)
            y = T.alloc_shared((tile, chunk), T.float32)
            sums = T.alloc_shared((tile, lanes), T.float32)
            carry = T.alloc_shared((tile,), T.float32)
            row = block * tile
            with T.SimtVF(threads=tile * lanes):
                for r in T.Parallel(tile):
                    carry[r] = T.float32(0)
            for step in T.Pipelined(width // chunk, num_stages=2):
                T.copy(X[row : row + tile, step * chunk : (step + 1) * chunk], x)
                with T.SimtVF(threads=tile * lanes):
                    thread = T.get_thread_binding()
                    r = thread // lanes
                    lane = thread % lanes
                    total = T.alloc_var(T.float32)
                    total = T.float32(0)
                    for c in T.serial(stretch):
                        total += x[r, lane * stretch + c]
                    sums[r, lane] = total
                    T.sync_threads()
                    total = carry[r]
                    for before in T.serial(lane):
                        total += sums[r, before]
                    for c in T.serial(stretch):
                        total += x[r, lane * stretch + c]
                        y[r, lane * stretch + c] = total
                    T.sync_threads()
                    if lane == lanes - 1:
                        carry[r] = total
                T.copy(y, Y[row : row + tile, step * chunk : (step + 1) * chunk])

    return scan_rows


TINY = {"rows": 16, "width": 512, "chunk": 128, "tile": 8, "lanes": 16, "blocks": 2}


def inputs(
    rng: np.random.Generator, rows: int = 64, width: int = 65536, **_: int
) -> dict[str, np.ndarray]:
    """Standard normal values."""
    return {"X": rng.standard_normal((rows, width), np.float32)}


def reference(X: np.ndarray) -> dict[str, np.ndarray]:
    """The running sum in float64."""
    return {"Y": np.cumsum(X, axis=1, dtype=np.float64).astype(np.float32)}


TOLERANCES = {
    "Y": {
        "rtol": 1e-5,
        "atol": 1e-2,
        "why": "a sum of 65536 values wanders to about 256; each of 64 chunks rounds it some 32 "
        "times: a standard deviation of about sqrt(2048) * 2**-24 * 256 = 7e-4",
    }
}
