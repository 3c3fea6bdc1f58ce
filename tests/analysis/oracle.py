"""Judges the analysis by execution.

``python -m tests.analysis.oracle 2000`` tries that many programs, and tells how many edges no
execution needed.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.analysis.execution import Execution, executions
from tests.analysis.programs import Program
from tests.analysis.random_programs import programs
from tests.passes.tir import ours
from tilelang_ascend_sched.deps import VERSIONS, Dependences, Edge, dependences_of

SIZES = (0, 1, 3)
"""Values of the symbolic size at which programs are executed."""
ANY = (1, 2, 3)
"""Numbers of versions that a program is tried with, if it does not ask for one."""

Pair = tuple[int, int, int]
"""Number of a body, and of two leaves."""


@dataclass
class Score:
    """Over all programs: edges between leaves that were executed, and those that none needed."""

    programs: int = 0
    edges: int = 0
    needless: int = 0
    kinds: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        share = self.needless / max(self.edges, 1)
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(self.kinds.items()))
        return (
            f"{self.programs} programs, {self.edges} edges ({kinds}), none missing; "
            f"{self.needless} ({share:.1%}) that no execution needed"
        )


def analysed(program: Program) -> Dependences:
    (kernel,) = dependences_of(ours("MaterializeScheduleUnits")(program.function()))
    return kernel


def needed(program: Program, versions: int, executed: set[int]) -> dict[Pair, int]:
    """For each pair that really met: the least number of iterations apart.

    Adds to ``executed`` the leaves that were.
    """
    least: dict[Pair, int] = {}
    for n in SIZES:
        found = executions(program, n, versions)
        executed |= {each.leaf for each in found}
        for i, first in enumerate(found):
            for second in found[i + 1 :]:
                if not _conflict(first, second):
                    continue
                apart = _apart(first, second)
                if apart is None:
                    continue
                body, distance = apart
                pair = (body, first.leaf, second.leaf)
                least[pair] = min(distance, least.get(pair, distance))
    return least


def given_edges(kernel: Dependences, versions: int) -> dict[Pair, int]:
    """The least distance of the edges of each pair."""
    least: dict[Pair, int] = {}
    for body, described in enumerate(kernel.bodies):
        for edge in described.edges:
            for source, target in _ends(edge):
                pair = (body, source, target)
                distance = versions if edge.distance == VERSIONS else int(edge.distance)
                least[pair] = min(distance, least.get(pair, distance))
    return least


def _ends(edge: Edge) -> list[tuple[int, int]]:
    """Those that exclude each other do so in both directions."""
    ends = (edge.source, edge.target)
    return [ends, ends[::-1]] if edge.kind == "exclusion" else [ends]


def missed(program: Program, score: Score | None = None) -> list[str]:
    """Conflicts that no edge covers."""
    kernel = analysed(program)
    found: list[str] = []
    met: set[Pair] = set()
    executed: set[int] = set()
    for versions in ANY if program.versions is None else (program.versions,):
        needs, edges = needed(program, versions, executed), given_edges(kernel, versions)
        met |= set(needs)
        found += [
            f"in body {body}, leaf {second} meets leaf {first} after {distance} iterations, edge: "
            f"{edges.get((body, first, second))}; {versions} versions"
            for (body, first, second), distance in needs.items()
            if edges.get((body, first, second), distance + 1) > distance
        ]
        if program.owners is None:
            break
    if score is not None:
        _count(kernel, met, executed, score)
    return found


def _count(kernel: Dependences, met: set[Pair], executed: set[int], score: Score) -> None:
    pairs: dict[Pair, set[str]] = {}
    for body, described in enumerate(kernel.bodies):
        for edge in described.edges:
            if {edge.source, edge.target} <= executed:
                pairs.setdefault((body, edge.source, edge.target), set()).add(edge.kind)
    score.programs += 1
    score.edges += len(pairs)
    for (body, source, target), kinds in pairs.items():
        score.kinds.update(kinds)
        excluded = "exclusion" in kinds and (body, target, source) in met
        score.needless += (body, source, target) not in met and not excluded


def _conflict(first: Execution, second: Execution) -> bool:
    return not (
        first.writes.isdisjoint(second.writes)
        and first.writes.isdisjoint(second.reads)
        and first.reads.isdisjoint(second.writes)
    )


def _apart(first: Execution, second: Execution) -> tuple[int, int] | None:
    """The outermost body in which the two are in different iterations or units, and how many apart.

    Nothing for a loop's bounds and what it holds: those come first by themselves.
    """
    for one, other in zip(first.path, second.path, strict=False):
        if one != other:
            return one[0], other[2] - one[2]
    return None


def main(count: int, first: int = 0) -> None:
    score = Score()

    # A program that fails is told as it is: to shrink one takes minutes.
    @seed(first)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(program=programs)
    def judge(program: Program) -> None:
        assert missed(program, score) == [], program

    judge()
    print(score)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
