"""Decoding the task tree and encoding it again changes nothing."""

from __future__ import annotations

import pytest
import tvm
from tvm import tirx
from tvm_ffi import get_global_func

from tests.kernels.small import SMALL
from tests.passes.captured import KERNELS, NAMES, stages
from tests.passes.tir import kernel_root, seq, set_flag, var

FIRST, LAST = (NAMES.index(name) for name in ("MaterializeScheduleUnits", "LowerScheduledTIR"))
SCHEDULED = NAMES[FIRST + 1 : LAST + 1]
"""What passes meet while there is a tree."""


def recode(function: tvm.tirx.PrimFunc) -> tvm.tirx.PrimFunc:
    return get_global_func("tl.ascend_sched.testing.recode")(function)


def spans(function: tvm.tirx.PrimFunc) -> list[str]:
    """Kind and place of each statement and expression of the function."""
    return list(get_global_func("tl.ascend_sched.testing.spans")(function))


@pytest.mark.parametrize(
    "name", [pytest.param(k, marks=[] if k in SMALL else [pytest.mark.slow]) for k in KERNELS]
)
def test_the_ir_of_real_kernels_survives(name: str) -> None:
    for stage in NAMES:
        if stage not in stages(name):
            assert name == "streams_24" and stage == NAMES[-1]  # which both chains refuse there
            continue
        for function in stages(name)[stage].functions.values():
            again = recode(function)
            tvm.ir.assert_structural_equal(again, function)
            assert spans(again) == spans(function)


@pytest.mark.parametrize("name", SMALL)
def test_there_is_a_tree_between_the_passes_that_make_and_lower_it(name: str) -> None:
    for stage, module in stages(name).items():
        marks = {mark: str(module).count(mark) for mark in ("tl.schedule_unit", "tl.ascend_task")}
        if stage in SCHEDULED:
            assert marks["tl.schedule_unit"] > 0 and marks["tl.ascend_task"] > 0, stage
        elif NAMES.index(stage) > LAST:
            assert not any(marks.values()), stage
        else:
            assert marks["tl.schedule_unit"] == 0, stage


def test_kernels_have_spans_to_lose() -> None:
    for stage in SCHEDULED:
        for function in stages("simt_add")[stage].functions.values():
            assert any("vector.py:" in span for span in spans(function)), stage


def marked(key: str, body: tirx.Stmt, metadata: dict[str, int]) -> tirx.Stmt:
    node = {name: tirx.IntImm("int32", value) for name, value in metadata.items()}
    return tirx.AttrStmt(node, key, tirx.IntImm("int32", 1), body)


def unit(body: tirx.Stmt, **metadata: int) -> tirx.Stmt:
    return marked("tl.schedule_unit", body, metadata)


def task(**metadata: int) -> tirx.Stmt:
    return marked("tl.ascend_task", set_flag("MTE2_V", 0), metadata)


def test_metadata_that_is_not_ours_is_kept() -> None:
    function = kernel_root(unit(task(latency=4, colour=7), stage=1, origin=3))
    tvm.ir.assert_structural_equal(recode(function), function)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (seq(unit(task(), stage=0), set_flag("MTE2_V", 0)), "outside of all units"),
        (unit(task()), "no `stage`"),
        (unit(task(), stage=-2), "`stage` is -2"),
        (unit(set_flag("MTE2_V", 0), stage=0), "must hold one task or one serial"),
        (
            unit(tirx.IfThenElse(var("n") > 0, task(), task()), stage=0),
            "a guard cannot have an `else`",
        ),
    ],
)
def test_what_is_no_tree_is_refused(body: tirx.Stmt, message: str) -> None:
    with pytest.raises(tvm.error.InternalError, match=message):
        recode(kernel_root(body))
