"""Walking until states repeat is far enough.

A kernel whose loop runs n times, n unknown, is judged from a few turns. Here the same kernel, and
each of its mutants, is also judged with every n up to far beyond the ring's length: both must
say the same.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import tilelang  # noqa: F401  # puts tvm on the path
from tvm.tirx import PrimExpr, PrimFunc, Stmt, Var
from tvm.tirx import floormod as mod

from tests.verify.device import (
    kernel,
    load,
    loop,
    seq,
    set_flag,
    store,
    vector,
    wait_flag,
    when,
)
from tests.verify.mutate import mutants
from tilelang_ascend_sched.verify import PROVEN, REFUSED, verify

N = Var("n", "int32")
FAR = 13


def ring(slots: int) -> Callable[[int | PrimExpr], PrimFunc]:
    """Load, vector, store over a ring of ``slots`` buffers."""

    def turn(i: PrimExpr) -> Stmt:
        slot = mod(i, slots)
        return seq(
            wait_flag("MTE3_MTE2", slot),
            load(slot, i),
            set_flag("MTE2_V", slot),
            wait_flag("MTE2_V", slot),
            vector(2 * slot + 6, slot),
            set_flag("V_MTE3", slot),
            wait_flag("V_MTE3", slot),
            store(i, 2 * slot + 6),
            set_flag("MTE3_MTE2", slot),
        )

    def build(turns: int | PrimExpr) -> PrimFunc:
        prime = [set_flag("MTE3_MTE2", slot) for slot in range(slots)]
        drain = [wait_flag("MTE3_MTE2", slot) for slot in range(slots)]
        scalars = () if isinstance(turns, int) else (N,)
        return kernel(*prime, loop(turns, turn), *drain, scalars=scalars)

    return build


def staged(turns: int | PrimExpr) -> PrimFunc:
    """What a turn loads is stored two turns later, in a loop that is two turns longer."""

    def turn(i: PrimExpr) -> Stmt:
        loaded, stored = mod(i, 3), mod(i + 1, 3)
        return seq(
            when(i >= 2, wait_flag("MTE2_MTE3", stored)),
            when(i >= 2, store(i - 2, stored)),
            when(i >= 2, set_flag("MTE3_MTE2", stored)),
            when(i < turns, wait_flag("MTE3_MTE2", loaded)),
            when(i < turns, load(loaded, i)),
            when(i < turns, set_flag("MTE2_MTE3", loaded)),
        )

    prime = [set_flag("MTE3_MTE2", slot) for slot in range(3)]
    drain = [wait_flag("MTE3_MTE2", slot) for slot in range(3)]
    scalars = () if isinstance(turns, int) else (N,)
    return kernel(*prime, loop(turns + 2, turn), *drain, scalars=scalars)


CASES = {"ring of 2": ring(2), "ring of 3": ring(3), "stages": staged}


@pytest.mark.parametrize("name", list(CASES))
def test_same_verdict_as_with_every_number_of_turns(name):
    build = CASES[name]
    unknown = [build(N), *(mutant.func for mutant in mutants(build(N)))]
    known = [[build(n), *(mutant.func for mutant in mutants(build(n)))] for n in range(FAR)]
    verdicts = []
    for index, func in enumerate(unknown):
        report = verify(func)
        wrong = [n for n in range(FAR) if verify(known[n][index]).verdict == REFUSED]
        verdicts.append(report.verdict)
        assert report.verdict == (REFUSED if wrong else PROVEN), f"{wrong}\n{report}\n{func}"
    assert len(set(verdicts)) == 2
