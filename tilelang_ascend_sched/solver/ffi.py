"""The solver as TileLang's AutoSchedule calls it; the only file here that reads TVM containers.

``schedule_region`` and ``schedule_loop`` answer the C++ pass, ``z3_schedule_python`` and
``z3_schedule_loop_python`` are the same for callers from Python, ``solve_json`` takes a whole
problem as text. A client of the calling context can complete each problem and is told
of every answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from . import debug
from .answer import ScheduleAnswer, Verdict
from .problem import ScheduleProblem
from .solver import granted_versions, solve
from .stock import loop_problem, region_problem


@dataclass(frozen=True)
class Client:
    """Whom the solver works for.

    ``prepare(kind, problem)`` returns the problem with whatever the caller knows beyond the rows
    (names, trip count) and the keyword arguments of ``solve``; ``observe(kind, problem, answer,
    seconds)`` is told of every answer.
    """

    prepare: Callable[[str, ScheduleProblem], tuple[ScheduleProblem, dict[str, Any]]]
    observe: Callable[[str, ScheduleProblem, ScheduleAnswer, float], None]


_client: ContextVar[Client | None] = ContextVar("solver_client", default=None)


class ScheduleError(RuntimeError, ValueError):
    """No schedule can be handed back: the message says whether none exists or none was found."""


@contextmanager
def working_for(client: Client) -> Iterator[None]:
    """Solves inside the block are for ``client``; other threads have clients of their own."""
    token = _client.set(client)
    try:
        yield
    finally:
        _client.reset(token)


def schedule_region(
    latencies: Any,
    iis: Any,
    resource_flags: Any,
    data_deps: Any,
    resource_deps: Any,
    owner_exclusion_deps: Any = None,
    pipe_order_deps: Any = None,
) -> list[int]:
    """Start of each task of a straight-line list, in cycles. Raises ScheduleError."""
    _expect_tasks("region", latencies)
    problem = region_problem(
        _ints(latencies),
        _ints(iis),
        _ints(resource_flags),
        _rows(data_deps),
        _rows(resource_deps),
        _rows(owner_exclusion_deps),
        _rows(pipe_order_deps),
    )
    return list(_answer("region", problem).starts)


def schedule_loop(
    num_stages: Any,
    latencies: Any,
    iis: Any,
    resource_flags: Any,
    data_deps: Any,
    resource_deps: Any,
    owner_exclusion_deps: Any,
    pipe_order_deps: Any,
    buffer_sizes: Any,
    memory_groups: Any,
    stage_order_deps: Any = None,
    enable_offset: Any = False,
    manual_stages: Any = None,
    manual_schedule: Any = False,
) -> tuple[list[int], list[int], int]:
    """Starts, buffer versions and initiation interval of a loop body. Raises ScheduleError."""
    return z3_schedule_loop_python(
        num_stages,
        latencies,
        iis,
        resource_flags,
        data_deps,
        resource_deps,
        owner_exclusion_deps,
        pipe_order_deps,
        buffer_sizes,
        memory_groups,
        stage_order_deps,
        enable_offset=enable_offset,
        manual_stages=manual_stages,
        manual_schedule=manual_schedule,
        seed=0,
    )


def z3_schedule_python(
    latencies: Any,
    iis: Any,
    resource_flags: Any,
    data_deps: Any,
    resource_deps: Any,
    owner_exclusion_deps: Any = None,
    pipe_order_deps: Any = None,
    verbose: bool = False,
) -> tuple[list[int], list[int]]:
    """Starts of a straight-line list and the task numbers in order of start, then number."""
    starts = schedule_region(
        latencies,
        iis,
        resource_flags,
        data_deps,
        resource_deps,
        owner_exclusion_deps,
        pipe_order_deps,
    )
    order = sorted(range(len(starts)), key=lambda task: (starts[task], task))
    if verbose:
        print(f"[solver] region of {len(starts)} tasks, starts {starts}")
    return starts, order


def z3_schedule_loop_python(
    num_stages: int,
    latencies: Any,
    iis: Any,
    resource_flags: Any,
    data_deps: Any,
    resource_deps: Any,
    owner_exclusion_deps: Any,
    pipe_order_deps: Any,
    buffer_sizes: Any,
    memory_groups: Any,
    stage_order_deps: Any = None,
    recalculate_buffer_versions: bool = True,
    enable_offset: bool = False,
    manual_stages: Any = None,
    manual_schedule: bool = False,
    seed: int | None = 42,
    verbose: bool = False,
) -> tuple[list[int], list[int], int]:
    """Starts, buffer versions and initiation interval of a loop body.

    ``recalculate_buffer_versions`` False returns the counts the solver could draw on instead of
    the least this schedule needs. ``verbose`` prints the result and writes ``debug/schedule_NNN``.
    Raises ScheduleError if there is no schedule or none was found.
    """
    _expect_tasks("loop", latencies)
    arguments = {
        "num_stages": int(num_stages),
        "latencies": _ints(latencies),
        "iis": _ints(iis),
        "resource_flags": _ints(resource_flags),
        "data_deps": _rows(data_deps),
        "resource_deps": _rows(resource_deps),
        "owner_exclusion_deps": _rows(owner_exclusion_deps),
        "pipe_order_deps": _rows(pipe_order_deps),
        "buffer_sizes": _ints(buffer_sizes),
        "memory_groups": _rows(memory_groups),
        "stage_order_deps": _rows(stage_order_deps),
        "enable_offset": bool(enable_offset),
        "manual_stages": None if manual_stages is None else _ints(manual_stages),
        "manual_schedule": bool(manual_schedule),
    }
    problem = loop_problem(**arguments)
    answer = _answer("loop", problem, seed=seed or 0)
    versions = list(answer.versions)
    if not recalculate_buffer_versions:
        versions = granted_versions(problem, answer)
    if verbose:
        folder = debug.write(problem, answer, {**arguments, "random_seed": seed})
        print(f"[solver] II {answer.ii} ({answer.verdict.value}), written to {folder}")
        print(debug.timeline(problem, answer), end="")
    return list(answer.starts), versions, int(answer.ii)


def solve_json(text: str) -> str:
    """Solves a problem given as JSON text and returns the answer as JSON, whatever the verdict."""
    problem = ScheduleProblem.from_json(str(text))
    return _solve(problem.kind, problem, 0).to_json()


def _answer(kind: str, problem: ScheduleProblem, seed: int = 0) -> ScheduleAnswer:
    answer = _solve(kind, problem, seed)
    if answer.verdict is Verdict.INFEASIBLE:
        reasons = "; ".join(answer.reasons)
        if problem.manual and any(problem.policy.manual_stages or ()):
            raise ScheduleError(
                f"the manual schedule cannot be scheduled: {reasons}; these contradict each other "
                "whatever the initiation interval: change one of the stages or limits named"
            )
        raise ScheduleError(f"this {kind} cannot be scheduled: {reasons}")
    if not answer.solved:
        raise ScheduleError(
            f"no schedule of this {kind} of {len(problem.tasks)} tasks was found within the "
            "solver's budget, and none was proven impossible"
        )
    return answer


def _solve(kind: str, problem: ScheduleProblem, seed: int) -> ScheduleAnswer:
    begin = time.perf_counter()
    client = _client.get()
    options: dict[str, Any] = {"seed": seed}
    if client is not None:
        problem, chosen = client.prepare(kind, problem)
        options |= chosen
    answer = solve(problem, **options)
    if client is not None:
        client.observe(kind, problem, answer, time.perf_counter() - begin)
    return answer


def _expect_tasks(kind: str, latencies: Any) -> None:
    """A RuntimeError for an empty list, as TileLang's own solver raises."""
    if not len(latencies):
        raise ScheduleError(f"this {kind} has no tasks: there is nothing to schedule")


def _ints(values: Iterable[Any] | None) -> list[int]:
    return [int(value) for value in values] if values is not None else []


def _rows(rows: Iterable[Any] | None) -> list[list[int]]:
    return [_ints(row) for row in rows] if rows is not None else []
