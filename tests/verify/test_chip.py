"""A kernel is checked against the machine that it is lowered for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tvm.tirx import PrimFunc

from tests.hw.chip import machine
from tests.verify.device import (
    cross_set,
    handshake,
    kernel,
    load,
    lock,
    store,
    unlock,
)
from tilelang_ascend_sched import hardware
from tilelang_ascend_sched.verify import PROVEN, REFUSED, verify


def kinds(func: PrimFunc, chip: str = "") -> list[str]:
    report = verify(func, hardware=chip)
    assert (report.verdict == PROVEN) == (not report.findings)
    return [finding.kind for finding in report.findings]


def test_flag_ids(tmp_path: Path) -> None:
    fifth = kernel(load(0, 0), handshake("MTE2_MTE3", 4), store(0, 0))
    assert kinds(fifth) == []
    assert "range" in kinds(fifth, machine(tmp_path, synchronization__flags_per_event=4))
    tenth = kernel(load(0, 0), handshake("MTE2_MTE3", 9), store(0, 0))
    assert "range" in kinds(tenth)
    assert kinds(tenth, machine(tmp_path, synchronization__flags_per_event=10)) == []


def test_lock_ids(tmp_path: Path) -> None:
    both = [lock("PIPE_MTE2", 20), load(0, 0), unlock("PIPE_MTE2", 20)]
    both += [lock("PIPE_MTE3", 20), store(0, 0), unlock("PIPE_MTE3", 20)]
    assert kinds(kernel(*both)) == []
    assert kinds(kernel(*both), machine(tmp_path, synchronization__locks=16)) == ["range"]


def test_cross_core_flags(tmp_path: Path) -> None:
    raised = kernel(load(0, 0), cross_set(4, "PIPE_MTE3", 12))
    assert "range" not in kinds(raised)
    assert "range" in kinds(raised, machine(tmp_path, synchronization__cross_core_flags=12))


def test_capacities(tmp_path: Path) -> None:
    func = kernel(load(15, 0))
    report = verify(
        func, hardware=machine(tmp_path, capacities__ub=128, capacities__ub_with_simt=64)
    )
    assert kinds(func) == []
    assert report.verdict == REFUSED
    assert "which has 128 bytes" in report.findings[0].message


@pytest.mark.parametrize("in_order", [True, False])
def test_completion_order(tmp_path: Path, in_order: bool) -> None:
    """Two loads of one pipe into the same bytes are in order if the pipe completes in order."""
    data = json.loads(hardware.BUILTIN.read_text())
    data["pipes"]["MTE2"]["completes_in_order"] = in_order
    chip = tmp_path / "chip.json"
    chip.write_text(json.dumps(data))
    assert kinds(kernel(load(0, 0), load(0, 1)), str(chip)) == ([] if in_order else ["race"])


def test_wrong_file(tmp_path: Path) -> None:
    chip = tmp_path / "chip.json"
    chip.write_text("{}")
    with pytest.raises(ValueError, match=r"chip\.json"):
        verify(kernel(load(0, 0)), hardware=str(chip))
