"""``ODD``: kernels with code that nobody writes on purpose, and which lowers all the same.

No postponed annotations: TileLang evaluates those of a kernel's parameters.
"""

import numpy as np
import tilelang.ascend.language as T

from examples import EXACT, Workload

ROWS, WIDTH = 4, 64
ONE = np.float32(1)


def kernel(body, name):
    """A kernel around ``body(X, Y, N, a, b)``: tensors of ROWS rows, numbers, buffers of a row."""

    @T.prim_func
    def odd(
        X: T.Tensor((ROWS, WIDTH), T.float32),
        Y: T.Tensor((ROWS, WIDTH), T.float32),
        N: T.Tensor((ROWS,), T.int32),
    ):
        with T.Kernel(1):
            a = T.alloc_shared((WIDTH,), T.float32)
            b = T.alloc_shared((WIDTH,), T.float32)
            body(X, Y, N, a, b)

    return odd.with_attr("global_symbol", name)


@T.macro
def copy_all(X, Y, a):
    for r in T.serial(ROWS):
        T.copy(X[r, 0], a)
        T.copy(a, Y[r, 0])


@T.macro
def empty_loop(X, Y, N, a, b):
    for i in T.serial(0):
        T.copy(X[i, 0], a)
    copy_all(X, Y, a)


@T.macro
def negative_loop(X, Y, N, a, b):
    for _ in T.serial(-3):
        T.copy(b, Y[0, 0])
    for _ in T.serial(N[0] - 9):
        T.copy(b, Y[0, 0])
    copy_all(X, Y, a)


@T.macro
def loop_of_nothing(X, Y, N, a, b):
    for _ in T.serial(ROWS):
        T.evaluate(0)
    for i in T.serial(ROWS):
        for _ in T.serial(N[0]):
            T.evaluate(0)
        T.copy(X[i, 0], a)
        T.copy(a, Y[i, 0])


@T.macro
def let_in_guard(X, Y, N, a, b):
    for i in T.serial(ROWS):
        T.copy(X[i, 0], a)
        if N[i] > 0:
            half = N[i] // 2
            if half > 0:
                again = half + N[0]
                if again > 3:
                    with T.SimtVF(threads=64):
                        for c in T.Parallel(WIDTH):
                            a[c] = a[c] + T.float32(1)
        T.copy(a, Y[i, 0])


@T.macro
def while_in_guard(X, Y, N, a, b):
    left = T.alloc_var("int32")
    for i in T.serial(ROWS):
        T.copy(X[i, 0], a)
        left = N[i]
        if left > 1:
            while left > 1:
                with T.SimtVF(threads=64):
                    for c in T.Parallel(WIDTH):
                        a[c] = a[c] + T.float32(1)
                left = left - 1
        T.copy(a, Y[i, 0])


@T.macro
def while_in_while(X, Y, N, a, b):
    i = T.alloc_var("int32")
    j = T.alloc_var("int32")
    i = 0
    while i < ROWS:
        T.copy(X[i, 0], a)
        j = 0
        while j < N[i]:
            with T.SimtVF(threads=64):
                for c in T.Parallel(WIDTH):
                    a[c] = a[c] + T.float32(1)
            j = j + 1
        T.copy(a, Y[i, 0])
        i = i + 1


@T.macro
def guard_that_never_holds(X, Y, N, a, b):
    for i in T.serial(ROWS):
        T.copy(X[i, 0], a)
        if i > ROWS:
            T.copy(b, Y[i, 0])
        T.copy(a, Y[i, 0])


@T.macro
def task_on_no_pipe(X, Y, N, a, b):
    for i in T.serial(ROWS):
        with T.Task():
            T.evaluate(0)
        T.copy(X[i, 0], a)
        with T.Task(latency=7, ii=3):
            T.evaluate(0)
        T.copy(a, Y[i, 0])


@T.macro
def task_with_branches(X, Y, N, a, b):
    for i in T.serial(ROWS):
        with T.Task():
            if N[i] > 1:
                T.copy(X[i, 0], a)
            else:
                T.copy(X[0, 0], a)
        T.copy(a, Y[i, 0])


@T.macro
def task_around_loop(X, Y, N, a, b):
    for i in T.serial(ROWS):
        with T.Task():
            for part in T.serial(4):
                T.copy(X[i, part * 16 : part * 16 + 16], a[part * 16 : part * 16 + 16])
        T.copy(a, Y[i, 0])


@T.macro
def hint_on_nothing(X, Y, N, a, b):
    for i in T.serial(ROWS):
        T.assume_no_conflict(X[ROWS + i, 0:WIDTH], level=0)
        T.assume_no_conflict(a[WIDTH : WIDTH + 8], a[0:0])
        T.copy(X[i, 0], a)
        T.copy(a, Y[i, 0])


@T.macro
def locks_in_branch(X, Y, N, a, b):
    for i in T.serial(ROWS):
        if N[i] > 1:
            T.ascend_get_buf("PIPE_MTE2", 5)
            T.copy(X[i, 0], a)
            T.ascend_rls_buf("PIPE_MTE2", 5)
        else:
            T.copy(X[0, 0], a)
        T.copy(a, Y[i, 0])


@T.macro
def barrier_in_branch(X, Y, N, a, b):
    for i in T.serial(ROWS):
        T.copy(X[i, 0], a)
        if N[i] > 1:
            T.ascend_pipe_barrier("PIPE_ALL")
        T.copy(a, Y[i, 0])


@T.macro
def barrier_in_while(X, Y, N, a, b):
    i = T.alloc_var("int32")
    i = 0
    while i < ROWS:
        T.copy(X[i, 0], a)
        T.ascend_pipe_barrier("PIPE_ALL")
        T.copy(a, Y[i, 0])
        i = i + 1
    T.ascend_pipe_barrier("PIPE_ALL")


@T.macro
def barrier_and_stages(X, Y, N, a, b):
    for i in T.Pipelined(ROWS, num_stages=2):
        T.copy(X[i, 0], a)
        T.ascend_pipe_barrier("PIPE_ALL")
        with T.SimtVF(threads=64):
            for c in T.Parallel(WIDTH):
                b[c] = a[c] + T.float32(0)
        T.copy(b, Y[i, 0])


@T.macro
def stepped_loop(X, Y, N, a, b):
    for i in T.serial(0, ROWS, 3):
        T.copy(X[i, 0], a)
        T.copy(a, Y[i, 0])
    for i in T.serial(1, ROWS - 1):
        T.copy(X[i, 0], a)
        T.copy(a, Y[i, 0])


@T.macro
def per_core_task_in_block(X, Y, N, a, b):
    for i in T.serial(ROWS):
        with T.Vector():
            with T.PerCoreTask():
                T.copy(X[i, 0], a)
            T.ascend_pipe_barrier("PIPE_ALL")
            T.copy(a, Y[i, 0])
            T.ascend_pipe_barrier("PIPE_ALL")


def _same(X, N):
    return {"Y": X}


def _when(condition):
    return lambda X, N: {"Y": X + condition(N).astype(np.float32)[:, None]}


def _either(X, N):
    return {"Y": np.where((N > 1)[:, None], X, X[0])}


REFERENCES = {
    let_in_guard: _when(lambda N: (N // 2 > 0) & (N // 2 + N[0] > 3)),
    while_in_guard: _when(lambda N: np.maximum(N - 1, 0)),
    while_in_while: _when(lambda N: N),
    task_with_branches: _either,
    locks_in_branch: _either,
}
"""Of kernels that do more than copy."""

BODIES = (
    empty_loop,
    negative_loop,
    loop_of_nothing,
    let_in_guard,
    while_in_guard,
    while_in_while,
    guard_that_never_holds,
    task_on_no_pipe,
    task_with_branches,
    task_around_loop,
    hint_on_nothing,
    locks_in_branch,
    barrier_in_branch,
    barrier_in_while,
    barrier_and_stages,
    stepped_loop,
    per_core_task_in_block,
)


def _workload(body):
    name = next(key for key, value in globals().items() if value is body)
    return Workload(
        name,
        lambda: kernel(body, name),
        lambda rng: {
            "X": rng.integers(-50, 50, (ROWS, WIDTH)).astype(np.float32),
            "N": np.array([3, 0, 1, 5], np.int32),
        },
        REFERENCES.get(body, _same),
        {"Y": EXACT},
    )


ODD = {workload.name: workload for workload in map(_workload, BODIES)}
