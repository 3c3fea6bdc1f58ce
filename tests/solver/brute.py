"""Tries every schedule: slow, and right because it is so plain."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from tilelang_ascend_sched.solver import ScheduleProblem, violations


def depth(problem: ScheduleProblem, starts: tuple[int, ...]) -> int:
    ends = (s + task.latency for s, task in zip(starts, problem.tasks, strict=True))
    return max(ends) - min(starts)


def schedules(problem: ScheduleProblem, ii: int, span: int) -> Iterator[tuple[int, ...]]:
    """Every right schedule at this II with starts below ``span`` (versions chosen freely)."""
    counts = range(1, problem.policy.max_versions + 1)
    versions = list(itertools.product(counts, repeat=len(problem.buffers)))
    for starts in itertools.product(range(span), repeat=len(problem.tasks)):
        if any(not violations(problem, starts, ii, v) for v in versions):
            yield starts


def least_ii(problem: ScheduleProblem, most: int, stages: int) -> tuple[int, int] | None:
    """(II, least depth at it) of the best schedule with II <= most, None if there is none."""
    for ii in range(max(t.interval for t in problem.tasks), most + 1):
        found = [depth(problem, s) for s in schedules(problem, ii, ii * stages)]
        if found:
            return ii, min(found)
    return None


def least_makespan(problem: ScheduleProblem, span: int) -> int | None:
    found = [
        depth(problem, starts)
        for starts in itertools.product(range(span), repeat=len(problem.tasks))
        if not violations(problem, starts, None, ())
    ]
    return min(found, default=None)
