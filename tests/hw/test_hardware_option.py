"""The option ``tl.ascend_sched.hardware``: what it changes, and that caches know of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.kernels.small import SMALL
from tilelang_ascend_sched import Options, hardware, lower
from tilelang_ascend_sched.plug.caches import fingerprint

KEY = "tl.ascend_sched.hardware"


@pytest.fixture
def slow_loads(tmp_path: Path) -> Path:
    """A hardware file whose loads into UB take ten times as long."""
    figures = json.loads(hardware.BUILTIN.read_text())
    figures["transfers"]["gm_to_ub"]["bandwidth"]["value"] = 10
    file = tmp_path / "slow.json"
    file.write_text(json.dumps(figures))
    return file


def test_a_schedule_follows_the_file(slow_loads: Path) -> None:
    kernel = SMALL["simt_add"].build()
    plain = lower(kernel).report.loops
    slow = lower(kernel, pass_configs={KEY: str(slow_loads)}).report.loops
    assert len(plain) == len(slow) > 0
    assert sum(loop.value or 0 for loop in slow) > sum(loop.value or 0 for loop in plain)


def test_cache_keys_follow_the_content(slow_loads: Path, tmp_path: Path) -> None:
    same = tmp_path / "same.json"
    same.write_text(hardware.BUILTIN.read_text())
    plain = fingerprint({})
    assert fingerprint({KEY: str(same)}) == plain
    before = fingerprint({KEY: str(slow_loads)})
    assert before != plain
    slow_loads.write_text(hardware.BUILTIN.read_text())
    assert fingerprint({KEY: str(slow_loads)}) == plain


@pytest.mark.parametrize("content", [None, "{}"])
def test_a_file_that_is_no_good_is_refused_at_once(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "chip.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ValueError, match=r"chip\.json"):
        Options.from_config({KEY: str(file)})
    with pytest.raises(ValueError, match=r"chip\.json"):
        fingerprint({KEY: str(file)})
