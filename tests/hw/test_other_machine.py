"""Passes and report follow the hardware file of another machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tvm
from rich.console import Console
from tvm import tirx

from tests.hw.chip import machine
from tests.kernels.small import SMALL
from tests.passes.cost_tir import block, buffer, call, pointer, task, whole
from tests.passes.tir import (
    kernel,
    kernel_root,
    loop,
    ours,
    seq,
    set_flag,
    sync_calls,
    var,
    wait_flag,
)
from tilelang_ascend_sched import ScheduleReport, hardware, lower
from tilelang_ascend_sched.report.render import render

KEY = "tl.ascend_sched.hardware"
EVENT = "MTE2_V"
X_Y_Z = 3 * 2 * 64 * 4
"""Bytes of one version of each buffer of the kernel ``simt_add``."""


def small_chip(folder: Path) -> str:
    return machine(
        folder,
        synchronization__flags_per_event=4,
        synchronization__locks=16,
        capacities__ub=126976,
        capacities__ub_with_simt=110592,
    )


def rewritten(function: tirx.PrimFunc, file: str) -> list[tuple[str, ...]]:
    with tvm.transform.PassContext(config={KEY: file} if file else {}):
        return sync_calls(ours("RewriteFlagToBuf")(function))


def flags(count: int) -> tirx.PrimFunc:
    sets = [set_flag(EVENT, i) for i in range(count)]
    return kernel(*sets, *[wait_flag(EVENT, i) for i in range(count)])


def rings(*sizes: int) -> tirx.PrimFunc:
    """Loops that set and wait for the ids of one ring each, one ring after the other."""
    body, base = [], 0
    for number, size in enumerate(sizes):
        index = var(f"i{number}")
        flag = index % size + base
        body.append(loop(index, 2 * size, set_flag(EVENT, flag), wait_flag(EVENT, flag)))
        base += size
    return kernel(*body)


@pytest.mark.parametrize(("count", "spills"), [(4, False), (5, True), (8, True)])
def test_flags_fit_into_as_many_slots_as_the_file_gives(
    tmp_path: Path, count: int, spills: bool
) -> None:
    function = flags(count)
    assert {kind for kind, *_ in rewritten(function, "")} == {"set", "wait"}
    kinds = [kind for kind, *_ in rewritten(function, small_chip(tmp_path))]
    assert ("lock" in kinds) == spills
    assert kinds.count("set") == min(count, 4)


def test_spilled_flags_find_as_many_locks_as_the_file_gives(tmp_path: Path) -> None:
    function = rings(4, 16)
    assert "lock" in [kind for kind, *_ in rewritten(function, small_chip(tmp_path))]
    # Three rings of one event cannot do with fewer locks than one each.
    scarce = machine(tmp_path, synchronization__flags_per_event=1, synchronization__locks=1)
    with pytest.raises(tvm.error.InternalError, match=r"of 1 that are free"):
        rewritten(rings(2, 2, 2), scarce)


def report(name: str, file: str = "") -> ScheduleReport:
    return lower(SMALL[name].build(), pass_configs={KEY: file} if file else {}).report


def test_the_report_has_the_memory_that_the_kernel_can_have(tmp_path: Path) -> None:
    assert report("copy").capacities["UB"] == 253952
    assert report("simt_add").capacities["UB"] == 221184
    file = small_chip(tmp_path)
    assert report("copy", file).capacities["UB"] == 126976
    small = report("simt_add", file)
    assert small.capacities["UB"] == 110592
    console = Console(record=True, width=120)
    render(small, console)
    assert "of 110,592" in console.export_text()


def test_versions_fit_into_the_memory_that_the_file_gives(tmp_path: Path) -> None:
    roomy = report("simt_add").scope_bytes()["UB"]
    assert roomy > X_Y_Z
    tight = machine(tmp_path, capacities__ub_with_simt=X_Y_Z)
    assert report("simt_add", tight).scope_bytes()["UB"] == X_Y_Z


def test_too_little_memory_is_told_with_loop_memory_and_file(tmp_path: Path) -> None:
    short = machine(tmp_path, capacities__ub_with_simt=X_Y_Z - 1)
    told = rf"simt_add: i: one version of each buffer takes {X_Y_Z} bytes of UB.*chip\.json"
    with pytest.raises(ValueError, match=told):
        report("simt_add", short)


def test_a_bigger_memory_than_the_later_passes_allow_is_no_more(tmp_path: Path) -> None:
    assert report("copy", machine(tmp_path, capacities__ub=1 << 20)).capacities["UB"] == 253952


def test_costs_follow_the_bandwidths_of_the_file(tmp_path: Path) -> None:
    whole = json.loads(hardware.BUILTIN.read_text())
    for route in ("gm_to_ub", "ub_to_gm"):
        whole["transfers"][route]["bandwidth"]["value"] = 1
    file = tmp_path / "slow.json"
    file.write_text(json.dumps(whole))
    (plain,) = report("copy").loops
    (slow,) = report("copy", str(file)).loops
    assert plain.ii is not None and slow.ii is not None
    assert slow.ii > plain.ii


def edited(folder: Path, edit: Callable[[Any], None]) -> tvm.transform.PassContext:
    """A context in which passes use the package's hardware file after ``edit``."""
    whole = json.loads(hardware.BUILTIN.read_text())
    edit(whole)
    file = folder / "edited.json"
    file.write_text(json.dumps(whole))
    return tvm.transform.PassContext(config={KEY: str(file)})


def cost(*body: tirx.Stmt) -> tuple[int, int]:
    """Latency and ii of a task."""
    marked = ours("EstimateLatency")(kernel_root(task(*body))).body.body
    return int(marked.node["latency"]), int(marked.node["ii"])


def units(*body: tirx.Stmt) -> int:
    after = ours("MaterializeScheduleUnits")(kernel_root(seq(*body))).body.body
    return len(after.seq) if isinstance(after, tirx.SeqStmt) else 1


def copy(source: str, target: str) -> tirx.Stmt:
    ends = buffer([64, 64], "float32", source), buffer([64, 64], "float32", target)
    return tirx.Evaluate(call("tl.tileop.ascend_copy", whole(ends[0], 1), whole(ends[1], 2)))


def move(name: str, source: str, target: str) -> tirx.Stmt:
    ends = buffer([64], "float32", source), buffer([64], "float32", target)
    return tirx.Evaluate(call(name, pointer(ends[1], 2, 64), pointer(ends[0], 1, 64)))


def on_one_pipe(figures: Any) -> None:
    """Loads into UB and stores from it take turns on one engine."""
    figures["transfers"]["ub_to_gm"]["pipe"] = "MTE2"


PAIRS = {
    "tile copies": (copy("global", "shared"), copy("shared", "global")),
    "instructions": (
        move("tl.ascend_copy_gm_to_ubuf", "global", "shared"),
        move("tl.ascend_copy_ubuf_to_gm", "shared", "global"),
    ),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_pipes_of_copies_come_from_the_file(tmp_path: Path, pair: str) -> None:
    with pytest.raises(tvm.error.InternalError, match=r"one Ascend hardware pipe.*MTE2\+MTE3"):
        units(task(*PAIRS[pair]))
    with edited(tmp_path, on_one_pipe):
        assert units(task(*PAIRS[pair])) == 1


@pytest.mark.parametrize(
    "pair",
    [
        (copy("global", "shared"), copy("global", "shared.l1")),
        (
            move("tl.ascend_copy_gm_to_ubuf", "global", "shared"),
            move("tl.ascend_copy_gm_to_cbuf", "global", "shared.l1"),
        ),
    ],
)
def test_ports_come_from_the_file(tmp_path: Path, pair: tuple[tirx.Stmt, ...]) -> None:
    with pytest.raises(tvm.error.InternalError, match="one Ascend core affinity"):
        units(task(*pair))

    def without_port(figures: Any) -> None:
        figures["transfers"]["gm_to_l1"]["ports"] = []

    with edited(tmp_path, without_port):
        assert units(task(*pair)) == 1


def test_pipes_of_operations_come_from_the_file(tmp_path: Path) -> None:
    fence = tirx.Evaluate(call("tl.ascend_threadfence"))
    load = copy("global", "shared")
    with pytest.raises(tvm.error.InternalError, match="pipe"):
        units(task(load, tirx.Evaluate(call("tl.ascend_mad"))))

    def told(figures: Any) -> None:
        figures["operations"].insert(
            0, {"names": ["tl.ascend_ma*"], "pipes": ["MTE2"], "source": "cost pass"}
        )

    with edited(tmp_path, told):
        assert units(task(load, tirx.Evaluate(call("tl.ascend_mad")))) == 1
    assert units(load, fence) == 2


@pytest.mark.parametrize("trips", [1, 7])
def test_loops_that_nothing_bounds_count_as_the_file_says(tmp_path: Path, trips: int) -> None:
    def known(figures: Any) -> None:
        figures["unknown_trips"]["value"] = trips

    n = var("n")
    loops = loop(var("i"), n, copy("global", "shared")), tirx.While(n < 3, copy("global", "shared"))
    with edited(tmp_path, known):
        expected = cost(loop(var("i"), trips, copy("global", "shared")))
        assert [cost(each) for each in loops] == [expected, expected]
    assert cost(loops[0]) == cost(loop(var("i"), 100, copy("global", "shared")))


def test_a_scatter_takes_as_many_passes_as_its_rows_have_registers(tmp_path: Path) -> None:
    ends = [pointer(buffer([64, 256], "float16", "shared"), access, 64 * 256) for access in (1, 2)]
    scatter = tirx.Evaluate(call("tl.ascend_nd2nz_scatter", *ends, 64, 256, "half", "half"))
    body = block("SIMD_VF", scatter)

    def halved(figures: Any) -> None:
        figures["vector"]["register"]["value"] = 128

    # Setup 10, and for each pass of 128 or 64 columns 10 and two for each row.
    assert cost(body) == (10 + 2 * (10 + 2 * 64),) * 2
    with edited(tmp_path, halved):
        assert cost(body) == (10 + 4 * (10 + 2 * 64),) * 2
