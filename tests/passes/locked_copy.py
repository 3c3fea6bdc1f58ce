"""A kernel with locks of its own. TileLang evaluates the annotations of a kernel's parameters."""

import tilelang.ascend.language as T


def locked_copy():
    """Adds 1 to rows of 64; a lock is held on MTE2 around the load, and on V around the sum."""

    @T.prim_func
    def kernel(X: T.Tensor((8, 64), T.float32), Y: T.Tensor((8, 64), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((64,), T.float32)
            for i in T.serial(8):
                T.ascend_get_buf("PIPE_MTE2", 3)
                T.copy(X[i, 0], x)
                T.ascend_rls_buf("PIPE_MTE2", 3)
                T.ascend_get_buf("PIPE_V", 3)
                with T.SimtVF(threads=64):
                    for j in T.Parallel(64):
                        x[j] = x[j] + T.float32(1)
                T.ascend_rls_buf("PIPE_V", 3)
                T.copy(x, Y[i, 0])

    return kernel
