"""Two small kernels for tests of the plug, which are about TileLang and not about the kernel."""

import tilelang
import tilelang.ascend.language as T


def scale(n: int = 4, name: str = "scale"):
    """A loop of copy-in, double, copy-out over ``n`` rows of 256 floats, two buffers deep."""

    @T.prim_func
    def kernel(A: T.Tensor((n, 256), T.float32), B: T.Tensor((n, 256), T.float32)):
        with T.Kernel(1):
            tile = T.alloc_shared((256,), T.float32)
            for i in T.Pipelined(n, num_stages=2):
                T.copy(A[i, 0], tile)
                with T.SimtVF(threads=128):
                    for j in T.Parallel(256):
                        tile[j] = tile[j] * T.float32(2)
                T.copy(tile, B[i, 0])

    return kernel.with_attr("global_symbol", name)


@tilelang.jit(target="ascend")
def jit_scale(n: int = 4):
    """The same kernel as a ``tilelang.jit`` object."""
    return scale(n)
