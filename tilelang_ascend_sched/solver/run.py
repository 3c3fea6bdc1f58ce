"""One solve in progress: the best schedule, what is proven, and the effort left."""

from __future__ import annotations

from .answer import Bound, Work
from .branch import BranchAndBound
from .cpsat import CpSat
from .engine import Engine, Outcome, Status
from .model import Model
from .schedule import Schedule, make_schedule, settle
from .smt import Z3

ENGINES = ("auto", "heuristic", "branch", "cpsat", "z3")


def exact_engines(name: str, seed: int) -> list[Engine]:
    """The engines to ask in turn; the quickest to give up comes first."""
    return {
        "auto": [BranchAndBound(), CpSat(seed)],
        "heuristic": [],
        "branch": [BranchAndBound()],
        "cpsat": [CpSat(seed)],
        "z3": [Z3(seed)],
    }[name]


class Run:
    """Shared by the searches for II, depth and time."""

    def __init__(self, model: Model, engines: list[Engine], effort: float) -> None:
        self.model, self.engines = model, engines
        self.weight: int | None = None  # trips - 1 once the time counts, II first until then
        self.effort = effort  # of each engine, for the whole solve
        # The second engine is asked only where the first gave up: half as much is enough to see.
        self.left = {engine.name: effort / (1 + at) for at, engine in enumerate(engines)}
        self.best: Schedule | None = None
        self.best_by = ""
        self.former: list[tuple[Schedule, str]] = []  # what was best once
        self.bounds: list[Bound] = []
        self.lower_ii = model.shortest_ii
        self.depth_floor = 0  # cycles no iteration can be shorter than, at any II
        self.depth_proven = False
        self.work = Work()

    def offer(self, schedule: Schedule, engine: str) -> bool:
        """Takes the schedule if it is better than the best."""
        if self.best is not None and schedule.key(self.weight) >= self.best.key(self.weight):
            return False
        self.best, self.best_by = schedule, engine
        self.former.append((schedule, engine))
        return True

    def weigh(self, weight: int) -> None:
        """From now on weight * II + depth decides; what was best once gets another chance."""
        self.weight = weight
        for schedule, engine in self.former[:]:
            self.offer_starts(schedule.starts, schedule.ii, engine)

    def offer_starts(self, starts: tuple[int, ...], ii: int, engine: str) -> bool:
        """Offers these starts and the best that can be made of their choices."""
        plain = make_schedule(self.model, starts, ii)
        better = self.offer(plain, engine)
        versions = self.roomy_versions(plain.versions)
        tight = settle(
            self.model, plain.starts, ii, versions, lowest=self.lower_ii, weight=self.weight
        )
        return self.offer(tight, engine) or better

    def roomy_versions(self, needed: tuple[int, ...]) -> tuple[int, ...]:
        """All buffers at their most if that fits together, else the counts needed."""
        most = tuple(self.model.most)
        return most if self.model.overdrawn(most) is None else needed

    def ask(
        self,
        ii: int,
        *,
        depth_at_most: int | None = None,
        down_to: int | None = None,
        share: float = 1.0,
        engines: int | None = None,
    ) -> Outcome:
        """Asks the engines in turn until one knows; ``share`` is the part of the effort to risk.

        Schedules found are offered to the run.
        """
        reply = Outcome(Status.UNKNOWN)
        for engine in self.engines[:engines]:
            effort = min(self.left[engine.name], share * self.effort)
            if effort <= 0:
                continue
            reply = engine.find(
                self.model, ii, depth_at_most=depth_at_most, down_to=down_to, effort=effort
            )
            self.left[engine.name] -= reply.effort
            self.work += reply.work
            if reply.status is Status.FOUND:
                self.offer_starts(reply.starts, ii, engine.name)
                depth_at_most = self.model.depth(reply.starts) - 1
                if reply.proven or down_to is None:
                    return reply
            elif reply.status is Status.REFUTED:
                return reply
        return reply

    def raise_lower_ii(self, ii: int, reason: str) -> None:
        """Notes that no II below this one has a schedule."""
        if ii > self.lower_ii:
            self.lower_ii = ii
            self.bounds.append(Bound(ii, "refuted", reason))
