"""Small kernels that say how they want to be scheduled, and one that runs out of event flags.

No postponed annotations: see ``examples``.
"""

import numpy as np
import tilelang.ascend.language as T

from examples import EXACT, Workload

WIDTH = 64
CHAINS = 2


def task():
    """Two loads as one task."""

    @T.prim_func
    def task(
        X: T.Tensor((4, WIDTH), T.float32),
        Z: T.Tensor((4, WIDTH), T.float32),
        Y: T.Tensor((4, WIDTH), T.float32),
    ):
        with T.Kernel(1):
            x = T.alloc_shared((WIDTH,), T.float32)
            z = T.alloc_shared((WIDTH,), T.float32)
            for i in T.Pipelined(4, num_stages=2):
                with T.Task():
                    T.copy(X[i, 0:WIDTH], x)
                    T.copy(Z[i, 0:WIDTH], z)
                with T.SimtVF(threads=64):
                    for c in T.Parallel(WIDTH):
                        x[c] = x[c] - z[c]
                T.copy(x, Y[i, 0:WIDTH])

    return task


def stage():
    """A pipeline of three stages set by hand."""

    @T.prim_func
    def stage(X: T.Tensor((6, WIDTH), T.float32), Y: T.Tensor((6, WIDTH), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((WIDTH,), T.float32)
            y = T.alloc_shared((WIDTH,), T.float32)
            for i in T.Pipelined(6, num_stages=2, annotations={"enable_offset": True}):
                with T.Stage(0):
                    T.copy(X[i, 0:WIDTH], x)
                with T.Stage(1), T.SimtVF(threads=64):
                    for c in T.Parallel(WIDTH):
                        y[c] = x[c] + T.float32(1)
                with T.Stage(2):
                    T.copy(y, Y[i, 0:WIDTH])

    return stage


def versions():
    """Three versions of the buffer, asked for by hand."""

    @T.prim_func
    def versions(X: T.Tensor((7, WIDTH), T.float32), Y: T.Tensor((7, WIDTH), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((WIDTH,), T.float32)
            T.annotate_buffer_versions({x: 3})
            for i in T.Pipelined(7, num_stages=3):
                T.copy(X[i, 0:WIDTH], x)
                with T.SimtVF(threads=64):
                    for c in T.Parallel(WIDTH):
                        x[c] = x[c] * x[c]
                T.copy(x, Y[i, 0:WIDTH])

    return versions


def ring():
    """Two slots indexed by hand."""

    @T.prim_func
    def ring(X: T.Tensor((6, WIDTH), T.float32), Y: T.Tensor((6, WIDTH), T.float32)):
        with T.Kernel(1):
            slots = T.alloc_shared((2, WIDTH), T.float32)
            T.annotate_manual_multi_buffer(slots)
            for i in T.serial(6):
                T.copy(X[i, 0:WIDTH], slots[i % 2, 0:WIDTH])
                with T.SimtVF(threads=64):
                    for c in T.Parallel(WIDTH):
                        slots[i % 2, c] = slots[i % 2, c] + T.float32(1)
                T.copy(slots[i % 2, 0:WIDTH], Y[i, 0:WIDTH])

    return ring


def permuted_rows():
    """Rows go where a permutation says; a hint tells that no two of them meet."""

    @T.prim_func
    def permuted_rows(
        X: T.Tensor((6, WIDTH), T.float32),
        Place: T.Tensor((6,), T.int32),
        Y: T.Tensor((6, WIDTH), T.float32),
    ):
        with T.Kernel(1):
            x = T.alloc_shared((WIDTH,), T.float32)
            for i in T.Pipelined(6, num_stages=2):
                T.assume_no_conflict(Y[Place[i], 0:WIDTH])
                T.copy(X[i, 0:WIDTH], x)
                T.copy(x, Y[Place[i], 0:WIDTH])

    return permuted_rows


def many_flags():
    """Two chains of five versions: ten event ids where a pair of pipes has eight."""
    chains = tuple(range(CHAINS))

    @T.prim_func
    def many_flags(
        X: T.Tensor((CHAINS, 12, WIDTH), T.float32),
        Y: T.Tensor((CHAINS, 12, WIDTH), T.float32),
    ):
        with T.Kernel(1):
            buffers = [T.alloc_shared((WIDTH,), T.float32) for _ in chains]
            T.annotate_buffer_versions(dict.fromkeys(buffers, 5))
            for i in T.Pipelined(12, num_stages=5):
                for s in chains:
                    T.copy(X[s, i, 0:WIDTH], buffers[s])
                    with T.SimtVF(threads=64):
                        for c in T.Parallel(WIDTH):
                            buffers[s][c] = buffers[s][c] + T.float32(s + 1)
                    T.copy(buffers[s], Y[s, i, 0:WIDTH])

    return many_flags


def _rows(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal((*shape, WIDTH), np.float32)


def _scatter(X: np.ndarray, Place: np.ndarray) -> dict[str, np.ndarray]:
    y = np.empty_like(X)
    y[Place] = X
    return {"Y": y}


HINTS = (
    Workload(
        "task",
        task,
        lambda rng: {"X": _rows(rng, 4), "Z": _rows(rng, 4)},
        lambda X, Z: {"Y": X - Z},
        {"Y": EXACT},
    ),
    Workload(
        "stage",
        stage,
        lambda rng: {"X": _rows(rng, 6)},
        lambda X: {"Y": X + np.float32(1)},
        {"Y": EXACT},
    ),
    Workload(
        "versions",
        versions,
        lambda rng: {"X": _rows(rng, 7)},
        lambda X: {"Y": X * X},
        {"Y": EXACT},
    ),
    Workload(
        "ring",
        ring,
        lambda rng: {"X": _rows(rng, 6)},
        lambda X: {"Y": X + np.float32(1)},
        {"Y": EXACT},
    ),
    Workload(
        "permuted_rows",
        permuted_rows,
        lambda rng: {"X": _rows(rng, 6), "Place": rng.permutation(6).astype(np.int32)},
        _scatter,
        {"Y": EXACT},
    ),
    Workload(
        "many_flags",
        many_flags,
        lambda rng: {"X": _rows(rng, CHAINS, 12)},
        lambda X: {"Y": X + np.arange(1, CHAINS + 1, dtype=np.float32)[:, None, None]},
        {"Y": EXACT},
    ),
)
