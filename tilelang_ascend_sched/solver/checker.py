"""Recomputes every constraint of a problem from an answer's numbers alone.

This file shares nothing with the engines: it reads the problem as the user wrote it, so that a
mistake made while translating it for a solver is seen here.
"""

from __future__ import annotations

from .problem import ScheduleProblem


class CheckError(AssertionError):
    """An engine returned a schedule that breaks its problem: a defect of the solver."""


def violations(
    problem: ScheduleProblem, starts: tuple[int, ...], ii: int | None, versions: tuple[int, ...]
) -> list[str]:
    """Every broken constraint in the user's terms; empty if the schedule is right."""
    n = len(problem.tasks)
    if len(starts) != n or any(not isinstance(s, int) or s < 0 for s in starts):
        return [f"{n} starts of at least 0 expected, got {list(starts)}"]
    if len(versions) != len(problem.buffers):
        return [f"{len(problem.buffers)} version counts expected, got {list(versions)}"]
    if problem.kind == "region":
        return _region(problem, starts)
    if ii is None or ii < 1:
        return [f"initiation interval {ii} is not positive"]
    return (
        _versions(problem, versions)
        + _edges(problem, starts, ii, versions)
        + _circular(problem, starts, ii)
        + _policy(problem, starts, ii)
    )


def verify(
    problem: ScheduleProblem, starts: tuple[int, ...], ii: int | None, versions: tuple[int, ...]
) -> None:
    """Raises CheckError with the first broken constraint."""
    broken = violations(problem, starts, ii, versions)
    if broken:
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        raise CheckError(f"schedule breaks its problem: {broken[0]}{more}")


def _versions(problem: ScheduleProblem, versions: tuple[int, ...]) -> list[str]:
    broken = []
    for buffer, count in zip(problem.buffers, versions, strict=True):
        most = problem.policy.max_versions if buffer.versions is None else buffer.versions
        least = 1 if buffer.versions is None else buffer.versions
        if not least <= count <= most:
            broken.append(f"buffer {buffer.name}: {count} versions, allowed {least} to {most}")
    for group in problem.memory_groups:
        used = sum(problem.buffers[b].size * versions[b] for b in group.buffers)
        if group.buffers and used > group.capacity:
            broken.append(f"{group.name}: {used} bytes used of {group.capacity}")
    return broken


def _edges(
    problem: ScheduleProblem, starts: tuple[int, ...], ii: int, versions: tuple[int, ...]
) -> list[str]:
    broken = []
    for edge in problem.edges:
        distance = edge.distance if edge.buffer is None else versions[edge.buffer]
        early = starts[edge.src] + edge.latency - (starts[edge.dst] + distance * ii)
        if early > 0:
            src, dst = problem.tasks[edge.src].name, problem.tasks[edge.dst].name
            broken.append(f"{dst} starts {early} cycles before {src} lets it (distance {distance})")
    return broken


def _conflicts(problem: ScheduleProblem):
    """(first, second, gap after first, gap after second, why) of every pair that takes turns."""
    for resource in problem.resources:
        for a, i in enumerate(resource.tasks):
            for j in resource.tasks[a + 1 :]:
                gaps = problem.tasks[i].interval, problem.tasks[j].interval
                yield i, j, *gaps, f"both need {resource.name}"
    for pair in problem.exclusions:
        gaps = pair.gap_forward, pair.gap_backward
        yield pair.first, pair.second, *gaps, "both own one storage"


def _circular(problem: ScheduleProblem, starts: tuple[int, ...], ii: int) -> list[str]:
    broken = [
        f"{task.name} issues for {task.interval} cycles in an interval of {ii}"
        for task in problem.tasks
        if task.interval > ii
    ]
    for i, j, after_i, after_j, why in _conflicts(problem):
        first, second = starts[i] % ii, starts[j] % ii
        i_first = second - first >= after_i and first - second + ii >= after_j
        j_first = first - second >= after_j and second - first + ii >= after_i
        if not (i_first or j_first):
            names = problem.tasks[i].name, problem.tasks[j].name
            broken.append(f"{names[0]} and {names[1]} overlap modulo {ii}: {why}")
    return broken


def _policy(problem: ScheduleProblem, starts: tuple[int, ...], ii: int) -> list[str]:
    policy, tasks, broken = problem.policy, problem.tasks, []
    for before, after in policy.pipe_order:
        if starts[before] % ii > starts[after] % ii:
            broken.append(f"{tasks[after].name} issues before {tasks[before].name} in its phase")
    for low, high in policy.stage_order:
        if starts[low] // ii > starts[high] // ii:
            broken.append(f"{tasks[low].name} is in a later stage than {tasks[high].name}")
    for i, stage in enumerate(policy.manual_stages or ()):
        if starts[i] // ii != stage:
            broken.append(f"{tasks[i].name} is in stage {starts[i] // ii}, asked for {stage}")
    if not policy.allow_offset:
        for pipe in sorted({pipe for task in tasks for pipe in task.pipes}):
            users = [s for task, s in zip(tasks, starts, strict=True) if pipe in task.pipes]
            if max(users) - min(users) >= ii:
                broken.append(f"tasks of {pipe} spread over more than one interval of {ii}")
    return broken


def _region(problem: ScheduleProblem, starts: tuple[int, ...]) -> list[str]:
    tasks, broken = problem.tasks, []
    for edge in problem.edges:
        if starts[edge.dst] - starts[edge.src] < edge.latency:
            broken.append(f"{tasks[edge.dst].name} starts before {tasks[edge.src].name} lets it")
    for i, j, after_i, after_j, why in _conflicts(problem):
        if starts[j] - starts[i] < after_i and starts[i] - starts[j] < after_j:
            broken.append(f"{tasks[i].name} and {tasks[j].name} overlap: {why}")
    for before, after in problem.policy.pipe_order:
        if starts[before] > starts[after]:
            broken.append(f"{tasks[after].name} issues before {tasks[before].name}")
    return broken
