"""Kernels that synchronize by hand run right under every policy, and are proven right."""

from __future__ import annotations

from dataclasses import replace

import pytest

import tilelang_ascend_sched as sched
from tests.kernels.hand_sync import HAND_SYNC
from tests.kernels.run import complaints, lowered

POLICIES = ("eager", "lazy", "random", "starve:MTE2", "starve:MTE3", "starve:FIX", "starve:V")


def proven_text(name: str) -> str:
    result = sched.lower(HAND_SYNC[name].build())
    assert result.report is not None
    said = [note.message for note in result.report.notes if note.source == "verify"]
    assert any("synchronization proven" in message for message in said), said
    return result.source


@pytest.mark.parametrize("name", HAND_SYNC)
def test_runs_right(name: str) -> None:
    proven_text(name)
    text = lowered(HAND_SYNC[name].build, ours=True)
    for seed, policy in enumerate(POLICIES):
        assert complaints(HAND_SYNC[name], text, policy, seed) == [], policy


def test_flags_that_nothing_else_backs_are_what_keeps_the_order() -> None:
    workload = HAND_SYNC["trusted_flags"]
    text = lowered(workload.build, ours=True)
    lines = text.text.splitlines()
    cross = [line for line in lines if "asc_sync_intra_" in line]
    assert len(cross) == 3  # the kernel's own: two raised, one awaited on each AIV
    without = replace(text, text="\n".join(line for line in lines if line not in cross))
    assert complaints(workload, text, "starve:FIX") == []
    assert any("race" in complaint for complaint in complaints(workload, without, "starve:FIX"))


BARRIER = "asc_sync();"


def test_barriers_that_nothing_else_backs_are_what_keeps_the_order() -> None:
    workload = HAND_SYNC["barriers_of_both_cores"]
    text = lowered(workload.build, ours=True)
    lines = text.text.splitlines()
    assert sum(line.strip() == BARRIER for line in lines) == 4  # two on each core
    without = replace(text, text="\n".join(line for line in lines if line.strip() != BARRIER))
    assert complaints(workload, text, "starve:MTE2") == []
    assert any("race" in complaint for complaint in complaints(workload, without, "starve:MTE2"))


def test_nothing_is_issued_across_a_barrier_of_all_pipes() -> None:
    work = {BARRIER: "barrier", "gm2ub": "load", "vf_call": "work", "ub2gm": "store"}
    text = lowered(HAND_SYNC["barriers_in_loop"].build, ours=True).text
    issued = [name for line in text.splitlines() for key, name in work.items() if key in line]
    assert issued == ["barrier", "load", "barrier", "work", "barrier", "store"]


@pytest.mark.parametrize("name", ["own_barriers", "barrier_at_root", "barriers_in_loop"])
def test_barriers_leave_a_kernel_on_the_core_it_has(name: str) -> None:
    assert "__aiv__" in proven_text(name) or "__vector__" in proven_text(name)
    assert "__mix__" not in proven_text(name)
