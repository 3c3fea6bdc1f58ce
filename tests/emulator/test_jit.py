"""Kernels that a user has behind ``tilelang.jit``."""

import numpy as np
import pytest
import tilelang
import tilelang.ascend.language as T

from tilelang_ascend_sched.emulator import emulate, launch


def add(rows: int = 16):
    @T.prim_func
    def kernel(X: T.Tensor((rows, 64), T.float32), Y: T.Tensor((rows, 64), T.float32)):
        with T.Kernel(2) as block:
            x = T.alloc_shared((rows // 2, 64), T.float32)
            T.copy(X[block * (rows // 2), 0], x)
            with T.SimtVF(threads=128):
                for r, c in T.Parallel(rows // 2, 64):
                    x[r, c] = x[r, c] + 1
            T.copy(x, Y[block * (rows // 2), 0])

    return kernel


def test_a_jit_kernel_runs_without_being_compiled_for_the_device():
    x, y = np.zeros((16, 64), np.float32), np.zeros((16, 64), np.float32)
    assert emulate(tilelang.jit(target="ascend")(add), X=x, Y=y).ok
    assert (y == 1).all()


@pytest.mark.parametrize("schedule", [True, False])
def test_its_pass_configs_are_used(schedule):
    configs = {"tl.enable_auto_schedule": schedule}
    text = launch.lower(tilelang.jit(target="ascend", pass_configs=configs)(add)).text
    assert ("asc_sync_wait" in text) is schedule
