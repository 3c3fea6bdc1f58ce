"""A small cover of ``python -m benchmarks.pass_matrix``, and that it tells what is wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks import pass_matrix
from benchmarks.pass_matrix import BAD, CHAINS, REFUSED, RIGHT, SAME, row
from examples import WORKLOADS, Workload
from tests.kernels.small import SMALL
from tilelang_ascend_sched.emulator import launch


@pytest.mark.parametrize("name", ["guarded_loop", "while_copy", "permuted_rows", "per_core_task"])
def test_each_pass_alone_gives_a_kernel_that_runs_right(name: str) -> None:
    verdicts = {chain: outcome.verdict for chain, outcome in row(SMALL[name], {}, CHAINS).items()}
    assert verdicts.pop("none") == RIGHT
    assert set(verdicts.values()) <= {SAME, RIGHT}


def wrong(workload: Workload) -> Workload:
    """The same kernel, of which other results are expected."""

    def reference(**inputs: np.ndarray) -> dict[str, np.ndarray]:
        return {name: array + 1 for name, array in workload.reference(**inputs).items()}

    return replace(workload, reference=reference)


def test_wrong_results_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WORKLOADS, "streams_1", wrong(WORKLOADS["streams_1"]))
    done = CliRunner().invoke(pass_matrix.matrix, ["streams_1", "--chain", "all"])
    assert done.exit_code == 1
    assert "values differ" in done.output


def test_a_race_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_flags(function: object) -> launch.Lowered:
        lowered = stock(function)
        kept = [line for line in lowered.text.splitlines() if "asc_sync" not in line]
        return replace(lowered, text="\n".join(kept))

    stock = launch.lower
    monkeypatch.setattr(launch, "lower", without_flags)
    outcomes = row(SMALL["copy"], {}, ["none", "all"])
    assert [outcome.verdict for outcome in outcomes.values()] == [BAD, BAD]
    assert any("race" in detail for detail in outcomes["all"].details)


def test_what_only_ours_refuse_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    lower = pass_matrix.lower

    def refusing(workload: Workload, sizes: dict[str, int], passes: str) -> object:
        if passes != CHAINS["none"]:
            raise ValueError("no")
        return lower(workload, sizes, passes)

    monkeypatch.setattr(pass_matrix, "lower", refusing)
    outcomes = row(SMALL["copy"], {}, ["none", "all"])
    assert [outcome.verdict for outcome in outcomes.values()] == [RIGHT, BAD]
    monkeypatch.setattr(pass_matrix, "lower", lambda *_: refusing(*_[:2], "ours"))
    outcomes = row(SMALL["copy"], {}, ["none", "all"])
    assert [outcome.verdict for outcome in outcomes.values()] == [REFUSED, REFUSED]
