"""Judges the analysis by execution.

``python -m tests.analysis.oracle 2000`` tries that many programs, and tells how many edges no
execution needed.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field

from hypothesis import HealthCheck, given, settings

from tests.analysis.programs import SIZES, Execution, Program, programs
from tests.passes.tir import ours
from tilelang_ascend_sched.deps import Dependences, dependences_of

Pair = tuple[int, int, int]
"""Number of a body, and of two tasks."""


@dataclass
class Score:
    """Over all programs: edges that the analysis gave, and those that no execution needed."""

    programs: int = 0
    edges: int = 0
    needless: int = 0
    kinds: Counter[str] = field(default_factory=Counter)


def analysed(program: Program) -> Dependences:
    (kernel,) = dependences_of(ours("MaterializeScheduleUnits")(program.function()))
    return kernel


def needed(program: Program) -> dict[Pair, int]:
    """For each pair that really met: the least number of iterations apart."""
    least: dict[Pair, int] = {}
    for n in SIZES:
        executions = program.executions(n)
        for i, first in enumerate(executions):
            for second in executions[i + 1 :]:
                if not _conflict(first, second):
                    continue
                body, distance = _apart(first, second)
                pair = (body, first.task, second.task)
                least[pair] = min(distance, least.get(pair, distance))
    return least


def given_edges(kernel: Dependences) -> dict[Pair, int]:
    """The least distance of the edges of each pair, tasks without the bounds of loops."""
    numbers = {}
    for index, task in enumerate(kernel.tasks):
        if not task.loop:
            numbers[index] = len(numbers)
    least: dict[Pair, int] = {}
    for body, described in enumerate(kernel.bodies):
        for edge in described.edges:
            if edge.source not in numbers or edge.target not in numbers:
                continue
            pair = (body, numbers[edge.source], numbers[edge.target])
            distance = int(edge.distance)
            least[pair] = min(distance, least.get(pair, distance))
    return least


def missed(program: Program, score: Score | None = None) -> list[str]:
    """Conflicts that no edge covers."""
    needs, edges = needed(program), given_edges(analysed(program))
    if score is not None:
        score.programs += 1
        score.edges += len(edges)
        score.needless += sum(pair not in needs for pair in edges)
    return [
        f"in body {body}, task {second} meets task {first} after {distance} iterations, edge: "
        f"{edges.get((body, first, second))}"
        for (body, first, second), distance in needs.items()
        if edges.get((body, first, second), distance + 1) > distance
    ]


def _conflict(first: Execution, second: Execution) -> bool:
    return not (
        first.writes.isdisjoint(second.writes)
        and first.writes.isdisjoint(second.reads)
        and first.reads.isdisjoint(second.writes)
    )


def _apart(first: Execution, second: Execution) -> tuple[int, int]:
    """The outermost body in which the two are in different iterations or units, and the former."""
    for one, other in zip(first.path, second.path, strict=False):
        if one != other:
            return one[0], other[2] - one[2]
    raise AssertionError("one execution of one task")


def main(count: int) -> None:
    score = Score()

    @settings(
        max_examples=count, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(program=programs)
    def judge(program: Program) -> None:
        assert missed(program, score) == [], program

    judge()
    share = score.needless / max(score.edges, 1)
    print(
        f"{score.programs} programs, {score.edges} edges, none missing; "
        f"{score.needless} ({share:.1%}) that no execution needed"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]))
