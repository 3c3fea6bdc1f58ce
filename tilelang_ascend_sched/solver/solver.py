"""From a problem to a checked answer."""

from __future__ import annotations

from .answer import ScheduleAnswer, Verdict, Work
from .bounds import ii_bounds, impossible_cycle
from .checker import verify
from .heuristic import fill_versions, search
from .model import Model
from .problem import ScheduleProblem


def solve(
    problem: ScheduleProblem,
    *,
    objective: str = "time",
    engine: str = "auto",
    budget: float = 1.0,
    seed: int = 0,
) -> ScheduleAnswer:
    model = Model(problem)
    if impossible_cycle(model):
        return ScheduleAnswer(Verdict.INFEASIBLE, objective, reasons=("cycle",))
    bounds = ii_bounds(model) if not model.region else []
    lower = max((b.value for b in bounds), default=0)
    found = search(model, model.fixed_ii or lower, 20000)
    best = found.best
    if best is None:
        return ScheduleAnswer(Verdict.OUT_OF_BUDGET, objective)
    ii = None if model.region else best.ii
    verify(problem, best.starts, ii, best.versions)
    value = best.depth if model.region else best.ii
    verdict = Verdict.OPTIMAL if value == lower else Verdict.FEASIBLE
    return ScheduleAnswer(
        verdict,
        "makespan" if model.region else "ii",
        best.starts,
        best.versions,
        ii,
        best.depth,
        False,
        best.bytes,
        value,
        lower,
        tuple(bounds),
        (),
        "heuristic",
        Work(found.spent),
    )


def granted_versions(problem: ScheduleProblem, answer: ScheduleAnswer) -> list[int]:
    """The answer's version counts, raised in buffer order to what capacity and policy allow."""
    return list(fill_versions(Model(problem), answer.versions))
