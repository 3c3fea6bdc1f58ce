"""How little of a kernel has to be walked: states that stand for others, cores that stay close.

Each kernel here is judged by either mechanism in far fewer steps than without it; how many it would
be is measured, and said beside the bound. No postponed annotations: see ``examples``.
"""

import pytest
import tilelang.ascend.language as T
from tvm import tirx
from tvm.tirx import PrimExpr, PrimFunc, Stmt, Var

from tests.verify.device import Y, barrier, either, element, kernel, load, loop, seq, vector, when
from tilelang_ascend_sched.verify import PROVEN, REFUSED, verify, verify_lowered

N = Var("n", "int32")
LOADS = 4


def some_barriers(known_first: bool, ordered: bool) -> PrimFunc:
    """After each load numbers in a tensor decide whether there is a barrier.

    known_first: the way with all barriers is walked first, after which the load pipe knows most,
        and not the way without any. ordered: the next turn does not need to know.
    """

    def maybe(number: PrimExpr) -> Stmt:
        if known_first:
            return when(number > 5, barrier("PIPE_MTE2"))
        return either(number <= 5, tirx.Evaluate(0), barrier("PIPE_MTE2"))

    def turn(i: PrimExpr) -> Stmt:
        loads = (seq(load(j, i, Y), maybe(element(i * LOADS + j))) for j in range(LOADS))
        return seq(*([barrier("PIPE_ALL")] if ordered else []), vector(10, 12), *loads)

    return kernel(loop(N, turn), scalars=(N,))


def test_a_state_in_which_less_was_known_stands_for_those_in_which_more_is():
    """177 paths if only equal states stand for each other."""
    report = verify(some_barriers(known_first=False, ordered=True))
    assert report.verdict == PROVEN, str(report)
    assert report.paths <= 3 * 2**LOADS + 1


@pytest.mark.parametrize("known_first", [False, True])
def test_a_state_in_which_more_was_known_stands_for_no_other(known_first):
    """The next turn goes wrong after the way without barriers alone."""
    report = verify(some_barriers(known_first, ordered=False))
    assert report.verdict == REFUSED, str(report)
    assert {finding.kind for finding in report.findings} == {"race"}


SIDE, HALF, SLOTS = 32, 16, 8


def ring_between_cores(handed_back: bool = True):
    """The Cube may be eight rows ahead of the Vector cores, for any number of rows."""
    n = T.dynamic("n")

    @T.prim_func
    def ring_between_cores(
        A: T.Tensor((SIDE, SIDE), "bfloat16"),
        C: T.Tensor((SLOTS, SIDE, SIDE), "float32"),
        Out: T.Tensor((n, SIDE), "float32"),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((SIDE, SIDE), "bfloat16")
            acc = T.alloc_l0c((SIDE, SIDE), "float32")
            x = T.alloc_shared((HALF, SIDE), "float32")
            with T.Cube():
                T.copy(A, a)
                T.ascend_set_flag("MTE2_MTE1", 0)
                T.ascend_wait_flag("MTE2_MTE1", 0)
                T.gemm(a, a, acc, transpose_B=True, clear_accum=True)
                T.ascend_set_flag("M_FIX", 0)
                T.ascend_wait_flag("M_FIX", 0)
                for i in T.serial(n):
                    T.ascend_cross_core_wait_flag(4, "PIPE_FIX", 5)
                    T.ascend_cross_core_wait_flag(4, "PIPE_FIX", 21)
                    T.copy(acc, C[i % SLOTS, 0:SIDE, 0:SIDE])
                    T.ascend_cross_core_set_flag(4, "PIPE_FIX", 3)
                    T.ascend_cross_core_set_flag(4, "PIPE_FIX", 19)
                for _slot in T.serial(SLOTS):
                    T.ascend_cross_core_wait_flag(4, "PIPE_FIX", 5)
                    T.ascend_cross_core_wait_flag(4, "PIPE_FIX", 21)
            with T.Vector() as aiv:
                for _slot in T.serial(SLOTS):
                    T.ascend_cross_core_set_flag(4, "PIPE_MTE2", 5)
                for i in T.serial(n):
                    T.ascend_cross_core_wait_flag(4, "PIPE_MTE2", 3)
                    if not handed_back:
                        T.ascend_cross_core_set_flag(4, "PIPE_MTE2", 5)
                    T.copy(C[i % SLOTS, aiv * HALF : aiv * HALF + HALF, 0:SIDE], x)
                    if handed_back:
                        T.ascend_cross_core_set_flag(4, "PIPE_MTE2", 5)
                    T.ascend_pipe_barrier("PIPE_MTE2")

    return ring_between_cores


CONFIGS = {"tl.enable_auto_schedule": False, "tl.ascend_sched.verify": "off"}


def test_cores_stay_close():
    """184 paths and 280,000 instructions if each core runs as far as it can."""
    (report,) = verify_lowered(ring_between_cores(), pass_configs=CONFIGS)
    assert report.verdict == PROVEN, str(report)
    assert report.paths < 60
    assert report.instructions < 20_000


def test_a_core_that_may_be_far_ahead_is_still_caught():
    """A slot is given back before it was read: eight rows later it may be written."""
    (report,) = verify_lowered(ring_between_cores(handed_back=False), pass_configs=CONFIGS)
    assert report.verdict == REFUSED, str(report)
    races = [finding for finding in report.findings if finding.kind == "race"]
    turns = {finding.first.turns + finding.second.turns for finding in races}
    assert turns == {(("i", 0), ("i", SLOTS))}, str(report)
