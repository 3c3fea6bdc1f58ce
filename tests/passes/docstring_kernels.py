"""Kernels that keep to what the docstrings of ``tilelang.ascend.language`` say of a knob.

No postponed annotations: TileLang evaluates those of a kernel's parameters.
"""

# ruff: noqa: SIM117  # each `with` in a line of its own, as users write them

import numpy as np
import tilelang.ascend.language as T

from examples import EXACT, Workload

ROWS, WIDTH = 16, 64
OFFSET = {"enable_offset": True}


def versions(asked):
    """Copies in and out in two of three iterations, with versions of the buffer as ``asked``."""

    @T.prim_func
    def versions(X: T.Tensor((ROWS, WIDTH), T.float32), Y: T.Tensor((ROWS, WIDTH), T.float32)):
        with T.Kernel(1):
            a = T.alloc_shared((WIDTH,), T.float32)
            if asked is not None:
                T.annotate_buffer_versions({a: asked})
            for i in T.Pipelined(ROWS // 2 * 3, num_stages=4):
                if i % 3 != 1:
                    T.copy(X[i - (i + 1) // 3, 0], a)
                    T.copy(a, Y[i - (i + 1) // 3, 0])

    return versions


def stages():
    """Stages beyond the number of versions, for several statements, a loop, and none at all."""

    @T.prim_func
    def stages(X: T.Tensor((ROWS, WIDTH), T.float32), Y: T.Tensor((ROWS, WIDTH), T.float32)):
        with T.Kernel(1):
            a = T.alloc_shared((WIDTH,), T.float32)
            b = T.alloc_shared((WIDTH,), T.float32)
            for i in T.Pipelined(ROWS, num_stages=2, annotations=OFFSET):
                T.copy(X[i, 0], a)
                with T.Stage(1), T.SimtVF(threads=64):
                    for c in T.Parallel(WIDTH):
                        b[c] = a[c] + T.float32(1)
                with T.Stage(2):
                    for part in T.serial(2):
                        T.copy(b[part * 32 : part * 32 + 32], Y[i, part * 32])

    return stages


def vector_of(count):
    """A T.Vector block on ``count`` AIVs, which synchronizes inside by hand."""

    @T.prim_func
    def vector_of(X: T.Tensor((ROWS, WIDTH), T.float32), Y: T.Tensor((ROWS, WIDTH), T.float32)):
        with T.Kernel(1):
            with T.Vector(count) as aiv:
                a = T.alloc_shared((WIDTH,), T.float32)
                for i in T.serial(ROWS // count):
                    T.copy(X[i * count + aiv, 0], a)
                    T.ascend_pipe_barrier("PIPE_ALL")
                    T.copy(a, Y[i * count + aiv, 0])
                    T.ascend_pipe_barrier("PIPE_ALL")

    return vector_of


def blocks_of_both_cores():
    """A T.Cube block and a T.Vector block, which only beside another has an AIV's number."""

    @T.prim_func
    def blocks_of_both_cores(
        X: T.Tensor((ROWS, WIDTH), T.float32),
        Y: T.Tensor((ROWS, WIDTH), T.float32),
        A: T.Tensor((16, 16), T.float16),
        C: T.Tensor((16, 16), T.float32),
    ):
        with T.Kernel(1):
            with T.Cube():
                a = T.alloc_l1((16, 16), T.float16)
                acc = T.alloc_l0c((16, 16), T.float32)
                T.copy(A, a)
                T.ascend_pipe_barrier("PIPE_ALL")
                T.gemm(a, a, acc, transpose_B=True, clear_accum=True)
                T.ascend_pipe_barrier("PIPE_ALL")
                T.copy(acc, C)
            with T.Vector() as aiv:
                x = T.alloc_shared((WIDTH,), T.float32)
                for i in T.serial(ROWS // 2):
                    T.copy(X[i * 2 + aiv, 0], x)
                    T.ascend_pipe_barrier("PIPE_ALL")
                    T.copy(x, Y[i * 2 + aiv, 0])
                    T.ascend_pipe_barrier("PIPE_ALL")

    return blocks_of_both_cores


def per_core_rows():
    """One load a core, which one depends on the block, and marked tasks beside unmarked ones."""

    @T.prim_func
    def per_core_rows(X: T.Tensor((ROWS, WIDTH), T.float32), Y: T.Tensor((ROWS, WIDTH), T.float32)):
        with T.Kernel(2) as block:
            a = T.alloc_shared((WIDTH,), T.float32)
            for i in T.serial(ROWS // 2):
                with T.PerCoreTask():
                    if block == 0:
                        with T.Task():
                            T.copy(X[i, 0], a)
                    if block != 0:
                        T.copy(X[i + ROWS // 2, 0], a)
                T.copy(a, Y[i + block * (ROWS // 2), 0])

    return per_core_rows


def tasks_with_costs():
    """Tasks of several statements, with both figures, one, and none."""

    @T.prim_func
    def tasks_with_costs(
        X: T.Tensor((ROWS, WIDTH), T.float32), Y: T.Tensor((ROWS, WIDTH), T.float32)
    ):
        with T.Kernel(1):
            a = T.alloc_shared((WIDTH,), T.float32)
            for i in T.Pipelined(ROWS, num_stages=2):
                with T.Task(latency=500, ii=300):
                    T.copy(X[i, 0:32], a[0:32])
                    T.copy(X[i, 32:64], a[32:64])
                with T.Task(ii=20):
                    T.copy(a[0:32], Y[i, 0:32])
                with T.Task():
                    T.copy(a[32:64], Y[i, 32:64])

    return tasks_with_costs


def _rows(rng):
    return {"X": rng.standard_normal((ROWS, WIDTH), np.float32)}


def _both(rng):
    numbers = rng.integers(-3, 4, (16, 16)).astype(np.float16)
    return {**_rows(rng), "A": numbers}


def _copied(X):
    return {"Y": X}


def versions_workload(asked):
    return Workload("versions", lambda: versions(asked), _rows, _copied, {"Y": EXACT})


KEPT = {
    "stages": Workload("stages", stages, _rows, lambda X: {"Y": X + np.float32(1)}, {"Y": EXACT}),
    "one AIV": Workload("vector_of", lambda: vector_of(1), _rows, _copied, {"Y": EXACT}),
    "blocks of both cores": Workload(
        "blocks_of_both_cores",
        blocks_of_both_cores,
        _both,
        lambda X, A: {"Y": X, "C": A.astype(np.float32) @ A.astype(np.float32).T},
        {"Y": EXACT, "C": EXACT},
    ),
    "per-core task": Workload("per_core_rows", per_core_rows, _rows, _copied, {"Y": EXACT}),
    "tasks": Workload("tasks_with_costs", tasks_with_costs, _rows, _copied, {"Y": EXACT}),
}
"""Kernels that TileLang takes, with what they compute."""
