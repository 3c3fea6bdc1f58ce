"""Softmax over rows that do not fit into UB: two sweeps over each row, chunk by chunk."""

import numpy as np
import tilelang.ascend.language as T


def softmax_rows(
    rows: int = 256, width: int = 32768, chunk: int = 8192, threads: int = 256, blocks: int = 8
):
    """The first sweep keeps a running maximum and a running sum for each thread, with no exchange
    between threads until the row ends; the second one scales what it reads again."""
    share = rows // blocks
    chunks = width // chunk
    lowest = float(np.finfo(np.float32).min)

    @T.prim_func
    def softmax_rows(
        X: T.Tensor((rows, width), T.float32),
        Y: T.Tensor((rows, width), T.float32),
    ):
        with T.Kernel(blocks) as block:
            x = T.alloc_shared((chunk,), T.float32)
            y = T.alloc_shared((chunk,), T.float32)
            peak = T.alloc_shared((threads,), T.float32)
            mass = T.alloc_shared((threads,), T.float32)
            whole = T.alloc_shared((2,), T.float32)
            for i in T.serial(share):
                row = block * share + i
                with T.SimtVF(threads=threads):
                    for t in T.Parallel(threads):
                        peak[t] = T.float32(lowest)
                        mass[t] = T.float32(0)
                for step in T.Pipelined(chunks, num_stages=2):
                    T.copy(X[row, step * chunk : (step + 1) * chunk], x)
                    with T.SimtVF(threads=threads):
                        t = T.get_thread_binding()
                        top = T.alloc_var(T.float32)
                        total = T.alloc_var(T.float32)
                        top = peak[t]
                        for c in T.serial(chunk // threads):
                            top = T.max(top, x[c * threads + t])
                        total = mass[t] * T.exp(peak[t] - top)
                        for c in T.serial(chunk // threads):
                            total += T.exp(x[c * threads + t] - top)
                        peak[t] = top
                        mass[t] = total
                with T.SimtVF(threads=threads):
                    peaks = T.alloc_fragment((threads,), T.float32)
                    masses = T.alloc_fragment((threads,), T.float32)
                    top_all = T.alloc_fragment((1,), T.float32)
                    total_all = T.alloc_fragment((1,), T.float32)
                    for t in T.Parallel(threads):
                        peaks[t] = peak[t]
                    T.reduce_max(peaks, top_all, dim=0)
                    for t in T.Parallel(threads):
                        masses[t] = mass[t] * T.exp(peaks[t] - top_all[0])
                    T.reduce_sum(masses, total_all, dim=0)
                    whole[0] = top_all[0]
                    whole[1] = total_all[0]
                for step in T.Pipelined(chunks, num_stages=2):
                    T.copy(X[row, step * chunk : (step + 1) * chunk], y)
                    with T.SimtVF(threads=threads):
                        for c in T.Parallel(chunk):
                            y[c] = T.exp(y[c] - whole[0]) / whole[1]
                    T.copy(y, Y[row, step * chunk : (step + 1) * chunk])

    return softmax_rows


TINY = {"rows": 4, "width": 512, "chunk": 128, "threads": 64, "blocks": 2}


def inputs(
    rng: np.random.Generator, rows: int = 256, width: int = 32768, **_: int
) -> dict[str, np.ndarray]:
    """Normal values of deviation 4, so that the largest of a row stands out."""
    return {"X": rng.normal(0, 4, (rows, width)).astype(np.float32)}


def reference(X: np.ndarray) -> dict[str, np.ndarray]:
    """Softmax in float64."""
    x = X.astype(np.float64)
    power = np.exp(x - x.max(1, keepdims=True))
    return {"Y": (power / power.sum(1, keepdims=True)).astype(np.float32)}


TOLERANCES = {
    "Y": {
        "rtol": 2e-5,
        "atol": 1e-9,
        "why": "x - max is up to 40 and its rounding, 2**-24 * 40 = 2.4e-6, is a relative error of "
        "exp; the sum over 128 values a thread adds a few 2**-24",
    }
}
