"""Small kernels on the Vector cores: copies, SIMT and SIMD bodies, a loop after a loop.

No postponed annotations: see ``examples``.
"""

import numpy as np
import tilelang.ascend.language as T

from examples import EXACT, Workload

WIDTH = 64


def copy():
    """GM to UB to GM, with nothing between."""

    @T.prim_func
    def copy(X: T.Tensor((4, WIDTH), T.float32), Y: T.Tensor((4, WIDTH), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((WIDTH,), T.float32)
            for i in T.Pipelined(4, num_stages=2):
                T.copy(X[i, 0:WIDTH], x)
                T.copy(x, Y[i, 0:WIDTH])

    return copy


def simt_add():
    """Two loads, one SIMT body, one store; two blocks."""

    @T.prim_func
    def simt_add(
        X: T.Tensor((8, WIDTH), T.float32),
        Y: T.Tensor((8, WIDTH), T.float32),
        Z: T.Tensor((8, WIDTH), T.float32),
    ):
        with T.Kernel(2) as block:
            x = T.alloc_shared((2, WIDTH), T.float32)
            y = T.alloc_shared((2, WIDTH), T.float32)
            z = T.alloc_shared((2, WIDTH), T.float32)
            for i in T.Pipelined(2, num_stages=2):
                row = block * 4 + i * 2
                T.copy(X[row, 0], x)
                T.copy(Y[row, 0], y)
                with T.SimtVF(threads=64):
                    for r, c in T.Parallel(2, WIDTH):
                        z[r, c] = x[r, c] + y[r, c]
                T.copy(z, Z[row, 0])

    return simt_add


def simd_scale():
    """A SIMD body with a remainder mask: 96 values are one register and a half."""

    @T.prim_func
    def simd_scale(X: T.Tensor((4, 96), T.float32), Y: T.Tensor((4, 96), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((128,), T.float32)
            y = T.alloc_shared((96,), T.float32)
            for i in T.Pipelined(4, num_stages=2):
                T.copy(X[i, 0:96], x[0:96])
                with T.SimdVF():
                    half = T.simd.pset(32, "PAT_VL32")
                    T.simd.vsts(y[0], T.simd.vmuls(T.simd.vld(x[0]), 3.0))
                    T.simd.vsts(y[64], T.simd.vmuls(T.simd.vld(x[64]), 3.0), half, extent=32)
                T.copy(y, Y[i, 0:96])

    return simd_scale


def two_loops():
    """The second loop consumes what the first one accumulated in UB."""

    @T.prim_func
    def two_loops(X: T.Tensor((4, WIDTH), T.float32), Y: T.Tensor((4, WIDTH), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((WIDTH,), T.float32)
            y = T.alloc_shared((WIDTH,), T.float32)
            total = T.alloc_shared((WIDTH,), T.float32)
            with T.SimtVF(threads=64):
                for c in T.Parallel(WIDTH):
                    total[c] = T.float32(0)
            for i in T.Pipelined(4, num_stages=2):
                T.copy(X[i, 0:WIDTH], x)
                with T.SimtVF(threads=64):
                    for c in T.Parallel(WIDTH):
                        total[c] = total[c] + x[c]
            for i in T.Pipelined(4, num_stages=2):
                with T.SimtVF(threads=64):
                    for c in T.Parallel(WIDTH):
                        y[c] = total[c] * T.cast(i, T.float32)
                T.copy(y, Y[i, 0:WIDTH])

    return two_loops


def through_gm():
    """A row is stored to GM and loaded back from there in the next iteration."""

    @T.prim_func
    def through_gm(X: T.Tensor((4, WIDTH), T.float32), Y: T.Tensor((5, WIDTH), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((WIDTH,), T.float32)
            y = T.alloc_shared((WIDTH,), T.float32)
            T.copy(X[0, 0:WIDTH], x)
            T.copy(x, Y[0, 0:WIDTH])
            for i in T.serial(4):
                T.copy(X[i, 0:WIDTH], x)
                T.copy(Y[i, 0:WIDTH], y)
                with T.SimtVF(threads=64):
                    for c in T.Parallel(WIDTH):
                        y[c] = x[c] + y[c]
                T.copy(y, Y[i + 1, 0:WIDTH])

    return through_gm


def _rows(rng: np.random.Generator, rows: int = 4, width: int = WIDTH) -> dict[str, np.ndarray]:
    return {"X": rng.standard_normal((rows, width), np.float32)}


def _two(rng: np.random.Generator) -> dict[str, np.ndarray]:
    return _rows(rng, 8) | {"Y": rng.standard_normal((8, WIDTH), np.float32)}


def _accumulate(X: np.ndarray) -> np.ndarray:
    total = np.zeros(WIDTH, np.float32)
    for row in X:
        total = total + row
    return total


def _chain(X: np.ndarray) -> dict[str, np.ndarray]:
    y = [X[0]]
    for row in X:
        y.append(row + y[-1])
    return {"Y": np.stack(y)}


VECTOR = (
    Workload("copy", copy, _rows, lambda X: {"Y": X}, {"Y": EXACT}),
    Workload("simt_add", simt_add, _two, lambda X, Y: {"Z": X + Y}, {"Z": EXACT}),
    Workload(
        "simd_scale",
        simd_scale,
        lambda rng: _rows(rng, width=96),
        lambda X: {"Y": X * np.float32(3)},
        {"Y": EXACT},
    ),
    Workload(
        "two_loops",
        two_loops,
        _rows,
        lambda X: {"Y": np.outer(np.arange(4, dtype=np.float32), _accumulate(X))},
        {"Y": EXACT},
    ),
    Workload("through_gm", through_gm, _rows, _chain, {"Y": EXACT}),
)
