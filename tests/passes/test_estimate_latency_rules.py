"""What EstimateLatency promises, seen on kernels of one or two tasks."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import tilelang  # noqa: F401  # brings tvm with it
import tvm
from tvm import tirx
from tvm.ir.transform import PassContext
from tvm.tirx.op import Op

from tests.kernels.small import SMALL
from tests.passes.bad_latency import bad_latency
from tests.passes.cost_tir import block, buffer, call, pointer, region, task, whole
from tests.passes.tir import kernel_root, loop, ours, stock
from tilelang_ascend_sched import hardware, lower

PASS = "EstimateLatency"
N = tirx.Var("n", "int32")
I = tirx.Var("i", "int32")  # noqa: E741


def costs(function: tirx.PrimFunc) -> list[tuple[int, int]]:
    """(latency, ii) of each task in the order of a walk."""
    found: list[tuple[int, int]] = []

    def visit(node: Any) -> None:
        if isinstance(node, tirx.AttrStmt) and "task" in node.attr_key:
            found.append((int(node.node["latency"]), int(node.node["ii"])))

    tirx.stmt_functor.post_order_visit(function.body, visit)
    return found


def cost(*body: tirx.Stmt, **marks: int) -> tuple[int, int]:
    (only,) = costs(ours(PASS)(kernel_root(task(*body, **marks))))
    return only


def copy(source: tirx.Buffer, target: tirx.Buffer, **hints: Any) -> tirx.Stmt:
    ends = whole(source, 1), whole(target, 2)
    return tirx.Evaluate(call("tl.tileop.ascend_copy", *ends, **hints))


def load(rows: int) -> tirx.Stmt:
    return copy(buffer([rows, 64], "float32", "global"), buffer([rows, 64], "float32", "shared.l1"))


LOAD_16 = (231, 64)  # 4096 bytes: 41 cycles at 100 a cycle, after 190; at least 64 on the pipe


def test_a_copy_takes_its_latency_and_its_bytes() -> None:
    assert cost(load(16)) == LOAD_16
    assert cost(load(160)) == (190 + 410, 410)


def test_the_second_copy_of_a_task_adds_its_interval_to_both_figures() -> None:
    latency, interval = cost(load(160))
    assert cost(load(160), load(160)) == (latency + interval, 2 * interval)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_fixpipe_pays_for_what_it_writes(dtype: str) -> None:
    source = buffer([64, 64], "float32", "shared.l0c")
    target = buffer([64, 64], dtype, "global")
    written = 64 * 64 * (4 if dtype == "float32" else 2)
    assert cost(copy(source, target)) == (200 + written // 128, 2 + written // 128)


@pytest.mark.parametrize("split", [1, 2])
def test_a_dual_copy_costs_the_same_before_and_after_its_rewrite(split: int) -> None:
    half = [64, 128] if split == 1 else [128, 64]
    target = buffer(half, "float32", "shared.dyn")
    accumulator = buffer([128, 128], "float32", "shared.l0c")
    control = tirx.IntImm("int32", split)
    before = copy(accumulator, target, dual_dst_ctl=control)
    source = region(accumulator, 1, [0, 0], half)
    wide = region(buffer([128, 128], "float32", "shared.dyn"), 2, [0, 0], [128, 128])
    double = tirx.IntImm("bool", 1)
    after = tirx.Evaluate(
        call("tl.tileop.ascend_copy", source, wide, dual_dst_ctl=control, double=double)
    )
    assert cost(before) == cost(after)


def test_what_a_task_says_itself_is_kept() -> None:
    assert cost(load(16), latency=7000) == (7000, 64)
    assert cost(load(16), ii=3) == (231, 3)
    assert cost(load(16), latency=20, ii=20) == (20, 20)


def test_other_metadata_of_a_task_is_kept() -> None:
    function = ours(PASS)(kernel_root(task(load(16), core_mask=2, colour=5)))
    node = function.body.body.node
    assert {str(key): int(value) for key, value in node.items()} == {
        "latency": 231,
        "ii": 64,
        "core_mask": 2,
        "colour": 5,
    }


def test_a_loop_without_iterations_still_takes_a_cycle() -> None:
    assert cost(loop(I, 0, load(16))) == (1, 1)


def test_a_loop_of_unknown_length_counts_a_hundred_times() -> None:
    latency, interval = cost(load(16))
    expected = (99 * interval + latency, 100 * interval)
    assert cost(loop(I, N, load(16))) == expected
    assert cost(tirx.While(N < 3, load(16))) == expected


def test_facts_bound_a_loop() -> None:
    bounded = tirx.AttrStmt(N <= 5, "tl.assume", tirx.IntImm("int32", 1), loop(I, N, load(16)))
    assert cost(bounded) == (4 * 64 + 231, 5 * 64)


REFUSED = {
    "a latency below the ii": (
        task(load(160), latency=100),
        "must be greater than or equal to ii, got latency=100 .given. and ii=410 .estimated.",
    ),
    "an ii above the latency": (
        task(load(16), ii=232),
        "greater than or equal to ii, got latency=231 .estimated. and ii=232 .given.",
    ),
    "a negative latency": (task(load(16), latency=-1), "latency must be non-negative"),
    "an ii of zero": (task(load(16), ii=0), "ii must be positive"),
    "an unmarked call": (load(16), "unmarked Evaluate. Run tl.transform.MaterializeScheduleUnits"),
    "an unmarked store": (
        tirx.BufferStore(buffer([4], "int32", "local.var"), N, [tirx.IntImm("int32", 0)]),
        "unmarked BufferStore",
    ),
    "an unmarked binding": (tirx.Bind(tirx.Var("b", "int32"), N), "unmarked Bind"),
    "an unmarked block": (block("SIMD_VF", load(16)), "unmarked block"),
    "an unmarked while": (tirx.While(N < 3, task(load(16))), "unmarked While"),
    "an unmarked parallel loop": (
        tirx.For(I, tirx.IntImm("int32", 0), N, tirx.ForKind.PARALLEL, task(load(16))),
        "unmarked parallel loop",
    ),
    "no task": (
        tirx.DeclBuffer(buffer([4], "int32", "local.var")),
        "found no schedulable tasks inside tilelang_root",
    ),
    "a per-core task without candidates": (
        task(
            task(tirx.Evaluate(call("tl.ascend_set_atomic", "add", "float32"))),
            key="tl.ascend_per_core_task",
        ),
        "at least one normalized T.Task candidate",
    ),
    "nested per-core tasks": (
        task(task(task(load(16)), key="tl.ascend_per_core_task"), key="tl.ascend_per_core_task"),
        "Nested T.PerCoreTask",
    ),
    "candidates on several pipes": (
        task(
            task(load(16)),
            task(copy(buffer([64], "int8", "shared"), buffer([64], "int8", "global"))),
            key="tl.ascend_per_core_task",
        ),
        "requires exactly one inferred hardware pipe",
    ),
    "a scatter of a shape that is not known": (
        task(
            block(
                "SIMD_VF",
                tirx.Evaluate(
                    call(
                        "tl.ascend_nd2nz_scatter",
                        pointer(buffer([64], "float16", "shared"), 1, 64),
                        pointer(buffer([64], "float16", "shared"), 2, 64),
                        N,
                        16,
                        "half",
                        "half",
                    )
                ),
            )
        ),
        "ND->NZ scatter requires static shape and dtype",
    ),
    "cycles beyond 64 bits": (
        task(loop(I, 2**31 - 1, loop(N, 2**31 - 1, loop(tirx.Var("k", "int32"), 999, load(16))))),
        "overflow",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_stock_refuses_is_refused(what: str) -> None:
    body, message = REFUSED[what]
    function = kernel_root(body)
    with pytest.raises(tvm.error.InternalError):
        stock(PASS)(function)
    with pytest.raises(tvm.error.InternalError, match=f"(?s){message}"):
        ours(PASS)(function)


def test_a_refusal_names_kernel_and_line() -> None:
    with pytest.raises(tvm.error.InternalError) as refusal:
        lower(bad_latency())
    line = Path(__file__).with_name("bad_latency.py").read_text().split("# here")[0].count("\n") + 1
    assert re.search(rf"kernel bad_latency.*bad_latency\.py:{line}", str(refusal.value))


def test_a_function_without_kernel_is_left_alone() -> None:
    function = tirx.PrimFunc([], load(16)).with_attr("global_symbol", "main")
    assert ours(PASS)(function).body.same_as(function.body)


def with_hardware(tmp_path: Path, edit: Any) -> PassContext:
    """A context in which passes use the package's hardware file after ``edit``."""
    figures = json.loads(hardware.BUILTIN.read_text())
    edit(figures)
    file = tmp_path / "chip.json"
    file.write_text(json.dumps(figures))
    return PassContext(config={"tl.ascend_sched.hardware": str(file)})


def test_figures_come_from_the_hardware_file(tmp_path: Path) -> None:
    def edit(figures: Any) -> None:
        figures["transfers"]["gm_to_l1"]["bandwidth"]["value"] = 50
        figures["transfers"]["gm_to_l1"]["latency"]["value"] = 1000

    assert cost(load(160)) == (600, 410)
    with with_hardware(tmp_path, edit):
        assert cost(load(160)) == (1820, 820)
    assert cost(load(160)) == (600, 410)


def test_a_bad_hardware_file_is_refused_by_the_pass_and_by_the_options(tmp_path: Path) -> None:
    context = with_hardware(tmp_path, lambda figures: figures.pop("cube"))
    with context, pytest.raises(ValueError, match=r"chip\.json:1: `cube` is missing"):
        cost(load(16))
    config = {"tl.ascend_sched.hardware": str(tmp_path / "chip.json")}
    with pytest.raises(ValueError, match=r"chip\.json:1: `cube` is missing"):
        lower(SMALL["copy"].build(), pass_configs=config)


def exponential() -> tirx.Stmt:
    place = buffer([4096], "float32", "shared.dyn")
    value = call("tirx.exp", tirx.BufferLoad(place, [I]), dtype="float32")
    zero = tirx.IntImm("int32", 0)
    body = tirx.BufferStore(place, value, [I])
    every = tirx.For(I, zero, tirx.IntImm("int32", 4096), tirx.ForKind.PARALLEL, body)
    return block("SIMT_VF", every)


def test_an_operation_without_a_figure_is_told(notes: list[tuple]) -> None:
    assert cost(exponential()) == (64, 64)  # what the loads take: 16384 bytes, 256 a cycle
    ((source, kernel, kind, message, data),) = notes
    assert (source, kernel, kind) == (PASS, "main", "decision")
    assert "no cost figure for tirx.exp" in message
    assert json.loads(data)["operations"] == ["tirx.exp"]


def simd(name: str) -> tirx.Stmt:
    return block("SIMD_VF", tirx.Evaluate(call(name)))


def test_every_instruction_of_tilelang_has_a_figure(notes: list[tuple]) -> None:
    names = [str(name) for name in Op.list_op_names() if str(name).startswith("tl.simd.")]
    assert len(names) > 80
    assert cost(*map(simd, names)) == (len(names), len(names))
    assert not notes


def test_an_instruction_that_is_not_known_is_told(tmp_path: Path, notes: list[tuple]) -> None:
    def forget(figures: Any) -> None:
        figures["vector"]["calls"][3]["names"].remove("tl.simd.vadd")

    with with_hardware(tmp_path, forget):
        assert cost(simd("tl.simd.vadd")) == (1, 1)
    ((*_, message, data),) = notes
    assert "no cost figure for tl.simd.vadd" in message
    assert json.loads(data)["operations"] == ["tl.simd.vadd"]


EXTERNAL = tirx.call_extern("int32", "mine", 3)
CELL = buffer([1], "int32", "local.var")


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (tirx.Evaluate(EXTERNAL), "extern mine"),
        (tirx.BufferStore(CELL, EXTERNAL + 1, [tirx.IntImm("int32", 0)]), "extern mine"),
        (block("SIMT_VF", tirx.Evaluate(EXTERNAL)), "extern mine"),
        (tirx.Evaluate(call("tl.cluster_sync")), "tl.cluster_sync"),
    ],
)
def test_a_call_that_is_not_known_is_told(body: tirx.Stmt, name: str, notes: list[tuple]) -> None:
    assert cost(body) == (1, 1)
    ((*_, message, data),) = notes
    assert f"no cost figure for {name}:" in message
    assert json.loads(data)["operations"] == [name]


@pytest.mark.parametrize(
    "known",
    [
        tirx.Evaluate(tirx.IntImm("int32", 0)),
        tirx.Evaluate(call("tl.ascend_pipe_barrier", "PIPE_ALL")),
        tirx.Evaluate(call("tl.ascend_cross_core_set_flag", 4, "PIPE_V", 1)),
        tirx.BufferStore(CELL, tirx.exp(N.astype("float32")).astype("int32"), [N]),
        load(16),
    ],
)
def test_what_costs_next_to_nothing_or_what_is_known_is_not_told(
    known: tirx.Stmt, notes: list[tuple]
) -> None:
    cost(known)
    assert not notes


def test_a_hardware_file_can_give_the_missing_figure(tmp_path: Path, notes: list[tuple]) -> None:
    def edit(figures: Any) -> None:
        figures["vector"]["calls"][0]["names"].append("tirx.exp")

    with with_hardware(tmp_path, edit):
        assert cost(exponential()) == (512, 512)  # 4096 at 8 a cycle
    assert not notes
