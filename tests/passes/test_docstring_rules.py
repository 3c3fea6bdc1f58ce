"""What the docstrings of ``tilelang.ascend.language`` say of scheduling knobs, rule by rule.

What is refused once the kernel is lowered stands in ``knob_kernels``; here is what is taken, and
what the language refuses while the kernel is built.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tilelang.ascend.language as T
import tvm

import tilelang_ascend_sched as sched
from benchmarks.pass_matrix import BAD, REFUSED, row
from tests.passes.docstring_kernels import KEPT, vector_of, versions, versions_workload

CHAINS = ("none", "MaterializeScheduleUnits", "EstimateLatency", "all")


def runs_right(workload: Any) -> None:
    outcomes = row(workload, {}, CHAINS)
    assert not [o.details for o in outcomes.values() if o.verdict in (BAD, REFUSED)]


@pytest.mark.parametrize("rule", KEPT)
def test_what_keeps_to_the_rules_runs_right(rule: str) -> None:
    runs_right(KEPT[rule])


def chosen(asked: Any) -> tuple[int, str]:
    """The versions of the buffer, and the kernel's text."""
    lowered = sched.lower(versions(asked))
    assert lowered.report is not None
    (buffer,) = lowered.report.buffers
    return buffer.versions, lowered.source


@pytest.mark.parametrize(
    ("asked", "count"),
    [(1, 1), (2, 2), (3, 3), ((1, "auto"), 1), ((2, "iteration"), 2), ((3, "counter"), 3)],
)
def test_a_fixed_count_is_kept(asked: Any, count: int) -> None:
    assert chosen(asked)[0] == count
    runs_right(versions_workload(asked))


@pytest.mark.parametrize("asked", [None, "auto", "iteration", "counter"])
def test_a_mode_leaves_the_count_to_the_scheduler(asked: Any) -> None:
    assert chosen(asked)[0] > 1
    runs_right(versions_workload(asked))


@pytest.mark.parametrize("asked", ["counter", (2, "counter"), (2, "auto")])
def test_a_counter_counts_the_iterations_that_load(asked: Any) -> None:
    """``auto`` takes one for a buffer that not every iteration loads."""
    assert "version_counter" in chosen(asked)[1]
    iteration = (2, "iteration") if isinstance(asked, tuple) else "iteration"
    assert "version_counter" not in chosen(iteration)[1]


def test_more_versions_than_the_memory_holds_are_refused() -> None:
    told = (
        "MaterializeScheduleUnits: T.annotate_buffer_versions asks for 1000 versions of `a`, each "
        "of 256 bytes, but UB has 253952 bytes: ask for 992 at most"
    )
    with pytest.raises(tvm.error.InternalError, match=told):
        sched.lower(versions(1000))


NUMBERS: dict[str, Callable[[], Any]] = {
    "no version": lambda: versions(0),
    "fewer": lambda: versions(-1),
    "half a version": lambda: versions(2.5),
    "no mode": lambda: versions((2,)),
    "three parts": lambda: versions((2, "auto", 1)),
    "no such mode": lambda: versions("fast"),
    "no such mode beside a count": lambda: versions((2, "fast")),
    "negative latency": lambda: T.Task(latency=-1),
    "latency of no number": lambda: T.Task(latency=True),
    "no interval": lambda: T.Task(ii=0),
    "interval of no number": lambda: T.Task(ii="1"),
    "latency below the interval": lambda: T.Task(latency=1, ii=2),
    "negative stage": lambda: T.Stage(-1),
    "stage of no number": lambda: T.Stage(True),
    "level below all": lambda: T.assume_conflict(None, level=-2),
    "cross of three": lambda: T.assume_no_conflict(None, cross=2),
    "group of two": lambda: T.assume_no_conflict(None, 1, group="pair"),
    "no memory of that name": lambda: T.annotate_unlimit_memory("shared.l2"),
    "threads of four dimensions": lambda: T.SimtVF(threads=[1, 1, 1, 1]),
    "no threads": lambda: T.SimtVF(threads=0),
}


@pytest.mark.parametrize("what", NUMBERS)
def test_the_language_refuses_what_means_nothing(what: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        NUMBERS[what]()


@pytest.mark.parametrize("count", [0, 3])
def test_a_vector_block_has_one_aiv_or_two(count: int) -> None:
    with pytest.raises(tvm.error.InternalError, match="must be 1 or 2"):
        vector_of(count)
