"""The rules on scheduling knobs, as a user meets them: refused by both, by us with the line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tilelang  # noqa: F401  # brings tvm with it
import tvm
from hypothesis import given, settings
from hypothesis import strategies as st
from tvm import tirx

import tilelang_ascend_sched as sched
from tests.passes import knob_kernels
from tests.passes.cost_tir import buffer, call, whole
from tests.passes.knob_kernels import BROKEN, kernel
from tests.passes.tir import kernel_root, loop, ours, when

SOURCE = Path(knob_kernels.__file__)
ERRORS = (tvm.error.InternalError, RuntimeError)


def refused_line(rule: str) -> int:
    lines = SOURCE.read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"def {rule}("))
    return next(i for i in range(start, len(lines)) if lines[i].endswith("# here")) + 1


@pytest.mark.parametrize("rule", BROKEN)
def test_what_breaks_a_rule_is_refused_with_its_line(rule: str) -> None:
    body, phrase = BROKEN[rule]
    place = rf"{SOURCE.name}:{refused_line(rule)}\b"
    with pytest.raises(ERRORS, match=f"(?s){phrase}") as refusal:
        sched.lower(kernel(body))
    assert refusal.match(place)
    with sched.disabled(), pytest.raises(ERRORS, match=f"(?s){phrase}"):
        sched.lower(kernel(body))


@pytest.mark.parametrize(
    ("rule", "scope"),
    [
        ("stage_in_task", "T.Task"),
        ("stage_in_simt", "T.SimtVF"),
        ("stage_in_simd", "T.SimdVF"),
        ("stage_in_parallel", "a parallel loop"),
        ("stage_in_vector", "T.Vector"),
    ],
)
def test_a_stage_in_a_task_is_refused_with_the_scope_around_it(rule: str, scope: str) -> None:
    with pytest.raises(tvm.error.InternalError, match=f"cannot appear inside {scope}:"):
        sched.lower(kernel(BROKEN[rule][0]))


FRONT = (
    "NormalizeControlFlowForSchedule",
    "NormalizeConflictHints",
    "MaterializeScheduleUnits",
    "EstimateLatency",
)
MARKS = (
    "tl.ascend_task",
    "tl.ascend_per_core_task",
    "tl.ascend_stage",
    "tl.schedule_unit",
    "tl.assume",
    "tl.no_such_mark",
)
KEYS = ("latency", "ii", "stage", "core_mask", "enable_offset", "num_stages", "conflict_hint")
INDEX = tirx.Var("i", "int32")
BOUND = tirx.Var("n", "int32")

numbers = st.sampled_from([-(2**63), -2, -1, 0, 1, 7, 2**31, 2**63 - 1])
leaves = st.one_of(
    numbers.map(lambda n: tirx.IntImm("int64", n)),
    st.sampled_from([True, False]).map(lambda b: tirx.IntImm("bool", b)),
    st.sampled_from([tirx.FloatImm("float32", 0.5), tirx.StringImm("two"), INDEX, BOUND < 3]),
    st.sampled_from(["", "auto", "two"]),
)
values = st.one_of(
    leaves,
    st.lists(leaves, max_size=2),
    st.dictionaries(st.sampled_from(KEYS), leaves, max_size=2),
)


def copy_once() -> tirx.Stmt:
    source, target = buffer([16, 64], "float32", "global"), buffer([16, 64], "float32", "shared")
    return tirx.Evaluate(call("tl.tileop.ascend_copy", whole(source, 1), whole(target, 2)))


def hint(data: st.DataObject) -> tirx.Stmt:
    """A conflict hint with operands of any kind."""
    known = [buffer([16, 64], "float32", "shared").data, whole(buffer([4], "int8", "global"), 1)]
    operand = st.one_of(st.sampled_from(known), leaves.filter(lambda v: not isinstance(v, str)))
    level, cross = (tirx.IntImm("int32", data.draw(st.integers(-4, 3))) for _ in range(2))
    group = tirx.StringImm(data.draw(st.sampled_from(["", "pair"])))
    ends = data.draw(operand), data.draw(operand)
    return tirx.Evaluate(
        call("tl.conflict_hint", *ends, level, cross, group, tirx.IntImm("bool", 1))
    )


def marked(data: st.DataObject, depth: int) -> tirx.Stmt:
    """Copies and hints under marks that hold anything, in loops annotated with anything."""
    if depth == 0:
        return copy_once() if data.draw(st.integers(0, 3)) else hint(data)
    kind = data.draw(st.sampled_from(["mark", "mark", "loop", "guard", "pair"]))
    if kind == "pair":
        return tirx.SeqStmt([marked(data, depth - 1), marked(data, depth - 1)])
    body = marked(data, depth - 1)
    if kind == "guard":
        return when(BOUND < 3, body)
    if kind == "loop":
        notes = data.draw(st.dictionaries(st.sampled_from(KEYS), values, max_size=2))
        return loop(tirx.Var("k", "int32"), 4, body, annotations=notes)
    node: Any = data.draw(values)
    return tirx.AttrStmt(node, data.draw(st.sampled_from(MARKS)), tirx.IntImm("int32", 1), body)


@pytest.mark.parametrize("name", FRONT)
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_marks_that_hold_anything_are_taken_or_refused(name: str, data: st.DataObject) -> None:
    """By an exception, that is; the process lives on."""
    body = marked(data, data.draw(st.integers(1, 4)))
    function = kernel_root(loop(INDEX, 4, body), params=(BOUND,))
    try:
        after = ours(name)(function)
    except (tvm.error.InternalError, ValueError, TypeError) as refusal:
        assert str(refusal)
    else:
        assert isinstance(after, tirx.PrimFunc)
