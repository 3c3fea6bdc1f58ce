"""Why a problem has no schedule: a set of its rows none of which can be left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .model import Arc, Model
from .paths import Cycle
from .problem import ScheduleProblem

SHORTEST_TASKS = 120

# A probe says whether a problem is proven to have no schedule.
Probe = Callable[[ScheduleProblem], bool]


def overdrawn_reasons(problem: ScheduleProblem) -> tuple[str, ...]:
    """Version counts asked for that do not fit together, one line per buffer."""
    for group in problem.memory_groups:
        asked = [b for b in group.buffers if problem.buffers[b].versions is not None]
        used = sum(
            problem.buffers[b].size * (problem.buffers[b].versions or 1) for b in group.buffers
        )
        if not asked or used <= group.capacity:
            continue
        lines = []
        for b in asked:
            buffer = problem.buffers[b]
            if buffer.versions == 1 or not buffer.size:
                continue
            fit = (group.capacity - used) // buffer.size + buffer.versions
            lines.append(
                f"buffer {buffer.name}: {buffer.versions} versions asked, "
                f"{max(fit, 0)} fit in {group.name} ({group.capacity} bytes)"
                + (" beside the others" if len(group.buffers) > 1 else "")
            )
        return tuple(lines)
    return ()


def cycle_reasons(model: Model, cycle: Cycle) -> tuple[str, ...]:
    """The shortest cycle of orders that contradict each other, one line per order."""
    arcs = shortest_contradiction(model) or cycle.arcs
    return tuple(dict.fromkeys(_arc_reason(model, arc) for arc in arcs))


def shortest_contradiction(model: Model) -> list[Arc]:
    """The fewest orders that no II can keep together; empty if there are none or too many tasks.

    Heaviest walks of one, two, three, ... arcs at an II so long that only what contradicts itself
    at every II still closes a cycle of positive weight.
    """
    if model.n > SHORTEST_TASKS:
        return []
    ii = 2 * model.serial
    step: dict[tuple[int, int], tuple[int, Arc]] = {}
    for arc in [*model.arcs, *model.window_arcs()]:
        distance = arc.distance if arc.buffer is None else model.most[arc.buffer]
        weight = arc.latency - distance * ii
        if weight > step.get((arc.src, arc.dst), (weight - 1,))[0]:
            step[arc.src, arc.dst] = weight, arc
    walks = {ends: (weight, (arc,)) for ends, (weight, arc) in step.items()}
    leaving: dict[int, list[tuple[int, int, Arc]]] = {}
    for (u, v), (weight, arc) in step.items():
        leaving.setdefault(u, []).append((v, weight, arc))
    for _ in range(model.n + 1):
        for (u, v), (weight, arcs) in walks.items():
            if u == v and weight > 0:
                return list(arcs)
        longer: dict[tuple[int, int], tuple[int, tuple[Arc, ...]]] = {}
        for (u, w), (weight, arcs) in walks.items():
            for v, more, arc in leaving.get(w, ()):
                if weight + more > longer.get((u, v), (weight + more - 1,))[0]:
                    longer[u, v] = weight + more, (*arcs, arc)
        walks = longer
    return []


def _arc_reason(model: Model, arc: Arc) -> str:
    problem = model.problem
    kind, row = arc.why
    if kind == "edges":
        edge = problem.edges[row]
        src, dst = problem.tasks[edge.src].name, problem.tasks[edge.dst].name
        if edge.buffer is not None:
            buffer = problem.buffers[edge.buffer].name
            count = model.most[edge.buffer]
            return f"{dst} refills {buffer} ({count} versions) after {src} has used it"
        when = f"of {edge.distance} iterations before" if edge.distance else "of the same iteration"
        return f"{dst} needs {src} {when} ({edge.latency} cycles)"
    if kind == "windows":
        return f"tasks of {model.windows[row][0]} stay within one interval (no offset allowed)"
    return _policy_reason(problem, kind, row)


def _policy_reason(problem: ScheduleProblem, kind: str, row: int) -> str:
    policy, tasks = problem.policy, problem.tasks
    stages = policy.manual_stages
    if kind == "manual_stages" and stages is not None:
        return f"T.Stage({stages[row]}) on {tasks[row].name}"
    a, b = policy.pipe_order[row] if kind == "pipe_order" else policy.stage_order[row]
    if kind == "stage_order":
        return f"{tasks[a].name} reads a value that {tasks[b].name} changes: not in a later stage"
    shared = "/".join(p for p in tasks[a].pipes if p in tasks[b].pipes) or "its pipe"
    if stages is None:
        return f"{tasks[b].name} is issued after {tasks[a].name} on {shared}"
    return (
        f"T.Stage({stages[b]}) of {tasks[b].name} after T.Stage({stages[a]}) of {tasks[a].name} "
        f"on {shared}"
    )


def smallest_reasons(problem: ScheduleProblem, refuted: Probe) -> tuple[str, ...]:
    """Leaves out rows while the problem stays impossible; what cannot be left out is the reason."""
    for kind in ("exclusions", "resources", "edges"):
        problem = _shrink(problem, kind, refuted)
    problem = _shrink_policy(problem, refuted)
    model = Model(problem)
    lines = [
        _arc_reason(model, arc) for arc in model.arcs if arc.why[0] in ("edges", "stage_order")
    ]
    lines += [
        f"{' and '.join(problem.tasks[t].name for t in resource.tasks)} share {resource.name}"
        for resource in problem.resources
    ]
    lines += [
        f"{problem.tasks[x.first].name} and {problem.tasks[x.second].name} own one storage in turn"
        for x in problem.exclusions
    ]
    for kind in ("pipe_order", "stage_order"):
        count = len(getattr(problem.policy, kind))
        lines += [_policy_reason(problem, kind, row) for row in range(count)]
    if any(problem.policy.manual_stages or ()):
        lines.append("the stages given with T.Stage")
    if model.windows and not refuted(_allow_offset(problem)):
        lines.append("tasks of one pipe stay within one interval (no offset allowed)")
    return tuple(dict.fromkeys(lines))


def _allow_offset(problem: ScheduleProblem) -> ScheduleProblem:
    return replace(problem, policy=replace(problem.policy, allow_offset=True))


def _shrink(problem: ScheduleProblem, kind: str, refuted: Probe) -> ScheduleProblem:
    def keep(rows: tuple) -> ScheduleProblem:
        return replace(problem, **{kind: rows})

    return keep(_minimal(getattr(problem, kind), lambda rows: refuted(keep(rows))))


def _shrink_policy(problem: ScheduleProblem, refuted: Probe) -> ScheduleProblem:
    for kind in ("pipe_order", "stage_order"):
        problem = _shrink_pairs(problem, kind, refuted)
    return problem


def _shrink_pairs(problem: ScheduleProblem, kind: str, refuted: Probe) -> ScheduleProblem:
    def keep(rows: tuple) -> ScheduleProblem:
        return replace(problem, policy=replace(problem.policy, **{kind: rows}))

    return keep(_minimal(getattr(problem.policy, kind), lambda rows: refuted(keep(rows))))


def _minimal(rows: tuple, still_refuted: Callable[[tuple], bool]) -> tuple:
    """Drops blocks of rows, then halves of blocks, down to single rows."""
    size = max(1, len(rows))
    while size >= 1 and rows:
        at = 0
        while at < len(rows):
            rest = rows[:at] + rows[at + size :]
            if still_refuted(rest):
                rows = rest
            else:
                at += size
        size //= 2
    return rows
