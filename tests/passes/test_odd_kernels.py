"""Odd code in front of each early pass of ours, alone among TileLang's, run and checked."""

from __future__ import annotations

import pytest

from benchmarks.pass_matrix import BAD, CHAINS, row
from tests.passes.odd_kernels import ODD

EARLY = (
    "none",
    "NormalizeControlFlowForSchedule",
    "NormalizeConflictHints",
    "MaterializeScheduleUnits",
    "EstimateLatency",
    "all",
)


@pytest.mark.parametrize("name", ODD)
def test_odd_code_runs_right_or_is_refused_by_all(name: str) -> None:
    assert set(EARLY) <= set(CHAINS)
    outcomes = row(ODD[name], {}, EARLY)
    bad = {chain: o.details for chain, o in outcomes.items() if o.verdict == BAD}
    assert not bad
