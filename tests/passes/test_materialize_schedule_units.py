"""MaterializeScheduleUnits on hand-written TIR."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import tvm
from tvm import tirx

from tests.passes.captured import lowered
from tests.passes.locked_copy import locked_copy
from tests.passes.tir import (
    Code,
    call,
    kernel_root,
    lock,
    loop,
    ours,
    root_of,
    section,
    seq,
    set_flag,
    stock,
    sync_calls,
    unlock,
    var,
    wait_flag,
    when,
)

NAME = "MaterializeScheduleUnits"
N = var("n")


def buffer(name: str, scope: str) -> tirx.Buffer:
    return tirx.decl_buffer((16, 8), "float32", name=name, scope=scope)


GM, UB, L1, L0C, CELL = (
    buffer("gm", "global"),
    buffer("ub", "shared.dyn"),
    buffer("l1", "shared.l1.dyn"),
    buffer("l0c", "shared.l0c"),
    buffer("cell", "local.var"),
)


def region(of: tirx.Buffer, access: int) -> tirx.PrimExpr:
    op = tirx.op.Op.get("tl.region")
    return tirx.call_intrin("handle", op, tirx.BufferLoad(of, [0, 0]), access, 16, 8)


def copy(source: tirx.Buffer, target: tirx.Buffer) -> tirx.Stmt:
    op = tirx.op.Op.get("tl.tileop.ascend_copy")
    return tirx.Evaluate(tirx.call_intrin("handle", op, region(source, 1), region(target, 2)))


LOAD, STORE, LOAD_L1 = copy(GM, UB), copy(UB, GM), copy(GM, L1)
VECTOR = section("SIMD_VF", tirx.BufferStore(UB, tirx.const(0.0, "float32"), [0, 0]))
SCALAR = tirx.BufferStore(CELL, tirx.const(0.0, "float32"), [0, 0])
CROSS = call("ascend_cross_core_set_flag", 4, "PIPE_MTE2", 3)


def mark(key: str, body: tirx.Stmt, node: object = 0) -> tirx.Stmt:
    if isinstance(node, int):
        node = tirx.IntImm("int32", node)
    return tirx.AttrStmt(node, key, tirx.IntImm("int32", 1), body)


def task(*body: tirx.Stmt, **marks: int) -> tirx.Stmt:
    node = {name: tirx.IntImm("int64", value) for name, value in marks.items()}
    return mark("tl.ascend_task", seq(*body), node or 0)


def per_core(*body: tirx.Stmt) -> tirx.Stmt:
    return mark("tl.ascend_per_core_task", seq(*body))


def stage(number: int, *body: tirx.Stmt) -> tirx.Stmt:
    return mark("tl.ascend_stage", seq(*body), number)


def assume(condition: tirx.PrimExpr, *body: tirx.Stmt) -> tirx.Stmt:
    return tirx.AttrStmt(condition, "tl.assume", tirx.StringImm("given"), seq(*body))


def function(*body: tirx.Stmt) -> tirx.PrimFunc:
    return kernel_root(*body, params=(N, GM.data, UB.data, L1.data, L0C.data, CELL.data))


def staged(*body: tirx.Stmt, **more: int) -> tirx.Stmt:
    """A loop in which stages other than 0 may stand."""
    return loop(var("i"), 4, *body, annotations={"enable_offset": True, **more})


FORMS = {
    "statements": lambda: [LOAD, VECTOR, STORE, SCALAR],
    "one statement": lambda: [LOAD],
    "nested sequences": lambda: [seq(LOAD, seq(VECTOR, STORE))],
    "loop": lambda: [loop(var("i"), 4, LOAD, STORE), STORE],
    "nested loops": lambda: [loop(var("i"), 4, LOAD, loop(var("j"), 4, VECTOR))],
    "branch": lambda: [when(N > 3, LOAD, STORE)],
    "both branches": lambda: [tirx.IfThenElse(N > 3, LOAD, seq(VECTOR, STORE))],
    "guarded loop": lambda: [when(N > 3, loop(var("i"), 4, when(N > 4, LOAD)))],
    "assumption": lambda: [assume(N > 0, LOAD, when(N > 3, STORE))],
    "binding": lambda: [tirx.Bind(var("x"), N + 1), LOAD],
    "task": lambda: [task(LOAD, LOAD), VECTOR],
    "task with marks": lambda: [task(LOAD, latency=100, ii=20)],
    "branch in a task": lambda: [task(when(N > 3, LOAD))],
    "one stage": lambda: [staged(stage(0, LOAD), stage(1, VECTOR, STORE))],
    "stage beside none": lambda: [staged(stage(2, LOAD), VECTOR, STORE)],
    "stage beyond the versions": lambda: [staged(stage(3, LOAD), STORE, num_stages=2)],
    "stage of a loop": lambda: [staged(LOAD, stage(1, loop(var("j"), 4, VECTOR, STORE)))],
    "stage of a loop with stages": lambda: [staged(LOAD, stage(1, staged(stage(2, VECTOR))))],
    "stage under a guard": lambda: [staged(when(N > 3, stage(1, LOAD)), STORE)],
    "stage 0 of a plain loop": lambda: [loop(var("i"), 4, stage(0, LOAD), STORE)],
    "stage 0 of a kernel": lambda: [stage(0, LOAD), STORE],
    "plain loop in one with stages": lambda: [staged(LOAD, loop(var("j"), 4, VECTOR), STORE)],
    "per core": lambda: [
        per_core(tirx.Bind(var("x"), N + 1), when(N > 3, LOAD), CROSS, when(N < 3, task(LOAD)))
    ],
    "cross-core flag": lambda: [LOAD, CROSS, STORE],
    "empty": lambda: [tirx.Evaluate(0)],
}


@pytest.mark.parametrize("form", FORMS)
def test_the_units_are_those_of_the_stock_pass(form: str) -> None:
    before = function(*FORMS[form]())
    tvm.ir.assert_structural_equal(ours(NAME)(before), stock(NAME)(before))


Build = Callable[[], list[tirx.Stmt]]

BROKEN: dict[str, tuple[Build, str]] = {
    "two pipes": (lambda: [task(LOAD, VECTOR)], "exactly one Ascend hardware pipe"),
    "two cores": (lambda: [task(LOAD, LOAD_L1)], "one Ascend core affinity"),
    "state and work": (
        lambda: [task(call("ascend_set_hf32_mode", 1), LOAD)],
        "exactly one Ascend hardware pipe",
    ),
    "task in task": (lambda: [task(LOAD, task(LOAD))], "Nested T.Task regions"),
    "stage in task": (lambda: [task(stage(1, LOAD))], "T.Stage must wrap a complete"),
    "stage in block": (
        lambda: [section("SIMD_VF", stage(1, SCALAR))],
        "T.Stage must wrap a complete",
    ),
    "stage in per-core task": (
        lambda: [per_core(stage(1, LOAD))],
        "T.Stage must wrap a complete.*T.PerCoreTask",
    ),
    "stage in stage": (lambda: [stage(1, stage(2, LOAD))], "Nested T.Stage"),
    "negative stage": (lambda: [stage(-1, LOAD)], "non-negative constant integer"),
    "sync beside work": (lambda: [task(LOAD, CROSS)], "must be the task's only statement"),
    "sync in block": (
        lambda: [section("SIMD_VF", SCALAR, CROSS)],
        "must be the task's only statement",
    ),
    "per-core in task": (
        lambda: [task(per_core(LOAD))],
        "T.PerCoreTask cannot be nested inside T.Task",
    ),
    "per-core in per-core": (lambda: [per_core(per_core(LOAD))], "Nested T.PerCoreTask"),
    "per-core without work": (lambda: [per_core(CROSS)], "at least one dependency-bearing task"),
    "per-core of two pipes": (
        lambda: [per_core(LOAD, VECTOR)],
        "exactly one inferred hardware pipe",
    ),
    "per-core scalar work": (lambda: [per_core(LOAD, SCALAR)], "does not match its inferred pipe"),
    "per-core reading bind": (
        lambda: [
            per_core(LOAD, tirx.Bind(tirx.Var("x", "float32"), tirx.BufferLoad(CELL, [0, 0])))
        ],
        "may not access buffers",
    ),
    "per-core candidate with a branch": (
        lambda: [per_core(task(when(N > 3, LOAD)))],
        "must be outside the T.Task",
    ),
    "per-core sync of another pipe": (
        lambda: [per_core(LOAD, call("ascend_cross_core_set_flag", 4, "PIPE_V", 3))],
        "must use its inferred pipe PIPE_MTE2",
    ),
    "unknown attribute": (lambda: [mark("tl.other", LOAD)], "only supports known scheduling"),
    "scheduled already": (
        lambda: [mark("tl.schedule_unit", task(LOAD), {"stage": tirx.IntImm("int32", -1)})],
        "already-materialized",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("run", [ours, stock])
def test_what_breaks_the_rules_is_refused(
    case: str, run: Callable[[str], Callable[[Code], Code]]
) -> None:
    build, message = BROKEN[case]
    with pytest.raises(tvm.error.InternalError, match=f"(?s){message}"):
        run(NAME)(function(*build()))


def test_errors_name_the_statement_its_place_and_what_is_wrong() -> None:
    span = tvm.ir.Span(tvm.ir.SourceName("kernel.py"), 12, 12, 1, 2)
    located = [
        tirx.Evaluate(tirx.Call("handle", s.value.op, s.value.args, span=span))
        for s in (LOAD, copy(L0C, UB))
    ]
    with pytest.raises(tvm.error.InternalError) as error:
        ours(NAME)(function(task(*located)))
    text = str(error.value)
    assert "uses MTE2+FIX" in text and "`ascend_copy` and 1 more (kernel.py:12)" in text
    assert len(text.splitlines()) == 1


def tied(*body: tirx.Stmt) -> list[list[str]]:
    """The operations of each unit of the body."""
    after = root_of(ours(NAME)(function(*body))).body
    units = []
    for unit in after.seq if isinstance(after, tirx.SeqStmt) else [after]:
        inside = unit.body.body
        stmts = inside.seq if isinstance(inside, tirx.SeqStmt) else [inside]
        names = [
            s.value.op.name.rpartition(".")[2] if isinstance(s, tirx.Evaluate) else "work"
            for s in stmts
        ]
        units.append([name.removeprefix("ascend_") for name in names])
    return units


def test_a_lock_keeps_to_what_it_guards() -> None:
    units = tied(
        lock("PIPE_MTE2", 3),
        LOAD,
        LOAD,
        unlock("PIPE_MTE2", 3),
        lock("PIPE_V", 3),
        VECTOR,
        unlock("PIPE_V", 3),
        STORE,
    )
    assert units == [
        ["get_buf", "copy", "copy", "rls_buf"],
        ["get_buf", "work", "rls_buf"],
        ["copy"],
    ]


def test_flags_keep_to_what_they_follow_and_precede() -> None:
    event = "MTE2_V"
    units = tied(LOAD, set_flag(event, 7), wait_flag(event, 7), VECTOR, LOAD, STORE)
    assert units == [["copy", "set_flag"], ["wait_flag", "work"], ["copy"], ["copy"]]


def test_a_lock_inside_a_lock_is_kept_whole() -> None:
    outer, inner = ("PIPE_MTE2", 1), ("PIPE_MTE2", 2)
    units = tied(lock(*outer), lock(*inner), LOAD, unlock(*inner), LOAD, unlock(*outer), LOAD)
    assert units == [["get_buf", "get_buf", "copy", "rls_buf", "copy", "rls_buf"], ["copy"]]


@pytest.mark.parametrize(
    "body",
    [
        [LOAD, STORE, VECTOR],
        [lock("PIPE_V", 1), LOAD, unlock("PIPE_V", 1)],
        [set_flag("MTE2_V", 1), LOAD],
        [LOAD, wait_flag("V_MTE2", 1)],
        [lock("PIPE_MTE2", 1), task(LOAD), unlock("PIPE_MTE2", 1)],
    ],
    ids=["no sync", "another pipe", "set before", "wait after", "marked by the user"],
)
def test_other_statements_stay_apart(body: list[tirx.Stmt]) -> None:
    before = function(*body)
    tvm.ir.assert_structural_equal(ours(NAME)(before), stock(NAME)(with_moved_flags(before)))


def with_moved_flags(before: tirx.PrimFunc) -> tirx.PrimFunc:
    """The function with the ids of its flags where scheduling does not give any."""

    def move(call: tirx.Call) -> tirx.Call | None:
        if call.op.name not in ("tl.ascend_set_flag", "tl.ascend_wait_flag"):
            return None
        event, flag = call.args
        return tirx.Call("void", call.op, [event, tirx.IntImm("int32", int(flag) + 65536)])

    body = tirx.stmt_functor.ir_transform(before.body, None, move, ["tirx.Call"])
    return before.with_body(body)


def test_barriers_keep_to_what_they_part() -> None:
    barrier = call("ascend_pipe_barrier", "PIPE_MTE2")
    assert tied(LOAD, barrier, LOAD, VECTOR) == [["copy", "pipe_barrier", "copy"], ["work"]]
    assert tied(VECTOR, barrier, LOAD) == [["work"], ["pipe_barrier", "copy"]]
    assert tied(LOAD, barrier, VECTOR) == [["copy", "pipe_barrier"], ["work"]]
    assert tied(LOAD, LOAD, barrier, LOAD) == [["copy"], ["copy", "pipe_barrier", "copy"]]
    assert tied(VECTOR, barrier, STORE) == [["work"], ["pipe_barrier"], ["copy"]]


def test_a_set_flag_stays_behind_a_barrier_and_a_wait_is_not_drawn_behind_work() -> None:
    barrier = call("ascend_pipe_barrier", "PIPE_MTE2")
    flag = set_flag("MTE2_V", 0)
    assert tied(LOAD, barrier, flag) == [["copy", "pipe_barrier", "set_flag"]]
    wait = wait_flag("V_MTE2", 0)
    assert tied(LOAD, barrier, wait, LOAD) == [["copy", "pipe_barrier"], ["wait_flag", "copy"]]


def units_of(after: tirx.PrimFunc) -> list[tirx.Stmt]:
    body = root_of(after).body
    return list(body.seq) if isinstance(body, tirx.SeqStmt) else [body]


def test_a_barrier_of_all_pipes_is_a_unit_of_its_own() -> None:
    after = ours(NAME)(function(LOAD, call("ascend_pipe_barrier", "PIPE_ALL"), STORE))
    before, barrier, behind = units_of(after)
    assert "pipe_barrier" in str(barrier)
    assert "pipe_barrier" not in str(before) + str(behind)


ALL = call("ascend_pipe_barrier", "PIPE_ALL")
ON_AIC = ["PIPE_M", "PIPE_MTE1", "PIPE_MTE2", "PIPE_FIX", "PIPE_S"]
ON_AIV = ["PIPE_V", "PIPE_MTE2", "PIPE_MTE3", "PIPE_S"]


def pinned(stmt: tirx.Stmt) -> list[list[str]]:
    """Of each barrier of all pipes, in order, the pipes that it is held in its place by."""
    found: list[list[str]] = []

    def visit(node: object) -> bool:
        if isinstance(node, tirx.AttrStmt) and "pipe_barrier" in str(node.body):
            if not isinstance(node.body, tirx.SeqStmt):
                return True
            barrier, never = node.body.seq
            assert str(barrier) == str(ALL) and not never.condition.value
            found.append([each.value.args[1].value for each in never.then_case.seq])
            return False
        return True

    tirx.stmt_functor.pre_order_visit(stmt, visit)
    return found


def test_a_barrier_of_all_pipes_stays_on_the_cores_that_work_around_it() -> None:
    def barriers(*body: tirx.Stmt) -> list[list[str]]:
        return pinned(ours(NAME)(function(*body)).body)

    assert barriers(LOAD, ALL, STORE) == [ON_AIV]
    assert barriers(LOAD_L1, ALL) == [ON_AIC]
    assert barriers(LOAD, ALL, LOAD_L1) == [ON_AIC, ON_AIV]
    assert barriers(section("CUBE", LOAD_L1), ALL, section("VECTOR", STORE)) == [ON_AIC, ON_AIV]
    # Those that work in the innermost loop or branch in which any does.
    assert barriers(LOAD_L1, LOAD, when(N > 3, ALL, STORE)) == [ON_AIV]
    assert barriers(LOAD_L1, loop(var("i"), 4, LOAD, when(N > 3, ALL))) == [ON_AIV]
    assert barriers(LOAD_L1, loop(var("i"), 4, SCALAR, ALL)) == [ON_AIC]
    assert barriers(SCALAR, ALL) == []


def test_flags_of_the_user_get_ids_of_their_own() -> None:
    index = var("i")
    after = ours(NAME)(function(loop(index, 4, LOAD, set_flag("MTE2_V", index % 2))))
    assert [flag for kind, _, flag in sync_calls(after)] == ["i % 2 + 65536"]


AIV_SYNC = call("ascend_cross_core_wait_flag", 4, "PIPE_MTE2", 3)
AIC_SYNC = call("ascend_cross_core_set_flag", 4, "PIPE_FIX", 3)


@pytest.mark.parametrize("core", ["CUBE", "VECTOR"])
def test_cross_core_sync_in_a_block_is_a_task_of_its_own(core: str) -> None:
    work = LOAD if core == "VECTOR" else LOAD_L1
    opened = ours(NAME)(function(section(core, work, AIV_SYNC, work)))
    tvm.ir.assert_structural_equal(opened, stock(NAME)(function(work, AIV_SYNC, work)))


def test_a_block_without_cross_core_sync_stays_a_task() -> None:
    before = function(section("VECTOR", LOAD, STORE), section("CUBE", LOAD_L1))
    tvm.ir.assert_structural_equal(ours(NAME)(before), stock(NAME)(before))


def test_control_flow_in_an_opened_block_is_normalized() -> None:
    here = section("VECTOR", when(N > 3, LOAD), AIV_SYNC)
    bound = "NormalizeControlFlowForSchedule"
    expected = stock(NAME)(stock(bound)(function(when(N > 3, LOAD), AIV_SYNC)))
    tvm.ir.assert_structural_equal(ours(NAME)(function(here)), expected, map_free_vars=True)


def test_opened_blocks_of_both_cores_are_lists_of_their_own() -> None:
    aiv = tirx.IterVar(tvm.ir.Range(0, 2), var("aiv"), tirx.IterVar.ThreadIndex, "cthread")
    inside = tirx.AttrStmt(aiv, "thread_extent", tirx.IntImm("int32", 2), seq(AIV_SYNC, LOAD))
    after = ours(NAME)(function(section("CUBE", LOAD_L1, AIC_SYNC), section("VECTOR", inside)))
    launch = after.body
    assert launch.node.thread_tag == "cthread" and launch.body.name_hint == "tilelang_root"
    aic, aiv_list = (unit.body for unit in launch.body.body.seq)
    assert [loop.extent.value for loop in (aic, aiv_list)] == [1, 1]
    assert [len(loop.body.seq) for loop in (aic, aiv_list)] == [2, 3]
    # MTE2 is a pipe of both cores: what stands before the wait tells which it is here.
    never = aiv_list.body.seq[0].body
    assert not never.condition.value and "PIPE_V" in str(never)


@pytest.mark.parametrize(
    ("core", "pipe"), [("CUBE", "PIPE_MTE3"), ("CUBE", "PIPE_V"), ("VECTOR", "PIPE_FIX")]
)
def test_cross_core_sync_on_a_pipe_of_the_other_core_is_refused(core: str, pipe: str) -> None:
    span = tvm.ir.Span(tvm.ir.SourceName("kernel.py"), 12, 12, 1, 2)
    sync = call("ascend_cross_core_set_flag", 4, pipe, 3)
    located = tirx.Evaluate(tirx.Call("void", sync.value.op, sync.value.args, span=span))
    with pytest.raises(tvm.error.InternalError) as error:
        ours(NAME)(function(section(core, located)))
    text = str(error.value)
    assert f'"{pipe}", whose work runs on' in text and "(kernel.py:12)" in text


def test_locks_of_a_real_kernel_stay_around_its_copy() -> None:
    source = lowered(locked_copy(), NAME)
    lines = [line.strip() for line in source.splitlines()]
    [at] = [i for i, line in enumerate(lines) if "asc_copy_gm2ub" in line]
    assert lines[at - 1].startswith("asc_lock(PIPE_MTE2, 3")
    assert lines[at + 1].startswith("asc_unlock(PIPE_MTE2, 3")
    # The stock pass lets both go where the scheduler likes.
    assert "asc_unlock(PIPE_MTE2, 3" in lowered(locked_copy()).split("asc_copy_gm2ub")[0]
