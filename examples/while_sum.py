"""Column sums over as many rows as a tensor says, by a ``while`` that stops there."""

import numpy as np
import tilelang.ascend.language as T


def while_sum(
    rows: int = 4096, width: int = 512, tile: int = 16, threads: int = 256, blocks: int = 4
):
    """Block ``b`` owns ``rows // blocks`` rows and adds up the first ``Count[b]`` of them."""
    share = rows // blocks

    @T.prim_func
    def while_sum(
        X: T.Tensor((rows, width), T.float32),
        Count: T.Tensor((blocks,), T.int32),
        Sum: T.Tensor((blocks, width), T.float32),
    ):
        with T.Kernel(blocks) as block:
            x = T.alloc_shared((tile, width), T.float32)
            total = T.alloc_shared((width,), T.float32)
            done = T.alloc_var(T.int32)
            count = T.alloc_var(T.int32)
            with T.SimtVF(threads=threads):
                for c in T.Parallel(width):
                    total[c] = T.float32(0)
            done = 0
            count = Count[block]
            while done < count:
                T.copy(X[block * share + done, 0], x)
                with T.SimtVF(threads=threads):
                    partial = T.alloc_var(T.float32)
                    for piece in T.serial(width // threads):
                        c = piece * threads + T.get_thread_binding()
                        partial = total[c]
                        for r in T.serial(T.min(tile, count - done)):
                            partial += x[r, c]
                        total[c] = partial
                done += tile
            T.copy(total, Sum[block, 0:width])

    return while_sum


TINY = {"rows": 64, "width": 64, "tile": 8, "threads": 32, "blocks": 2}


def inputs(
    rng: np.random.Generator, rows: int = 4096, width: int = 512, blocks: int = 4, **_: int
) -> dict[str, np.ndarray]:
    """Standard normal rows; block 0 has none to add, the others 1 to ``rows // blocks``."""
    share = rows // blocks
    count = rng.integers(1, share + 1, blocks, np.int32)
    count[0] = 0
    return {"X": rng.standard_normal((rows, width), np.float32), "Count": count}


def reference(X: np.ndarray, Count: np.ndarray) -> dict[str, np.ndarray]:
    """Column sums in float64 of the rows that count."""
    shares = np.split(X, len(Count))
    sums = [share[:count].sum(0, np.float64) for share, count in zip(shares, Count, strict=True)]
    return {"Sum": np.stack(sums).astype(np.float32)}


TOLERANCES = {
    "Sum": {
        "rtol": 1e-5,
        "atol": 1e-3,
        "why": "up to 1024 float32 additions in sequence to a sum of about 32: a standard "
        "deviation of about sqrt(1024) * 2**-24 * 32 = 6e-5",
    }
}
