"""Kernels of several cores, which decide by run-time inputs.

No postponed annotations: see ``examples``.
"""

import tilelang.ascend.language as T
from tvm.tirx import Var

from tests.verify.device import barrier, core, cross_set, cross_wait, kernel, loop, seq
from tests.verify.lowered import stock
from tilelang_ascend_sched.verify import PROVEN, REFUSED, verify


def asks_much():
    """Both AIVs ask for another element at every turn, beside an AIC that asks for nothing."""

    @T.prim_func
    def asks_much(
        P: T.Tensor((8,), T.int32),
        Q: T.Tensor((2,), T.int32),
        X: T.Tensor((16, 64), T.float32),
        A: T.Tensor((32, 64), T.float16),
        B: T.Tensor((64, 64), T.float16),
        Y: T.Tensor((16, 64), T.float32),
        C: T.Tensor((32, 64), T.float32),
    ):
        with T.Kernel(1):
            x = T.alloc_shared((8, 64), T.float32)
            a = T.alloc_l1((32, 64), T.float16)
            b = T.alloc_l1((64, 64), T.float16)
            c = T.alloc_l0c((32, 64), T.float32)
            for i in T.serial(Q[0]):
                for j in T.serial(Q[1]):
                    if P[(i + j) % 8] == 1:
                        T.dual_copy(X[0:16, 0:64], x)
                        T.dual_copy(x, Y[0:16, 0:64])
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, c, transpose_B=True, clear_accum=True)
            T.copy(c, C)

    return asks_much


def test_what_several_cores_ask_has_an_end():
    """Proven only if decisions are taken back, and with the AIVs at the same turn of their loops;
    else there are more combinations of what was asked, and of turns, than can be walked."""
    report = stock(asks_much).check()
    assert report.verdict == PROVEN, str(report)
    assert report.instructions < 200_000


def test_loops_to_one_end_inside_each_other_on_one_core():
    """The AIC leaves its loop while the AIV is in one to the same end, and has left others. Nothing
    keeps the AIC from setting the flag more often than it may be up."""
    n = Var("n", "int32")
    inner = loop(n, lambda _: barrier("PIPE_MTE2"))
    ahead = loop(n, lambda _: cross_set(4, "PIPE_FIX", 3))
    behind = loop(n, lambda _: seq(cross_wait(4, "PIPE_MTE2", 3), inner))
    report = verify(kernel(core("CUBE", ahead), core("VECTOR", behind), scalars=(n,)))
    assert report.verdict == REFUSED, str(report)
    assert {finding.kind for finding in report.findings} == {"range"}, str(report)
