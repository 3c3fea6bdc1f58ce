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
        names = region.tasks
        if problem.manual:  # stages that cannot be are refused by the names of their tasks
            names = tuple(map("".join, zip(names, region.places, strict=True)))
        tasks = tuple(
            replace(task, name=name) for task, name in zip(problem.tasks, names, strict=True)
        )
        name = f"{lowering.report.kernel}: {region.name}"
        problem = replace(
            problem,
            name=name,
            tasks=tasks,
            memory_groups=lowering.memory.limit(name, problem),
        )
        if region.trips:
            problem = problem.with_trip_count(region.trips)
        options = ("engine", "objective", "budget", "seed")
        return problem, {name: getattr(lowering.options, name) for name in options}

    def observe(
        kind: str, problem: ScheduleProblem, answer: ScheduleAnswer, seconds: float
    ) -> None:
        assert region is not None
        loop = _loop_report(problem, region, answer, seconds)
        lowering.add_loop(loop)
        for note in _notes(loop, answer):
            lowering.note(note)

    return ffi.Client(prepare, observe)


def _loop_report(
    problem: ScheduleProblem, region: Region, answer: ScheduleAnswer, seconds: float
) -> LoopReport:
    figure = "ii" if problem.kind == "loop" else "depth"
    bounds = [bound for bound in answer.bounds if bound.figure == figure]
    binding = max(bounds, key=lambda bound: bound.value, default=None)
    return LoopReport(
        kind=problem.kind,
        name=region.name,
        trips=region.trips,
        tasks=list(region.tasks),
        starts=list(answer.starts),
        ii=answer.ii,
        ii_bound=binding.value if binding and problem.kind == "loop" else None,
        witness=binding.reason if binding else "",
        stages=_stages(problem, answer),
        objective=answer.objective,
        value=answer.value,
        lower_bound=answer.lower_bound,
        verdict=answer.verdict.value,
        engine=answer.engine,
        seconds=seconds,
    )


def _stages(problem: ScheduleProblem, answer: ScheduleAnswer) -> int:
    """Stages of the emitted loop: without an offset window its body stays one flat iteration."""
    if not answer.ii or not problem.policy.allow_offset:
        return 1
    return max(answer.starts) // answer.ii - min(answer.starts) // answer.ii + 1


def _notes(loop: LoopReport, answer: ScheduleAnswer) -> list[Note]:
    if answer.verdict is Verdict.OPTIMAL:
        return []
    where = f"loop {loop.name}" if loop.kind == "loop" else loop.name
    if answer.verdict is Verdict.FEASIBLE:
        measure = {"ii": "II", "time": "time of the whole loop", "makespan": "makespan"}
        what = (
            f"{measure[answer.objective]} of {answer.value} cycles is not proven optimal (proven "
            f"bound {answer.lower_bound}); raise tl.ascend_sched.budget to search longer"
        )
    elif answer.verdict is Verdict.OUT_OF_BUDGET:
        what = "no schedule found within the budget; raise tl.ascend_sched.budget"
    else:
        what = f"cannot be scheduled: {'; '.join(answer.reasons)}"
    data = {"loop": loop.name, "value": answer.value, "lower_bound": answer.lower_bound}
    return [Note("solver", "degraded", f"{where}: {what}", data)]
