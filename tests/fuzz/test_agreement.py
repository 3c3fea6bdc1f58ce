"""The check, the emulator's race check and numpy agree on random kernels and on changed ones.

``FUZZ_PROGRAMS`` sets how many are tried; ``python -m tests.fuzz`` tries thousands, each with a
bound on its time.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.generate import generate
from tests.fuzz.judge import AGREED, UNDECIDED, judge
from tests.fuzz.lowering import ours

PROGRAMS = int(os.environ.get("FUZZ_PROGRAMS", "256"))
AT_ONCE = 16
FIRST = 30000
KINDS = (
    ("ours", 1), ("stock", 0), ("ours", 0), ("mixed", 0),
    ("ours", 0), ("stock", 0), ("ours", 1), ("ours", 0),
)  # fmt: skip
"""Passes and number of mutants of one batch after the other."""


@pytest.mark.parametrize("batch", range(-(-PROGRAMS // AT_ONCE)))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_all_three_agree(batch: int, tmp_path: Path) -> None:
    passes, changes = KINDS[batch % len(KINDS)]
    seeds = range(FIRST + batch * AT_ONCE, FIRST + min((batch + 1) * AT_ONCE, PROGRAMS))
    programs = [generate(each, ours(passes)) for each in seeds]
    outcomes = judge(programs, tmp_path, passes, changes)
    wrong = [each for each in outcomes if each.kind not in (*AGREED, *UNDECIDED)]
    assert [(each.program.name, passes, each.kind, each.detail) for each in wrong] == []
    assert sum(each.kind in AGREED for each in outcomes) > len(programs) // 2


def test_outcomes_are_the_same_in_every_process() -> None:
    command = [sys.executable, "-m", "tests.fuzz", "--worker", "4", "--seed", "600000"]
    command += ["--programs", "4", "--mutants", "1"]
    said = set()
    for seed in ("1", "77"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
        said.add(next(line for line in done.stdout.splitlines() if line.startswith('{"next')))
    assert len(said) == 1
