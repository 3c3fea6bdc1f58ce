"""The solver as AutoSchedule meets it: told what the lowering knows, heard by its report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..report import LoopReport, Note
from ..report.loops import Region
from ..solver import ffi
from ..solver.answer import ScheduleAnswer, Verdict
from ..solver.problem import ScheduleProblem
from . import session

_NAMES = ("z3_schedule_python", "z3_schedule_loop_python")


def functions() -> dict[str, Callable[..., Any]]:
    """The functions that stand in for those of that name in ``z3_scheduler``."""
    return {name: _for_session(getattr(ffi, name)) for name in _NAMES}


def _for_session(schedule: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        lowering = session.current()
        if lowering is None:
            return schedule(*args, **kwargs)
        with ffi.working_for(_client(lowering)):
            return schedule(*args, **kwargs)

    return call


def _client(lowering: session.Session) -> ffi.Client:
    region: Region | None = None

    def prepare(kind: str, problem: ScheduleProblem) -> tuple[ScheduleProblem, dict[str, Any]]:
        nonlocal region
        region = lowering.next_region(kind, len(problem.tasks))
        tasks = tuple(
            replace(task, name=name) for task, name in zip(problem.tasks, region.tasks, strict=True)
        )
        name = f"{lowering.report.kernel}: {region.name}"
        problem = replace(problem, name=name, tasks=tasks)
        if region.trips:
            problem = problem.with_trip_count(region.trips)
        options = lowering.options
        chosen: dict[str, Any] = {
            "engine": options.engine,
            "objective": options.objective,
            "seed": options.seed,
        }
        if options.budget:
            chosen["budget"] = options.budget
        return problem, chosen

    def observe(
        kind: str, problem: ScheduleProblem, answer: ScheduleAnswer, seconds: float
    ) -> None:
        assert region is not None
        loop = _loop_report(kind, region, answer, seconds)
        lowering.add_loop(loop)
        for note in _notes(loop, answer):
            lowering.note(note)

    return ffi.Client(prepare, observe)


def _loop_report(kind: str, region: Region, answer: ScheduleAnswer, seconds: float) -> LoopReport:
    cycles = answer.ii if kind == "loop" else answer.depth
    binding = answer.binding
    return LoopReport(
        kind=kind,
        name=region.name,
        trips=region.trips,
        tasks=list(region.tasks),
        starts=list(answer.starts),
        ii=cycles or 0,
        lower_bound=binding.value if binding else 0,
        witness=binding.reason if binding else "",
        verdict=answer.verdict.value,
        engine=answer.engine,
        seconds=seconds,
    )


def _notes(loop: LoopReport, answer: ScheduleAnswer) -> list[Note]:
    where = f"loop {loop.name}" if loop.kind == "loop" else "the straight-line region"
    data = {"loop": loop.name, "ii": loop.ii, "lower_bound": loop.lower_bound}
    if answer.verdict is Verdict.FEASIBLE:
        message = (
            f"{where}: {loop.ii} cycles, not proven optimal (proven bound {loop.lower_bound}); "
            "raise tl.ascend_sched.budget to search longer"
        )
        return [Note("solver", "degraded", message, data)]
    if answer.verdict is Verdict.OUT_OF_BUDGET:
        message = f"{where}: no schedule found within the budget; raise tl.ascend_sched.budget"
        return [Note("solver", "degraded", message, data)]
    if answer.verdict is Verdict.INFEASIBLE:
        message = f"{where}: cannot be scheduled: {'; '.join(answer.reasons)}"
        return [Note("solver", "degraded", message, data)]
    return []
