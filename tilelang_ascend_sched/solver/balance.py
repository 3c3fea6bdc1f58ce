"""Exact trade of II against depth: branch and bound whose nodes keep II open.

A node is a set of turns taken as arcs. Under arcs alone the time weight * II + depth is convex in
II, so its minimum is exact and bounds every schedule that takes these turns. If the earliest starts
at that II break an exclusive pair, one of the two must wait, and each choice is an arc again.
"""

from __future__ import annotations

import heapq

from .answer import Work
from .model import Arc, Pair
from .paths import Cycle, Graph
from .run import Run
from .schedule import balanced_ii, make_schedule

RELAXATIONS = 1_500_000  # arcs looked at; some half a second


def balance(run: Run) -> int:
    """Improves ``run.best`` and returns a proven lower bound on weight * II + depth."""
    model, weight = run.model, run.weight
    assert run.best is not None and weight is not None
    left = int(RELAXATIONS * run.effort)
    if model.phased:
        return 0  # stages are branched on at a fixed II only
    unsettled: list[int] = []  # bounds of nodes that need more memory than there is
    count = 0
    heap: list[tuple[int, int, tuple[Arc, ...]]] = [(0, 0, ())]
    while left > 0 and heap and heap[0][0] < run.best.time(weight):
        bound, _, arcs = heapq.heappop(heap)
        run.work += Work(nodes=1)
        graph = Graph(model, model.most, arcs)
        found = graph.least_ii(run.lower_ii)
        if isinstance(found, Cycle):
            left -= graph.relaxed
            continue
        ii = balanced_ii(graph, found[0], weight)
        reached = graph.longest(ii)
        left -= graph.relaxed
        assert isinstance(reached, tuple), "an II in balance is long enough"
        starts = reached[0][: model.n]
        bound = max(bound, weight * ii + model.depth(starts))
        if bound >= run.best.time(weight):
            continue
        clash = _worst_clash(model.pairs, starts, ii)
        if clash is None:
            grid = reached[0][model.origin] if model.anchored else 0
            schedule = make_schedule(model, [s - grid for s in starts], ii)
            if model.overdrawn(schedule.versions) is None:
                run.offer(schedule, "balance")
            else:
                unsettled.append(bound)
            continue
        pair, turn = clash
        i_late = Arc(pair.j, pair.i, pair.after_j, turn, None, pair.why)
        j_late = Arc(pair.i, pair.j, pair.after_i, -turn, None, pair.why)
        for arc in (i_late, j_late):
            count += 1
            heapq.heappush(heap, (bound, -count, (*arcs, arc)))
    return min([run.best.time(weight), *unsettled, *(bound for bound, _, _ in heap)])


def _worst_clash(pairs: list[Pair], starts: list[int], ii: int) -> tuple[Pair, int] | None:
    """The pair that overlaps most, and the multiple of II between its two ways out."""
    worst: tuple[int, Pair, int] | None = None
    for pair in pairs:
        ahead = starts[pair.j] - starts[pair.i]
        turn = (ahead - pair.after_i) // ii + 1
        overlap = ahead - (turn * ii - pair.after_j)
        if overlap > 0:
            # Cycles that the cheaper way out costs at least.
            cost = min(overlap, turn * ii + pair.after_i - ahead)
            if worst is None or cost > worst[0]:
                worst = cost, pair, turn
    return None if worst is None else worst[1:]
