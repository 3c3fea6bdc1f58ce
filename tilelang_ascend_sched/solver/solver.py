"""From a problem to a checked answer."""

from __future__ import annotations

from .answer import Bound, ScheduleAnswer, Verdict, Work
from .bounds import depth_bound, ii_bounds, impossible_cycle
from .branch import BranchAndBound
from .checker import verify
from .engine import Status
from .heuristic import fill_versions, search
from .ii_search import least_ii
from .model import Model
from .polish import keep_program_order, save_bytes
from .problem import ScheduleProblem
from .reasons import cycle_reasons, overdrawn_reasons, smallest_reasons
from .run import ENGINES, Run, exact_engines
from .time_search import least_depth, least_time

PLACEMENTS = 20_000
OBJECTIVES = ("time", "ii")
MAX_BUDGET = 1_000_000.0  # z3 counts its work in 32 bits, and nobody waits that long
MAX_SEED = 2**31 - 1  # the widest CP-SAT takes


def solve(
    problem: ScheduleProblem,
    *,
    objective: str = "time",
    engine: str = "auto",
    budget: float = 1.0,
    seed: int = 0,
) -> ScheduleAnswer:
    """The best schedule of a problem, checked, with what is proven about it.

    ``objective`` "time" minimises (trips - 1) * II + depth, or II and then depth if the trip count
    is unknown; "ii" minimises II alone. A region's makespan is minimised either way.
    ``engine`` is one of ENGINES; "auto" asks the exact ones only where the heuristic is not proven
    optimal. ``budget`` (above 0, at most MAX_BUDGET) scales the solver work allowed; nothing
    depends on the clock. ``seed`` (0 to MAX_SEED) is that of the exact engines.
    Raises ValueError for an unknown objective or engine and figures out of range.
    """
    if objective not in OBJECTIVES:
        raise ValueError(f"objective must be one of {OBJECTIVES}, got {objective!r}")
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {ENGINES}, got {engine!r}")
    if not 0 < budget <= MAX_BUDGET:
        raise ValueError(f"budget must be above 0 and at most {MAX_BUDGET:.0f}, got {budget!r}")
    if not 0 <= seed <= MAX_SEED:
        raise ValueError(f"seed must be from 0 to {MAX_SEED}, got {seed!r}")
    model = Model(problem)
    name = "makespan" if model.region else "ii"
    reasons = _contradiction(model)
    if reasons:
        return ScheduleAnswer(Verdict.INFEASIBLE, name, reasons=reasons)
    trips = None if model.region or objective == "ii" else problem.trip_count
    run = Run(model, exact_engines(engine, seed), budget)
    if not model.region:
        run.bounds = ii_bounds(model)
        run.lower_ii = max(bound.value for bound in run.bounds)
    found = search(model, run.lower_ii, max(model.n, int(PLACEMENTS * budget)))
    run.work += Work(placements=found.spent)
    if found.best is not None:
        run.offer(found.best, "heuristic")
    if model.region:
        return _finish_region(run)
    least_ii(run)
    if run.best is None:
        return _no_schedule(run, name)
    return _finish_loop(run, objective, trips)


def granted_versions(problem: ScheduleProblem, answer: ScheduleAnswer) -> list[int]:
    """The answer's version counts, raised in buffer order to what capacity and policy allow."""
    return list(fill_versions(Model(problem), answer.versions))


def _contradiction(model: Model) -> tuple[str, ...]:
    reasons = overdrawn_reasons(model.problem)
    if reasons:
        return reasons
    cycle = impossible_cycle(model)
    return cycle_reasons(model, cycle) if cycle is not None else ()


def _finish_region(run: Run) -> ScheduleAnswer:
    bound = depth_bound(run.model, run.model.fixed_ii)
    run.bounds = [bound]
    if run.best is None:
        run.ask(run.model.fixed_ii)
    if run.best is None:
        return _no_schedule(run, "makespan")
    lower = least_depth(run, share=1.0)
    if lower > bound.value:
        run.bounds.append(
            Bound(lower, "refuted", f"no schedule is shorter than {lower}", figure="depth")
        )
    keep_program_order(run)
    return _answer(run, "makespan", run.best.depth, lower)


def _finish_loop(run: Run, objective: str, trips: int | None) -> ScheduleAnswer:
    if trips is None:
        if objective == "time":
            least_depth(run, engines=1)
            save_bytes(run)
            keep_program_order(run)
        return _answer(run, "ii", run.best.ii, run.lower_ii)
    lower, floor = least_time(run, trips - 1), depth_bound(run.model, None)
    run.bounds.append(floor)
    if lower > (trips - 1) * run.lower_ii + floor.value:
        reason = f"no II and depth give a time below {lower}"
        run.bounds.append(Bound(lower, "refuted", reason, figure="time"))
    value = run.best.time(trips - 1)
    shallowest = depth_bound(run.model, run.best.ii).value
    run.depth_proven = value == lower or run.best.depth == shallowest
    save_bytes(run)
    keep_program_order(run)
    return _answer(run, "time", value, lower)


def _answer(run: Run, objective: str, value: int, lower: int) -> ScheduleAnswer:
    best, model = run.best, run.model
    ii = None if model.region else best.ii
    verify(model.problem, best.starts, ii, best.versions)
    return ScheduleAnswer(
        verdict=Verdict.OPTIMAL if value <= lower else Verdict.FEASIBLE,
        objective=objective,
        starts=best.starts,
        versions=best.versions,
        ii=ii,
        depth=best.depth,
        depth_proven=run.depth_proven,
        bytes=best.bytes,
        value=value,
        lower_bound=min(lower, value),
        bounds=tuple(run.bounds),
        engine=run.best_by,
        work=run.work,
    )


def _no_schedule(run: Run, objective: str) -> ScheduleAnswer:
    """Nothing was found: proven impossible with its reasons, or out of budget."""
    problem = run.model.problem
    if not run.model.monotone and not run.model.region:
        problem = _one_iteration(problem)
    if _refuted(problem):
        reasons = smallest_reasons(problem, _refuted)
        return ScheduleAnswer(Verdict.INFEASIBLE, objective, reasons=reasons, work=run.work)
    bounds = tuple(run.bounds)
    lower = run.lower_ii if objective == "ii" else 0
    return ScheduleAnswer(
        Verdict.OUT_OF_BUDGET, objective, lower_bound=lower, bounds=bounds, work=run.work
    )


def _one_iteration(problem: ScheduleProblem) -> ScheduleProblem:
    """What one iteration has to keep at every II; with negative latencies no single II speaks
    for all others, but what is impossible here is impossible in any loop.
    """
    edges = tuple(e for e in problem.edges if e.distance == 0 and e.buffer is None)
    return ScheduleProblem(
        problem.tasks, edges, problem.resources, problem.exclusions, kind="region"
    )


def _refuted(problem: ScheduleProblem) -> bool:
    """Whether no II works: with an II this long, what is still impossible always is.

    A region has but one. A loop must not have negative latencies.
    """
    model = Model(problem)
    if impossible_cycle(model) is not None:
        return True
    ii = model.fixed_ii or 2 * model.serial
    engine = BranchAndBound()
    return engine.find(model, ii, depth_at_most=None, down_to=None, effort=0.5).status is (
        Status.REFUTED
    )
