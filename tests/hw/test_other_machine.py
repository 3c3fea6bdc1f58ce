"""Passes and report follow the hardware file of another machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tvm
from rich.console import Console
from tvm import tirx

from tests.kernels.small import SMALL
from tests.passes.tir import kernel, loop, ours, set_flag, sync_calls, var, wait_flag
from tilelang_ascend_sched import ScheduleReport, hardware, lower
from tilelang_ascend_sched.report.render import render

KEY = "tl.ascend_sched.hardware"
EVENT = "MTE2_V"
X_Y_Z = 3 * 2 * 64 * 4
"""Bytes of one version of each buffer of the kernel ``simt_add``."""


def machine(folder: Path, **figures: int) -> str:
    """A hardware file with some figures of its own, each named by section and key."""
    whole = json.loads(hardware.BUILTIN.read_text())
    for name, value in figures.items():
        section, _, key = name.partition("__")
        whole[section][key]["value"] = value
    file = folder / "chip.json"
    file.write_text(json.dumps(whole))
    return str(file)


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
