"""The command ``deps``."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from tilelang_ascend_sched.cli import main

RING = f"{Path(__file__).parents[2] / 'examples' / 'manual_ring.py'}:manual_ring"


def test_a_ring_waits_two_iterations(tmp_path: Path) -> None:
    dot = tmp_path / "ring.dot"
    result = CliRunner().invoke(main, ["deps", RING, "--json", "--dot", str(dot)])
    assert result.exit_code == 0, result.output
    (kernel,) = json.loads(result.output)
    loop = kernel["bodies"][1]
    carried = {edge["distance"] for edge in loop["edges"] if edge["distance"]}
    assert carried == {2}
    assert dot.read_text().startswith("digraph dependences {")


def test_what_is_no_kernel_ends_with_status_two() -> None:
    result = CliRunner().invoke(main, ["deps", "nowhere.py:kernel"])
    assert result.exit_code == 2
    assert "nowhere.py" in result.output
