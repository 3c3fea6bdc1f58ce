"""The check, the emulator's race check and numpy agree on random kernels and on changed ones.

``FUZZ_PROGRAMS`` sets how many are tried; ``python -m tests.fuzz`` tries thousands, each with a
bound on its time.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.fuzz.generate import generate
from tests.fuzz.judge import AGREED, UNDECIDED, judge
from tests.fuzz.lowering import ours

PROGRAMS = int(os.environ.get("FUZZ_PROGRAMS", "8"))
AT_ONCE = 8


@pytest.mark.parametrize("first", range(0, PROGRAMS, AT_ONCE))
@pytest.mark.parametrize(("passes", "seed", "changes"), [("ours", 30000, 1), ("stock", 40000, 0)])
def test_all_three_agree(first: int, passes: str, seed: int, changes: int, tmp_path: Path) -> None:
    seeds = range(seed + first, seed + first + AT_ONCE)
    programs = [generate(each, ours(passes)) for each in seeds]
    outcomes = judge(programs, tmp_path, passes, changes)
    wrong = [each for each in outcomes if each.kind not in (*AGREED, *UNDECIDED)]
    assert [(each.program.name, each.kind, each.detail) for each in wrong] == []
    assert sum(each.kind in AGREED for each in outcomes) > len(programs) // 2
