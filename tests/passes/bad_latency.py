"""A kernel whose task claims to be done before its copy can be. No postponed annotations."""

import tilelang.ascend.language as T


def bad_latency():
    @T.prim_func
    def bad_latency(X: T.Tensor((64, 64), T.float32), Y: T.Tensor((64, 64), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((64, 64), T.float32)
            with T.Task(latency=2):  # here
                T.copy(X, x)
            T.copy(x, Y)

    return bad_latency
