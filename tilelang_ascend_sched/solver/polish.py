"""Spends what freedom an optimal schedule leaves: fewer bytes on chip, then program order."""

from __future__ import annotations

import copy

from .engine import Status
from .model import Arc
from .paths import Graph, settled_arcs
from .run import Run
from .schedule import Schedule, make_schedule

EXACT_TASKS = 40  # above this many tasks, only choices already made are reused
MOST_SAVED = 16  # versions taken from one buffer, one by one
ORDER_TASKS = 32
ORDER_TRIES = 64


def save_bytes(run: Run) -> None:
    """Takes versions away, from large buffers first, while II and depth stay."""
    model = run.model
    sizes = [buffer.size for buffer in model.problem.buffers]
    for b in sorted(range(len(sizes)), key=lambda b: (-sizes[b], b)):
        for _ in range(MOST_SAVED):
            assert run.best is not None
            if not sizes[b] or run.best.versions[b] <= model.least[b]:
                break
            counts = list(run.best.versions)
            counts[b] -= 1
            smaller = _same_choices(run, counts) or _new_choices(run, counts)
            if smaller is None:
                break
            run.best = smaller


def _same_choices(run: Run, counts: list[int], arcs: list[Arc] | None = None) -> Schedule | None:
    best = run.best
    assert best is not None
    arcs = settled_arcs(run.model, best.starts, best.ii) if arcs is None else arcs
    graph = Graph(run.model, counts, arcs)
    graph.limit_depth(best.depth)
    found = graph.longest(best.ii)
    if not isinstance(found, tuple):
        return None
    grid = found[0][run.model.origin] if run.model.anchored else 0
    starts = [s - grid for s in found[0][: run.model.n]]
    return make_schedule(run.model, starts, best.ii)


def _new_choices(run: Run, counts: list[int]) -> Schedule | None:
    best = run.best
    if best is None or run.model.n > EXACT_TASKS or not run.engines:
        return None
    capped = copy.copy(run.model)
    capped.most = counts
    engine = run.engines[0]
    reply = engine.find(capped, best.ii, depth_at_most=best.depth, down_to=None, effort=0.02)
    run.work += reply.work
    if reply.status is not Status.FOUND:
        return None
    return make_schedule(run.model, reply.starts, best.ii)


def keep_program_order(run: Run) -> None:
    """Turns pairs round that run against the program without need."""
    model = run.model
    if model.n > ORDER_TASKS:
        return
    tries = ORDER_TRIES
    turned = True
    while turned:
        turned = False
        best = run.best
        assert best is not None
        late = [
            (best.starts[p.i] - best.starts[p.j], p.i, p.j)
            for p in model.pairs
            if best.starts[p.i] > best.starts[p.j] >= best.starts[p.i] - best.ii
        ]
        for _, i, j in sorted(late):
            if tries == 0:
                return
            tries -= 1
            arcs = [_turn(arc, i, j) for arc in _pair_arcs(run)]
            other = _same_choices(run, list(best.versions), arcs)
            if other is not None and other.bytes <= best.bytes:
                run.best, turned = other, True
                break


def _pair_arcs(run: Run) -> list[Arc]:
    model, best = run.model, run.best
    assert best is not None
    return settled_arcs(model, best.starts, best.ii, by_pair=True)


def _turn(arc: Arc, i: int, j: int) -> Arc:
    """The arc one turn later if it says that j comes before i, so that i comes first."""
    if (arc.src, arc.dst) == (i, j) and arc.why[0] in ("resources", "exclusions"):
        return Arc(i, j, arc.latency, arc.distance - 1, None, arc.why)
    if (arc.src, arc.dst) == (j, i) and arc.why[0] in ("resources", "exclusions"):
        return Arc(j, i, arc.latency, arc.distance + 1, None, arc.why)
    return arc
