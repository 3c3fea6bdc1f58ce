"""Kernels that break a rule on a scheduling knob.

``BROKEN`` has, by rule, the body of the kernel and a phrase of the refusal. The statement that is
refused stands in the line that ends in ``here``. No postponed annotations: TileLang evaluates those
of a kernel's parameters.
"""

# ruff: noqa: SIM117  # each `with` in a line of its own, so that the refused one can be told

import tilelang.ascend.language as T

ROWS, WIDTH = 4, 64
OFFSET = {"enable_offset": True}


def kernel(body):
    """A kernel around ``body(X, Y, a, b, block)``: tensors of ROWS rows, buffers of one."""

    @T.prim_func
    def knobs(X: T.Tensor((ROWS, WIDTH), T.float32), Y: T.Tensor((ROWS, WIDTH), T.float32)):
        with T.Kernel(2) as block:
            a = T.alloc_shared((WIDTH,), T.float32)
            b = T.alloc_shared((WIDTH,), T.float32)
            body(X, Y, a, b, block)

    return knobs


@T.macro
def stage_in_task(X, Y, a, b, block):
    for i in T.Pipelined(ROWS, annotations=OFFSET):
        with T.Task():
            with T.Stage(1):  # here
                T.copy(X[i, 0], a)
        T.copy(a, Y[i, 0])


@T.macro
def stage_in_simt(X, Y, a, b, block):
    for i in T.Pipelined(ROWS, annotations=OFFSET):
        T.copy(X[i, 0], a)
        with T.SimtVF(threads=64), T.Stage(1):  # here
            for c in T.Parallel(WIDTH):
                b[c] = a[c] + T.float32(1)
        T.copy(b, Y[i, 0])


@T.macro
def stage_in_parallel(X, Y, a, b, block):
    for i in T.Pipelined(ROWS, annotations=OFFSET):
        T.copy(X[i, 0], a)
        with T.SimtVF(threads=64):
            for c in T.Parallel(WIDTH):
                with T.Stage(1):  # here
                    b[c] = a[c] + T.float32(1)
        T.copy(b, Y[i, 0])


@T.macro
def stage_in_simd(X, Y, a, b, block):
    for i in T.Pipelined(ROWS, annotations=OFFSET):
        T.copy(X[i, 0], a)
        with T.SimdVF(), T.Stage(1):  # here
            b[0] = a[0]
        T.copy(b, Y[i, 0])


@T.macro
def stage_in_vector(X, Y, a, b, block):
    for i in T.Pipelined(ROWS, annotations=OFFSET):
        with T.Vector():
            with T.Stage(1):  # here
                T.copy(X[i, 0], a)
            T.copy(a, Y[i, 0])


@T.macro
def stage_in_stage(X, Y, a, b, block):
    for i in T.Pipelined(ROWS, annotations=OFFSET):
        with T.Stage(0):
            with T.Stage(1):  # here
                T.copy(X[i, 0], a)
        T.copy(a, Y[i, 0])


@T.macro
def stage_in_per_core_task(X, Y, a, b, block):
    for i in T.Pipelined(ROWS, annotations=OFFSET):
        with T.PerCoreTask():
            with T.Stage(1):  # here
                T.copy(X[i, 0], a)
        T.copy(a, Y[i, 0])


@T.macro
def stage_without_offset(X, Y, a, b, block):
    for i in T.Pipelined(ROWS, num_stages=2):  # here
        with T.Stage(0):
            T.copy(X[i, 0], a)
        with T.Stage(1):
            T.copy(a, Y[i, 0])


@T.macro
def stage_without_loop(X, Y, a, b, block):
    with T.Stage(1):
        T.copy(X[0, 0], a)  # here
    T.copy(a, Y[0, 0])


@T.macro
def stage_in_while(X, Y, a, b, block):
    i = T.alloc_var("int32")
    i = 0
    while i < ROWS:  # here
        with T.Stage(0):
            T.copy(X[i, 0], a)
        with T.Stage(1):
            T.copy(a, Y[i, 0])
        i += 1


@T.macro
def stage_of_a_loop_without_loop(X, Y, a, b, block):
    with T.Stage(1):
        for i in T.serial(ROWS):  # here
            T.copy(X[i, 0], a)
            T.copy(a, Y[i, 0])


@T.macro
def stage_and_order(X, Y, a, b, block):
    for i in T.Pipelined(ROWS, order=[0, 1], annotations=OFFSET):  # here
        with T.Stage(0):
            T.copy(X[i, 0], a)
        with T.Stage(1):
            T.copy(a, Y[i, 0])


@T.macro
def stage_and_stage(X, Y, a, b, block):
    for i in T.Pipelined(ROWS, stage=[0, 1], annotations=OFFSET):  # here
        with T.Stage(0):
            T.copy(X[i, 0], a)
        with T.Stage(1):
            T.copy(a, Y[i, 0])


@T.macro
def consumer_before_producer(X, Y, a, b, block):
    for i in T.Pipelined(ROWS, annotations=OFFSET):
        with T.Stage(2):
            T.copy(X[i, 0], a)
        with T.Stage(0):
            T.copy(a, Y[i, 0])  # here


@T.macro
def task_of_two_pipes(X, Y, a, b, block):
    with T.Task():
        T.copy(X[0, 0], a)  # here
        T.copy(a, Y[0, 0])


@T.macro
def task_of_two_cores(X, Y, a, b, block):
    c = T.alloc_l1((1, WIDTH), T.float32)
    with T.Task():
        T.copy(X[0, 0], a)  # here
        T.copy(X[0:1, 0:WIDTH], c)
    T.copy(a, Y[0, 0])


@T.macro
def task_in_task(X, Y, a, b, block):
    with T.Task():
        with T.Task():  # here
            T.copy(X[0, 0], a)
    T.copy(a, Y[0, 0])


@T.macro
def per_core_task_in_task(X, Y, a, b, block):
    with T.Task():
        with T.PerCoreTask():  # here
            T.copy(X[0, 0], a)
    T.copy(a, Y[0, 0])


@T.macro
def sync_in_task(X, Y, a, b, block):
    with T.Task():
        T.copy(X[0, 0], a)  # here
        T.ascend_sync_inter_arrive("PIPE_MTE2", 0)
    T.copy(a, Y[0, 0])


@T.macro
def latency_below_interval(X, Y, a, b, block):
    with T.Task(latency=2):  # here
        T.copy(X[0, 0], a)
    T.copy(a, Y[0, 0])


@T.macro
def per_core_task_in_its_like(X, Y, a, b, block):
    with T.PerCoreTask():
        with T.PerCoreTask():  # here
            T.copy(X[0, 0], a)
    T.copy(a, Y[0, 0])


@T.macro
def per_core_task_of_two_pipes(X, Y, a, b, block):
    with T.PerCoreTask():  # here
        if block == 0:
            T.copy(X[0, 0], a)
        if block != 0:
            T.copy(a, Y[0, 0])


@T.macro
def per_core_task_of_sync_alone(X, Y, a, b, block):
    with T.PerCoreTask():  # here
        T.ascend_sync_inter_arrive("PIPE_MTE2", 0)
    T.copy(X[0, 0], a)
    T.copy(a, Y[0, 0])


@T.macro
def per_core_branch_in_task(X, Y, a, b, block):
    with T.PerCoreTask():
        with T.Task():
            if block == 0:  # here
                T.copy(X[0, 0], a)
    T.copy(a, Y[0, 0])


@T.macro
def per_core_sync_of_another_pipe(X, Y, a, b, block):
    with T.PerCoreTask():  # here
        T.copy(X[0, 0], a)
        T.ascend_sync_inter_arrive("PIPE_V", 0)
    T.copy(a, Y[0, 0])


@T.macro
def per_core_scalar_read(X, Y, a, b, block):
    with T.PerCoreTask():
        first: T.float32 = Y[0, 0]  # here
        if first == T.float32(0):
            T.copy(X[0, 0], a)
    T.copy(a, Y[1, 0])


@T.macro
def hint_of_no_such_loop(X, Y, a, b, block):
    for i in T.serial(ROWS):
        T.assume_no_conflict(a, level=1)  # here
        T.copy(X[i, 0], a)
        T.copy(a, Y[i, 0])


@T.macro
def hint_with_half_a_group(X, Y, a, b, block):
    for i in T.serial(ROWS):
        T.assume_conflict(a, group="pair")  # here
        T.copy(X[i, 0], a)
        T.copy(a, Y[i, 0])


@T.macro
def hint_with_three_halves(X, Y, a, b, block):
    for i in T.serial(ROWS):
        T.assume_conflict(a, group="pair")
        T.assume_conflict(b, group="pair")
        T.assume_conflict(a, group="pair")  # here
        T.copy(X[i, 0], a)
        T.copy(a, Y[i, 0])


@T.macro
def hint_of_two_levels(X, Y, a, b, block):
    for i in T.serial(ROWS):
        T.assume_conflict(a, group="pair", level=0)
        T.assume_conflict(b, group="pair", level=-1)  # here
        T.copy(X[i, 0], a)
        T.copy(a, Y[i, 0])


@T.macro
def hint_of_two_kinds(X, Y, a, b, block):
    for i in T.serial(ROWS):
        T.assume_conflict(a, group="pair", cross=True)
        T.assume_conflict(b, group="pair", cross=False)  # here
        T.copy(X[i, 0], a)
        T.copy(a, Y[i, 0])


BROKEN = {
    "stage_in_task": (stage_in_task, "T.Stage must wrap a complete"),
    "stage_in_simt": (stage_in_simt, "T.Stage must wrap a complete"),
    "stage_in_parallel": (stage_in_parallel, "T.Stage must wrap a complete"),
    "stage_in_simd": (stage_in_simd, "T.Stage must wrap a complete"),
    "stage_in_vector": (stage_in_vector, "T.Stage must wrap a complete"),
    "stage_in_stage": (stage_in_stage, "Nested T.Stage"),
    "stage_in_per_core_task": (stage_in_per_core_task, "T.Stage must wrap a complete"),
    "task_of_two_pipes": (task_of_two_pipes, "exactly one Ascend hardware pipe"),
    "task_of_two_cores": (task_of_two_cores, "one Ascend core affinity"),
    "task_in_task": (task_in_task, "Nested T.Task"),
    "per_core_task_in_task": (
        per_core_task_in_task,
        "T.PerCoreTask cannot be nested",
    ),
    "sync_in_task": (sync_in_task, "must be the task's only"),
    "latency_below_interval": (latency_below_interval, "greater than or equal to ii"),
    "per_core_task_in_its_like": (per_core_task_in_its_like, "Nested T.PerCoreTask"),
    "per_core_task_of_two_pipes": (
        per_core_task_of_two_pipes,
        "one inferred hardware pipe",
    ),
    "per_core_task_of_sync_alone": (
        per_core_task_of_sync_alone,
        "one dependency-bearing task",
    ),
    "per_core_branch_in_task": (per_core_branch_in_task, "must be outside the T.Task"),
    "per_core_sync_of_another_pipe": (per_core_sync_of_another_pipe, "must use its inferred pipe"),
    "per_core_scalar_read": (per_core_scalar_read, "may not access buffers"),
    "hint_of_no_such_loop": (hint_of_no_such_loop, "level 1 is out of range"),
    "hint_with_half_a_group": (hint_with_half_a_group, "appears only once"),
    "hint_with_three_halves": (hint_with_three_halves, "appears more than twice"),
    "hint_of_two_levels": (hint_of_two_levels, "mismatched level"),
    "hint_of_two_kinds": (hint_of_two_kinds, "mismatched cross"),
    "stage_without_offset": (stage_without_offset, "enable_offset=True"),
    "stage_without_loop": (stage_without_loop, "enable_offset=True"),
    "stage_in_while": (stage_in_while, "enable_offset=True"),
    "stage_of_a_loop_without_loop": (stage_of_a_loop_without_loop, "enable_offset=True"),
    "stage_and_order": (stage_and_order, "remove the T.Pipelined order"),
    "stage_and_stage": (stage_and_stage, "remove the T.Pipelined stage"),
    "consumer_before_producer": (consumer_before_producer, "[Mm]anual schedule"),
}
