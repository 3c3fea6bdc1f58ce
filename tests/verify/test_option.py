"""``tl.ascend_sched.verify``: what a verdict does to a lowering."""

from __future__ import annotations

import warnings

import pytest
import tilelang.ascend.language as T

import tilelang_ascend_sched as sched
from tests.kernels.small import SMALL

VERIFY = "tl.ascend_sched.verify"
BY_HAND = {"tl.enable_auto_schedule": False}


@T.prim_func
def forgets_the_way_back(X: T.Tensor((8, 256), "float32"), Y: T.Tensor((8, 256), "float32")):
    with T.Kernel(1), T.Vector():
        x = T.alloc_shared((256,), "float32")
        for i in T.serial(8):
            T.copy(X[i, 0], x)
            T.ascend_set_flag("MTE2_MTE3", 0)
            T.ascend_wait_flag("MTE2_MTE3", 0)
            T.copy(x, Y[i, 0])


def verdicts(lowered: sched.Lowered) -> list[str]:
    assert lowered.report is not None
    return [note.data["verdict"] for note in lowered.report.notes if note.source == "verify"]


def test_checked_by_default():
    lowered = sched.lower(SMALL["copy"].build())
    assert verdicts(lowered) == ["proven"]
    (note,) = (note for note in lowered.report.notes if note.source == "verify")
    assert note.data["assumptions"]
    assert note.data["seconds"] >= 0


def test_off():
    assert verdicts(sched.lower(SMALL["copy"].build(), pass_configs={VERIFY: "off"})) == []


def test_refused():
    with pytest.raises(sched.VerifyError, match=r"race in UB bytes 0 to 1024"):
        sched.lower(forgets_the_way_back, pass_configs={VERIFY: "refuse", **BY_HAND})


@pytest.mark.parametrize("value", ["auto", "report"])
def test_reported(value):
    """Synchronization by hand is the user's: no error unless asked for."""
    with pytest.warns(sched.ScheduleWarning, match="synchronization wrong"):
        lowered = sched.lower(forgets_the_way_back, pass_configs={VERIFY: value, **BY_HAND})
    assert verdicts(lowered) == ["refused"]


def test_strict_makes_it_an_error():
    configs = {VERIFY: "report", "tl.ascend_sched.strict": True, **BY_HAND}
    with pytest.raises(sched.ScheduleError, match="synchronization wrong"):
        sched.lower(forgets_the_way_back, pass_configs=configs)


def test_bad_value():
    with pytest.raises(ValueError, match="allowed are auto, off, report, refuse"):
        sched.lower(SMALL["copy"].build(), pass_configs={VERIFY: "maybe"})


def test_hint_is_an_assumption():
    @T.prim_func
    def permuted(
        X: T.Tensor((8, 64), "float32"),
        Order: T.Tensor((8,), "int32"),
        Y: T.Tensor((8, 64), "float32"),
    ):
        with T.Kernel(1):
            x = T.alloc_shared((64,), "float32")
            for i in T.Pipelined(8, num_stages=2):
                row = Order[i]
                T.assume_no_conflict(Y[row, 0:64])
                T.copy(X[i, 0:64], x)
                T.copy(x, Y[row, 0:64])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sched.ScheduleWarning)
        lowered = sched.lower(permuted)
    (note,) = (note for note in lowered.report.notes if note.source == "verify")
    assert note.data["verdict"] == "proven"
    assert any(
        "assume_no_conflict(Y[row, 0:64]) at test_option.py:" in text
        for text in note.data["assumptions"]
    )
