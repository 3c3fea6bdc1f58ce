"""What the solver says: a schedule, how good it is, and what forces it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

FORMAT = "tilelang-ascend-sched/answer"
VERSION = 1


class Verdict(str, Enum):
    """How much is known about an answer."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    OUT_OF_BUDGET = "out_of_budget"


@dataclass(frozen=True)
class Bound:
    """A proven lower bound in cycles and what forces it.

    ``kind`` is one of: interval, resource, recurrence, capacity, critical_path, refuted.
    ``tasks`` is the clique or the cycle in order; ``buffers`` those whose versions are on it;
    ``versions`` the counts the proof grants them, or for capacity those any shorter II needs.
    ``figure`` is what is bounded: the initiation interval "ii", the "depth" of one iteration or
    region, or the "time" of the whole loop.
    """

    value: int
    kind: str
    reason: str
    tasks: tuple[int, ...] = ()
    buffers: tuple[int, ...] = ()
    versions: tuple[int, ...] = ()
    figure: str = "ii"


@dataclass(frozen=True)
class Work:
    """Solver work spent, in deterministic units."""

    placements: int = 0
    nodes: int = 0
    cpsat_time: float = 0.0
    z3_rlimit: int = 0

    def __add__(self, other: Work) -> Work:
        return Work(
            self.placements + other.placements,
            self.nodes + other.nodes,
            round(self.cpsat_time + other.cpsat_time, 6),
            self.z3_rlimit + other.z3_rlimit,
        )


@dataclass(frozen=True)
class ScheduleAnswer:
    """The schedule and its verdict.

    ``starts`` are cycles in the first iteration, ``ii`` the initiation interval (None for a
    region), ``depth`` the cycles from the first start to the last result of one iteration,
    ``versions`` the least counts this schedule needs, ``bytes`` what they occupy.
    ``objective`` names the figure ``value`` and ``lower_bound`` speak of: "ii", "time" (cycles of
    the whole loop) or "makespan". ``gap`` is value / lower_bound - 1.
    ``depth_proven`` says that no schedule with this ``ii`` is shallower.
    """

    verdict: Verdict
    objective: str
    starts: tuple[int, ...] = ()
    versions: tuple[int, ...] = ()
    ii: int | None = None
    depth: int | None = None
    depth_proven: bool = False
    bytes: int = 0
    value: int | None = None
    lower_bound: int = 0
    bounds: tuple[Bound, ...] = ()
    reasons: tuple[str, ...] = ()
    engine: str = ""
    work: Work = field(default_factory=Work)

    @property
    def solved(self) -> bool:
        """Whether there is a schedule."""
        return self.verdict in (Verdict.OPTIMAL, Verdict.FEASIBLE)

    @property
    def gap(self) -> float | None:
        """How far the value may be above the best there is: value / lower_bound - 1."""
        if self.value is None:
            return None
        return self.value / self.lower_bound - 1 if self.lower_bound else 0.0

    @property
    def binding(self) -> Bound | None:
        """The bound that is highest, the first of them if several are."""
        return max(self.bounds, key=lambda bound: bound.value, default=None)

    def loop_time(self, trips: int) -> int:
        """Cycles of the whole loop: (trips - 1) * II + depth."""
        assert self.depth is not None
        return (trips - 1) * (self.ii or 0) + self.depth

    def to_dict(self) -> dict[str, Any]:
        """Plain data with the format and its version."""
        data = asdict(self)
        data["verdict"] = self.verdict.value
        return {"format": FORMAT, "version": VERSION, **data, "gap": self.gap}

    def to_json(self, *, indent: int | None = None) -> str:
        """The answer as JSON text."""
        return json.dumps(self.to_dict(), indent=indent)
