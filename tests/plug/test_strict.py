"""Nothing degrades in silence: a warning once per kernel, or an error under ``strict``."""

from __future__ import annotations

import warnings
from dataclasses import replace

import pytest
from tilelang.ascend import transform as stock_transform

import tilelang_ascend_sched as plugin
from tests.kernels.small import SMALL
from tests.plug.kernels import scale
from tilelang_ascend_sched.solver import ffi
from tilelang_ascend_sched.solver.answer import Verdict

STRICT = {"tl.ascend_sched.strict": True}


def test_spilled_flags_warn_once_and_are_in_the_report():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        report = plugin.lower(SMALL["many_flags"].build()).report
    ours = [str(w.message) for w in caught if w.category is plugin.ScheduleWarning]
    assert len(ours) == 1 and "many_flags" in ours[0] and "RewriteFlagToBuf" in ours[0]
    assert all(note.message in ours[0] for note in report.degraded)


def test_spilled_flags_are_an_error_under_strict():
    with pytest.raises(plugin.ScheduleError, match=r"kernel many_flags: RewriteFlagToBuf: .*locks"):
        plugin.lower(SMALL["many_flags"].build(), pass_configs=STRICT)


def test_good_kernel_is_silent_and_strict():
    with warnings.catch_warnings():
        warnings.simplefilter("error", plugin.ScheduleWarning)
        assert not plugin.lower(scale(), pass_configs=STRICT).report.degraded


@pytest.fixture
def unproven(monkeypatch):
    """A solver that cannot prove what it found."""
    solve = ffi.solve

    def unsure(problem, **options):
        answer = solve(problem, **options)
        return replace(answer, verdict=Verdict.FEASIBLE, lower_bound=answer.lower_bound - 1)

    monkeypatch.setattr(ffi, "solve", unsure)


def test_unproven_schedule_warns_with_loop_and_bound(unproven):
    with pytest.warns(plugin.ScheduleWarning, match=r"kernel scale: solver: loop i: .*budget"):
        loop = plugin.lower(scale()).report.loops[0]
    assert loop.verdict == "feasible" and loop.value > loop.lower_bound


def test_unproven_schedule_stops_a_strict_lowering_after_the_pass(unproven, monkeypatch):
    later: list[str] = []
    stock = stock_transform.AssignCore

    def spy():
        constructed = stock()
        later.append("AssignCore")
        return constructed

    monkeypatch.setattr(stock_transform, "AssignCore", spy)
    with pytest.raises(plugin.ScheduleError, match=r"loop i: .* not proven optimal"):
        plugin.lower(scale(), pass_configs=STRICT)
    assert not later
