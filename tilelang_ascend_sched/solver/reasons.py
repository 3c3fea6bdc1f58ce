"""Why a problem has no schedule: a set of its rows none of which can be left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from .capacity import least_counts
from .model import Arc, Model
from .paths import Cycle, Graph
from .problem import MemoryGroup, ScheduleProblem

SHORTEST_TASKS = 120

# A probe says whether a problem is proven to have no schedule.
Probe = Callable[[ScheduleProblem], bool]


def overdrawn_reasons(problem: ScheduleProblem) -> tuple[str, ...]:
    """The fewest version counts asked for that do not fit a memory group together."""
    for group in problem.memory_groups:
        sizes = {b: problem.buffers[b].size for b in group.buffers}
        counts = dict.fromkeys(group.buffers, 1)
        used = sum(sizes.values())
        extra = {b: sizes[b] * ((problem.buffers[b].versions or 1) - 1) for b in group.buffers}
        for b in sorted(group.buffers, key=lambda b: (-extra[b], b)):
            if not extra[b]:
                break
            counts[b] = problem.buffers[b].versions or 1
            used += extra[b]
            if used > group.capacity:
                return (_asked_reason(problem, group, counts),)
    return ()


def _asked_reason(problem: ScheduleProblem, group: MemoryGroup, counts: dict[int, int]) -> str:
    """These counts, of which those above one are asked for, are too many for the group."""
    used = sum(problem.buffers[b].size * count for b, count in counts.items())
    asked = [b for b in group.buffers if counts[b] > 1]
    others = any(counts[b] == 1 and problem.buffers[b].size for b in group.buffers)
    if len(asked) == 1:
        buffer = problem.buffers[asked[0]]
        fit = counts[asked[0]] - -(-(used - group.capacity) // buffer.size)
        return (
            f"buffer {buffer.name}: {buffer.versions} versions asked, "
            f"{fit} fit in {group.name} ({group.capacity} bytes)"
            + (" beside the others" if others else "")
        )
    names, versions = _listed(problem, asked, counts)
    return (
        f"buffers {names}: {versions} versions asked"
        + (" and one of each other buffer" if others else "")
        + f" need {used} bytes, {group.name} has {group.capacity}"
    )


def _listed(
    problem: ScheduleProblem, buffers: Sequence[int], counts: Mapping[int, int] | Sequence[int]
) -> tuple[str, str]:
    """Their names and their counts, for a sentence."""
    names = ", ".join(problem.buffers[b].name for b in buffers)
    return names, " + ".join(str(counts[b]) for b in buffers)


def cycle_reasons(model: Model, cycle: Cycle) -> tuple[str, ...]:
    """The shortest cycle of orders that contradict each other, one line per order.

    Where it is memory that keeps a buffer from having more versions, a line says so.
    """
    roomy = Model(replace(model.problem, memory_groups=()))
    if isinstance(beyond := Graph(roomy, roomy.most).least_ii(roomy.shortest_ii), Cycle):
        model, cycle = roomy, beyond
    arcs = shortest_contradiction(model) or cycle.arcs
    lines = [_arc_reason(model, arc) for arc in arcs]
    on_cycle = dict.fromkeys(arc.buffer for arc in arcs if arc.buffer is not None)
    lines += [_room_reason(model, b) for b in on_cycle if model.most[b] < roomy.most[b]]
    return tuple(dict.fromkeys(lines))


def _room_reason(model: Model, buffer: int) -> str:
    """The memory group that leaves room for no more versions of this buffer."""
    problem = model.problem
    size = problem.buffers[buffer].size
    for group in problem.memory_groups:
        if buffer not in group.buffers:
            continue
        least = sum(problem.buffers[b].size * model.least[b] for b in group.buffers)
        used = least + size * (model.most[buffer] - model.least[buffer])
        if used + size > group.capacity:
            return (
                f"buffer {problem.buffers[buffer].name}: room for {_versions(model.most[buffer])} "
                f"of {size} bytes in {group.name} ({group.capacity} bytes)"
                + (" beside the others" if len(group.buffers) > 1 else "")
            )
    raise AssertionError("only memory groups lower the most versions of a buffer")


def _versions(count: int) -> str:
    return f"{count} version" if count == 1 else f"{count} versions"


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
            if any(edge.buffer in group.buffers for group in problem.memory_groups):
                return f"{dst} refills {buffer} after {src} has used it"  # memory sets the count
            count = _versions(model.most[edge.buffer])
            return f"{dst} refills {buffer} ({count}) after {src} has used it"
        if edge.latency < 0 and not edge.distance:
            return f"{src} starts at most {-edge.latency} cycles after {dst}"
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
    problem = _shrink_memory(problem, refuted)
    for kind in ("exclusions", "resources", "edges"):
        problem = _shrink(problem, kind, refuted)
    problem = _shrink_policy(problem, refuted)
    model = Model(problem)
    lines = [
        _arc_reason(model, arc) for arc in model.arcs if arc.why[0] in ("edges", "stage_order")
    ]
    lines += _memory_reasons(problem)
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
    if problem.manual and not refuted(_with_policy(problem, manual_stages=None)):
        given = any(problem.policy.manual_stages or ())
        lines.append("the stages given with T.Stage" if given else "all tasks are in stage 0")
    if model.windows and not refuted(_with_policy(problem, allow_offset=True)):
        lines.append("tasks of one pipe stay within one interval (no offset allowed)")
    return tuple(dict.fromkeys(lines))


def _memory_reasons(problem: ScheduleProblem) -> list[str]:
    """One line per memory group: what its buffers need at least, however long II is."""
    if not problem.memory_groups:
        return []
    roomy = Model(replace(problem, memory_groups=()))
    counts = least_counts(roomy, roomy.fixed_ii or 2 * roomy.serial)
    lines = []
    for group in problem.memory_groups:
        used = sum(problem.buffers[b].size * counts[b] for b in group.buffers)
        names, versions = _listed(problem, group.buffers, counts)
        if used > group.capacity:
            need = f"{versions} versions need {used} bytes"
        else:  # the counts each needs alone would fit; what they need together does not
            need = "the versions they need together do not fit"
        plural = "s" if len(group.buffers) > 1 else ""
        lines.append(f"buffer{plural} {names}: {need}, {group.name} has {group.capacity}")
    return lines


def _shrink_memory(problem: ScheduleProblem, refuted: Probe) -> ScheduleProblem:
    """Leaves out memory groups, then buffers of the groups that are left."""
    problem = _shrink(problem, "memory_groups", refuted)
    for row, group in enumerate(problem.memory_groups):
        keep = partial(_with_group, problem, row)
        problem = keep(_minimal(group.buffers, lambda rest, keep=keep: refuted(keep(rest))))
    return problem


def _with_group(problem: ScheduleProblem, row: int, buffers: tuple[int, ...]) -> ScheduleProblem:
    groups = list(problem.memory_groups)
    groups[row] = replace(groups[row], buffers=buffers)
    return replace(problem, memory_groups=tuple(groups))


def _with_policy(problem: ScheduleProblem, **changes: Any) -> ScheduleProblem:
    return replace(problem, policy=replace(problem.policy, **changes))


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
        return _with_policy(problem, **{kind: rows})

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
