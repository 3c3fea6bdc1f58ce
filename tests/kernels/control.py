"""Small kernels with control flow: guards, ``while``, bounds that data or the caller decide.

No postponed annotations: see ``examples``.
"""

import numpy as np
import tilelang.ascend.language as T

from examples import EXACT, Workload

WIDTH = 64


def guarded_loop():
    """Every other iteration loads, works and stores; the others do nothing."""

    @T.prim_func
    def guarded_loop(X: T.Tensor((6, WIDTH), T.float32), Y: T.Tensor((6, WIDTH), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((WIDTH,), T.float32)
            for i in T.Pipelined(6, num_stages=2):
                if i % 2 == 0:
                    T.copy(X[i, 0:WIDTH], x)
                    with T.SimtVF(threads=64):
                        for c in T.Parallel(WIDTH):
                            x[c] = x[c] * T.float32(2)
                    T.copy(x, Y[i, 0:WIDTH])

    return guarded_loop


def either_branch():
    """Both branches fill the same buffer, which is stored after them."""

    @T.prim_func
    def either_branch(
        X: T.Tensor((4, WIDTH), T.float32),
        Z: T.Tensor((4, WIDTH), T.float32),
        Pick: T.Tensor((4,), T.int32),
        Y: T.Tensor((4, WIDTH), T.float32),
    ):
        with T.Kernel(1):
            x = T.alloc_shared((WIDTH,), T.float32)
            for i in T.serial(4):
                if Pick[i] == 0:
                    T.copy(X[i, 0:WIDTH], x)
                else:
                    T.copy(Z[i, 0:WIDTH], x)
                T.copy(x, Y[i, 0:WIDTH])

    return either_branch


def while_copy():
    """A ``while`` that goes on until a tensor says so."""

    @T.prim_func
    def while_copy(
        X: T.Tensor((8, WIDTH), T.float32),
        Count: T.Tensor((1,), T.int32),
        Y: T.Tensor((8, WIDTH), T.float32),
    ):
        with T.Kernel(1):
            x = T.alloc_shared((WIDTH,), T.float32)
            i = T.alloc_var(T.int32)
            i = 0
            while i < Count[0]:
                T.copy(X[i, 0:WIDTH], x)
                with T.SimtVF(threads=64):
                    for c in T.Parallel(WIDTH):
                        x[c] = x[c] + T.float32(1)
                T.copy(x, Y[i, 0:WIDTH])
                i += 1

    return while_copy


def data_bound():
    """An inner loop whose trip count, 0 included, stands in a tensor; its sum is stored anyway."""

    @T.prim_func
    def data_bound(
        X: T.Tensor((4, WIDTH), T.float32),
        Count: T.Tensor((3,), T.int32),
        Y: T.Tensor((3, WIDTH), T.float32),
    ):
        with T.Kernel(1):
            x = T.alloc_shared((WIDTH,), T.float32)
            total = T.alloc_shared((WIDTH,), T.float32)
            for i in T.serial(3):
                with T.SimtVF(threads=64):
                    for c in T.Parallel(WIDTH):
                        total[c] = T.float32(0)
                for j in T.serial(Count[i]):
                    T.copy(X[j, 0:WIDTH], x)
                    with T.SimtVF(threads=64):
                        for c in T.Parallel(WIDTH):
                            total[c] = total[c] + x[c]
                T.copy(total, Y[i, 0:WIDTH])

    return data_bound


def dynamic_rows():
    """Any number of rows, the last tile cut off where the tensor ends."""
    m = T.dynamic("m")

    @T.prim_func
    def dynamic_rows(X: T.Tensor((m, WIDTH), T.float32), Y: T.Tensor((m, WIDTH), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((4, WIDTH), T.float32)
            for i in T.Pipelined(T.ceildiv(m, 4), num_stages=2):
                T.copy(X[i * 4, 0], x)
                with T.SimtVF(threads=64):
                    for r in T.serial(T.min(4, m - i * 4)):
                        for c in T.Parallel(WIDTH):
                            x[r, c] = x[r, c] + T.float32(1)
                T.copy(x, Y[i * 4, 0])

    return dynamic_rows


def _rows(rng: np.random.Generator, rows: int) -> np.ndarray:
    return rng.standard_normal((rows, WIDTH), np.float32)


def _even(X: np.ndarray, Y: np.ndarray) -> dict[str, np.ndarray]:
    y = Y.copy()
    y[::2] = 2 * X[::2]
    return {"Y": y}


def _counted(X: np.ndarray, Count: np.ndarray, Y: np.ndarray) -> dict[str, np.ndarray]:
    y = Y.copy()
    y[: Count[0]] = X[: Count[0]] + np.float32(1)
    return {"Y": y}


def _sums(X: np.ndarray, Count: np.ndarray) -> dict[str, np.ndarray]:
    y = np.zeros((len(Count), WIDTH), np.float32)
    for total, count in zip(y, Count, strict=True):
        for row in X[:count]:
            total += row
    return {"Y": y}


CONTROL = (
    Workload(
        "guarded_loop",
        guarded_loop,
        lambda rng: {"X": _rows(rng, 6), "Y": _rows(rng, 6)},
        _even,
        {"Y": EXACT},
    ),
    Workload(
        "either_branch",
        either_branch,
        lambda rng: {
            "X": _rows(rng, 4),
            "Z": _rows(rng, 4),
            "Pick": np.array([0, 1, 1, 0], np.int32),
        },
        lambda X, Z, Pick: {"Y": np.where(Pick[:, None] == 0, X, Z)},
        {"Y": EXACT},
    ),
    Workload(
        "while_copy",
        while_copy,
        lambda rng: {"X": _rows(rng, 8), "Count": np.array([5], np.int32), "Y": _rows(rng, 8)},
        _counted,
        {"Y": EXACT},
    ),
    Workload(
        "data_bound",
        data_bound,
        lambda rng: {"X": _rows(rng, 4), "Count": np.array([3, 0, 4], np.int32)},
        _sums,
        {"Y": EXACT},
    ),
    Workload(
        "dynamic_rows",
        dynamic_rows,
        lambda rng, m=10: {"X": _rows(rng, m)},
        lambda X: {"Y": X + np.float32(1)},
        {"Y": EXACT},
    ),
)
