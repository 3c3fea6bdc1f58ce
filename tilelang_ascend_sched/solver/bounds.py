"""Lower bounds on the initiation interval and on the depth, each with what forces it."""

from __future__ import annotations

from collections.abc import Sequence

from .answer import Bound
from .capacity import capacity_bound
from .model import Model
from .paths import Cycle, Graph

CLIQUE_NODES = 2000


def ii_bounds(model: Model) -> list[Bound]:
    """Every bound on II; the later ones start from the best of those before."""
    bounds = [_interval_bound(model), *_resource_bounds(model)]
    best = max(bound.value for bound in bounds)
    recurrence = recurrence_bound(model, model.most, best)
    if recurrence is not None:
        bounds.append(recurrence)
        best = recurrence.value
    capacity = capacity_bound(model, best)
    if capacity is not None:
        bounds.append(capacity)
    return bounds


def impossible_cycle(model: Model) -> Cycle | None:
    """A cycle of orders that no II can keep, with every buffer at its most versions."""
    found = Graph(model, model.most).least_ii(model.shortest_ii)
    return found if isinstance(found, Cycle) else None


def _interval_bound(model: Model) -> Bound:
    task = max(range(model.n), key=lambda t: (model.interval[t], -t))
    name = model.problem.tasks[task].name
    value = model.interval[task]
    return Bound(value, "interval", f"{name} alone issues for {value} cycles", (task,))


def _resource_bounds(model: Model) -> list[Bound]:
    """ResMII: tasks that exclude each other pairwise pass one after the other around the circle."""
    wait: dict[int, dict[int, int]] = {}
    for pair in model.pairs:
        if min(pair.after_i, pair.after_j) == 0:
            continue  # equal phases are allowed: such gaps do not add up
        for a, b, gap in ((pair.i, pair.j, pair.after_i), (pair.j, pair.i, pair.after_j)):
            row = wait.setdefault(a, {})
            row[b] = max(gap, row.get(b, 0))
    bounds = []
    for row, tasks in model.cliques:
        name = model.problem.resources[row].name
        bounds.append(_turns(model, tasks, f"{name} is busy", wait))
    clique = heaviest_clique(model, wait)
    if clique:
        bounds.append(_turns(model, clique, "tasks that exclude each other take", wait))
    for pair in model.pairs:
        if pair.why[0] == "exclusions":
            value, tasks = pair.after_i + pair.after_j, (pair.i, pair.j)
            names = " and ".join(model.problem.tasks[t].name for t in tasks)
            reason = f"{names} own one storage in turn for {value} cycles"
            bounds.append(Bound(value, "resource", reason, tasks))
    best: dict[int, Bound] = {}
    for bound in bounds:
        best.setdefault(bound.value, bound)
    return [best[value] for value in sorted(best, reverse=True)[:1]]


def _turns(model: Model, tasks: Sequence[int], what: str, wait: dict[int, dict[int, int]]) -> Bound:
    value = clique_weight(tasks, wait)
    names = ", ".join(model.problem.tasks[t].name for t in tasks)
    return Bound(value, "resource", f"{what} {value} cycles: {names}", tuple(sorted(tasks)))


def clique_weight(tasks: Sequence[int], wait: dict[int, dict[int, int]]) -> int:
    """Cycles in which all of them surely cannot pass faster, whatever their order."""
    return sum(min(wait[a][b] for b in tasks if b != a) for a in tasks)


def heaviest_clique(model: Model, wait: dict[int, dict[int, int]]) -> tuple[int, ...]:
    """A heavy clique of the exclusion graph, the heaviest by issue interval if it is small."""
    weight = {t: model.interval[t] for t in wait}
    order = sorted(wait, key=lambda t: (-weight[t], t))
    best: tuple[int, tuple[int, ...]] = (0, ())
    nodes = 0

    def grow(chosen: tuple[int, ...], total: int, candidates: list[int]) -> None:
        nonlocal best, nodes
        nodes += 1
        if total > best[0] and len(chosen) > 1:
            best = total, chosen
        rest = sum(weight[t] for t in candidates)
        for at, task in enumerate(candidates):
            if nodes > CLIQUE_NODES or total + rest <= best[0]:
                return
            rest -= weight[task]
            near = wait[task]
            grow(
                (*chosen, task),
                total + weight[task],
                [t for t in candidates[at + 1 :] if t in near],
            )

    if len(order) <= 400:
        grow((), 0, order)
    return best[1]


def recurrence_bound(model: Model, versions: Sequence[int], lowest: int) -> Bound | None:
    """RecMII over dependences and one-II windows, with these version counts."""
    found = Graph(model, versions).least_ii(lowest)
    if isinstance(found, Cycle):
        return None
    proof = found[3]
    return None if proof is None else cycle_bound(model, proof, versions)


def cycle_bound(model: Model, cycle: Cycle, versions: Sequence[int]) -> Bound:
    """The bound a critical cycle proves, in the user's names."""
    tasks = [arc.src for arc in cycle.arcs if arc.src < model.n]
    buffers = sorted({arc.buffer for arc in cycle.arcs if arc.buffer is not None})
    windows = sorted({arc.why[1] for arc in cycle.arcs if arc.why[0] == "windows"})
    names = " -> ".join(model.problem.tasks[t].name for t in (*tasks, tasks[0]))
    reason = f"recurrence {names}"
    for b in buffers:
        reason += f", {model.problem.buffers[b].name} in {versions[b]} versions"
    for row in windows:
        reason += f", {model.windows[row][0]} within one interval"
    assert cycle.ii is not None
    counts = tuple(versions[b] for b in buffers)
    return Bound(cycle.ii, "recurrence", reason, tuple(tasks), tuple(buffers), counts)


def depth_bound(model: Model, ii: int | None) -> Bound:
    """The cycles one iteration takes at least; at this II, or at any with ii None.

    A critical path, or a resource that cannot start before its earliest user is ready, is busy for
    all of them in turn, and is followed by what its last user still has to do.
    """
    graph = Graph(model, model.most)
    if ii is None:
        graph.rows = [row for row in graph.rows if row[3] == 0 and row[1] < model.n]
        ii = model.serial
    found = graph.longest(ii)
    assert isinstance(found, tuple), "no depth below a recurrence"
    head, tail = found[0], graph.tails(ii)
    last = max(range(model.n), key=lambda t: (head[t] + model.latency[t], -t))
    path = [last]
    while (row := found[1][path[-1]]) >= 0:
        path.append(graph.rows[row][0])
    tasks = tuple(t for t in reversed(path) if t < model.n)
    names = " -> ".join(model.problem.tasks[t].name for t in tasks)
    best = Bound(
        head[last] + model.latency[last], "critical_path", f"path {names}", tasks, figure="depth"
    )
    for row, members in model.cliques:
        name = model.problem.resources[row].name
        value, users = _one_machine(model, members, head, tail)
        if value > best.value:
            best = Bound(
                value,
                "resource",
                f"{name} serves its {len(users)} users in turn",
                users,
                figure="depth",
            )
    return best


def _one_machine(
    model: Model, members: Sequence[int], head: Sequence[int], tail: Sequence[int]
) -> tuple[int, tuple[int, ...]]:
    """The best of: earliest head + all intervals + least tail, over members above a head."""
    best: tuple[int, tuple[int, ...]] = (0, ())
    rest = {t: tail[t] - model.interval[t] for t in members}
    order = sorted(members, key=lambda t: (-head[t], t))
    for least_tail in sorted({rest[t] for t in members})[:16]:
        busy, users = 0, []
        for t in order:
            if rest[t] >= least_tail:
                busy += model.interval[t]
                users.append(t)
                if head[t] + busy + least_tail > best[0]:
                    best = head[t] + busy + least_tail, tuple(sorted(users))
    return best
