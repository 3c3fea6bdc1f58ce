"""The command ``passes`` shows the chain that a lowering with the same option has."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from tests.plug.kernels import scale
from tilelang_ascend_sched import lower
from tilelang_ascend_sched.cli import main
from tilelang_ascend_sched.pipeline import PASSES

NAMES = [info.name for info in PASSES]
HAVE = {info.name for info in PASSES if info.ours}

MIXTURES = {
    "ours": HAVE,
    "stock": set(),
    "stock,EstimateLatency=ours,MaterializeScheduleUnits=ours": {
        "EstimateLatency",
        "MaterializeScheduleUnits",
    },
    " RewriteFlagToBuf = stock , NormalizeConflictHints=stock,": HAVE
    - {"RewriteFlagToBuf", "NormalizeConflictHints"},
    "EstimateLatency=ours,stock,ours,RestoreWhileLoops=stock": HAVE - {"RestoreWhileLoops"},
}


def command(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(main, ["passes", *arguments])
    assert done.exit_code == code, done.output
    return done.output


@pytest.mark.parametrize("terms", MIXTURES)
def test_owners_are_those_of_a_lowering(terms: str) -> None:
    rows = json.loads(command("--owners", terms, "--json"))
    assert [row["pass"] for row in rows] == NAMES
    assert {row["pass"] for row in rows if row["owner"] == "ours"} == MIXTURES[terms]
    assert all(row["decides"] for row in rows)
    report = lower(scale(), pass_configs={"tl.ascend_sched.passes": terms}).report
    assert report is not None
    ran = {entry.name: entry.owner for entry in report.passes}
    assert ran == {row["pass"]: row["owner"] for row in rows}


def test_the_table_says_the_same() -> None:
    lines = command("--owners", "stock,EstimateLatency=ours").splitlines()
    owners = {name: next(line for line in lines if name in line) for name in NAMES}
    for name, line in owners.items():
        assert ("ours" if name == "EstimateLatency" else "stock") in line.split(name)[1].split()[1]


def test_a_misspelt_pass_is_refused_with_the_one_meant() -> None:
    told = command("--owners", "stock,EstimateLatancy=ours", code=2)
    assert "no pass 'EstimateLatancy'" in told and "did you mean 'EstimateLatency'?" in told
