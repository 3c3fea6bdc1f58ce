"""gemm_relu at its full size: numbers under every policy, and each sync line deleted in turn."""

from __future__ import annotations

import re

import pytest

from tilelang_ascend_sched.emulator import POLICIES

SYNC = re.compile(r"\s*asc_(sync|lock|unlock)")


@pytest.mark.parametrize("policy", POLICIES)
def test_all_results_are_right(gemm, policy):
    result, arrays = gemm.run(policy=policy, seed=11)
    assert [str(f) for f in result.findings] == []
    assert gemm.wrong(arrays) == []


def test_every_deleted_sync_line_is_objected_to(gemm):
    lines = gemm.text.splitlines()
    sync = [i for i, line in enumerate(lines) if SYNC.match(line)]
    assert len(sync) >= 15
    missed = []
    for i in sync:
        text = "\n".join([*lines[:i], "", *lines[i + 1 :]])
        result, _ = gemm.run(text, blocks=2)
        if result.ok:
            missed.append(lines[i].strip())
    assert missed == []


def _pairs(lines: list[str]) -> list[tuple[int, int]]:
    """Set and wait of one flag inside the loop, which leave all counts right when both go."""
    found = []
    for i, line in enumerate(lines):
        if "asc_sync_notify" not in line:
            continue
        wait = line.strip().replace("notify", "wait")
        found += [(i, j) for j, other in enumerate(lines) if other.strip() == wait]
    return found


def test_a_deleted_pair_is_a_race(gemm):
    lines = gemm.text.splitlines()
    checked = 0
    for i, j in _pairs(lines):
        kept = ["" if k in (i, j) else line for k, line in enumerate(lines)]
        result, _ = gemm.run("\n".join(kept), blocks=1)
        assert result.findings, (lines[i], lines[j])
        checked += 1
    assert checked >= 5


def test_race_names_the_lines_and_the_template(gemm):
    wait = next(
        i for i, line in enumerate(gemm.text.splitlines()) if "wait(PIPE_MTE2, PIPE_MTE1" in line
    )
    lines = gemm.text.splitlines()
    call = next(i for i, line in enumerate(lines, 1) if "ascend_gemm_l1<" in line)
    lines[wait] = ""
    result, _ = gemm.run("\n".join(lines), blocks=1)
    race = next(f for f in result.of_kind("race") if "L1" in f.message)
    templates = [s for s in race.sites if s.file.endswith("gemm.h")]
    assert templates and all(s.kernel_line == call for s in templates)


@pytest.mark.parametrize("policy", ["lazy", "random", "starve:MTE1", "starve:S"])
def test_cycles_do_not_depend_on_the_policy(gemm, policy):
    expected = gemm.run(blocks=2)[0].kernels[0]
    found = gemm.run(blocks=2, policy=policy, seed=4)[0].kernels[0]
    assert found.times == expected.times
    assert found.executed == expected.executed


def test_executed_synchronization_is_counted(gemm):
    result, _ = gemm.run(blocks=2)
    # 16 steps with 4 flag instructions and 2 sub-steps of 4 locks each, and what frames the loop.
    assert result.kernels[0].syncs == ((200, 3, 3), (200, 3, 3))
    assert list(result.executed_syncs()) == [206, 206]
