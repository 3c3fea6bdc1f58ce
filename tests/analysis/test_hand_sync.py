"""Flags, locks, barriers and exits that users write, and the tasks that they order.

No postponed annotations: see ``examples``.
"""

import pytest
import tilelang.ascend.language as T

from tests.analysis.edges import analysed, body_of, rows
from tilelang_ascend_sched.deps import VERSIONS, Dependences

ROWS = 4
WIDTH = 64
LOAD, FILL, STORE = "MTE2", "V", "MTE3"
"""Pipes of the three parts of ``unrelated``."""

FLAGS = {
    "flag to V": ("MTE2_V",),
    "flag to MTE3": ("MTE2_MTE3",),
    "flag the other way": ("V_MTE2",),
}
BARRIERS = {
    "barrier of all": ("PIPE_ALL",),
    "barrier of MTE2": ("PIPE_MTE2",),
    "barrier of V": ("PIPE_V",),
}


def unrelated(sync: str):
    """A load, a fill and a store of buffers that have nothing in common, but for ``sync``."""

    @T.prim_func
    def unrelated(
        X: T.Tensor((ROWS, WIDTH), T.float32),
        Y: T.Tensor((ROWS, WIDTH), T.float32),
    ):
        with T.Kernel(1):
            x = T.alloc_shared((WIDTH,), T.float32)
            y = T.alloc_shared((WIDTH,), T.float32)
            z = T.alloc_shared((WIDTH,), T.float32)
            for i in T.serial(ROWS):
                if sync == "locks":
                    T.ascend_get_buf("PIPE_MTE2", 3)
                T.copy(X[i, 0:WIDTH], x)
                if sync == "locks":
                    T.ascend_rls_buf("PIPE_MTE2", 3)
                    T.ascend_get_buf("PIPE_V", 3)
                for event in FLAGS.get(sync, ()):
                    T.ascend_set_flag(event, 0)
                    T.ascend_wait_flag(event, 0)
                for pipe in BARRIERS.get(sync, ()):
                    T.ascend_pipe_barrier(pipe)
                with T.SimtVF(threads=64):
                    for c in T.Parallel(WIDTH):
                        y[c] = T.float32(1)
                if sync == "locks":
                    T.ascend_rls_buf("PIPE_V", 3)
                T.copy(z, Y[i, 0:WIDTH])

    return unrelated


Times = dict[tuple[int, int], int]


def least(kernel: Dependences, body: str) -> Times:
    """After how many iterations one unit is known to wait for another, over any path."""
    edges = body_of(kernel, body).edges
    reach: Times = {}
    for edge in edges:
        pair = (edge.source_unit, edge.target_unit)
        distance = 1 if edge.distance == VERSIONS else int(edge.distance)
        reach[pair] = min(distance, reach.get(pair, distance))
    units = sorted({unit for pair in reach for unit in pair})
    for middle in units:
        for source in units:
            for target in units:
                if (source, middle) in reach and (middle, target) in reach:
                    through = reach[source, middle] + reach[middle, target]
                    known = reach.get((source, target), through)
                    reach[source, target] = min(through, known)
    return reach


def unit_on(kernel: Dependences, pipe: str, body: str = "i") -> int:
    number = kernel.bodies.index(body_of(kernel, body))
    (unit,) = {task.unit for task in kernel.tasks if (task.body, task.pipe) == (number, pipe)}
    return unit


# A flag of an iteration is taken for set after that of the one before was waited for.
ORDERED = {
    "nothing": {},
    "flag to V": {(LOAD, FILL): 0, (FILL, LOAD): 1},
    "flag to MTE3": {(LOAD, STORE): 0, (STORE, LOAD): 2},
    "flag the other way": {(FILL, LOAD): 2, (LOAD, FILL): 1},
    "barrier of all": {(LOAD, FILL): 0, (LOAD, STORE): 0, (FILL, STORE): 1}
    | {(FILL, LOAD): 2, (STORE, LOAD): 2, (STORE, FILL): 1},
    "barrier of MTE2": {},
    "barrier of V": {},
    "locks": {(LOAD, FILL): 0, (FILL, LOAD): 1},
}


@pytest.mark.parametrize("sync", ORDERED)
def test_what_is_synchronized_by_hand_stays_so(sync: str) -> None:
    kernel = analysed(unrelated(sync))
    reach = least(kernel, "i")
    units = {pipe: unit_on(kernel, pipe) for pipe in (LOAD, FILL, STORE)}
    found = {
        (a, b): reach[units[a], units[b]]
        for a in units
        for b in units
        if a != b and (units[a], units[b]) in reach
    }
    assert found == ORDERED[sync]


def left(test: str):
    """A loop of a load and a store that is left between them, or from a loop inside it."""

    @T.prim_func
    def left(
        X: T.Tensor((ROWS, WIDTH), T.float32),
        Last: T.Tensor((ROWS,), T.int32),
        Y: T.Tensor((ROWS, WIDTH), T.float32),
    ):
        with T.Kernel(1):
            x = T.alloc_shared((WIDTH,), T.float32)
            for i in T.serial(ROWS):
                T.copy(X[i, 0:WIDTH], x)
                if test == "outer" and Last[i] > 0:
                    T.loop_break()
                if test == "inner":
                    for j in T.serial(2):
                        if Last[j] > 0:
                            T.loop_break()
                        T.copy(X[j, 0:WIDTH], Y[j, 0:WIDTH])
                T.copy(x, Y[i, 0:WIDTH])

    return left


EXIT = "exit of loop"


@pytest.mark.parametrize("test", ["", "inner", "outer"])
def test_what_stands_behind_an_exit_waits_for_it(test: str) -> None:
    found = rows(left(test), "i", EXIT)
    if test != "outer":
        assert found == set()
        return
    load, leave, store = 0, 2, 3
    assert (load, leave, "WAR", EXIT, 0) in found
    assert (leave, store, "RAW", EXIT, 0) in found
    assert {(leave, unit, "RAW", EXIT, 1) for unit in (load, 1)} <= found
    assert (store, leave, "WAR", EXIT, 1) in found


def test_what_follows_an_inner_loop_does_not_wait_for_its_exit() -> None:
    assert any(edge.storage == EXIT for edge in body_of(analysed(left("inner")), "j").edges)
