"""Iterative modulo scheduling: places tasks one by one on the circle of one II.

After Rau, "Iterative Modulo Scheduling" (1994): the most urgent task goes to the first slot its
placed neighbours allow; if there is none it goes in anyway and those in its way are placed again.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

from .model import Model
from .paths import Graph


class Placement:
    """All that one attempt at a fixed II and fixed version counts needs."""

    def __init__(
        self, model: Model, versions: Sequence[int], ii: int, *, backward: bool = False
    ) -> None:
        self.model, self.ii = model, ii
        size = model.n + 1
        best: dict[tuple[int, int], int] = {}

        def keep(u: int, v: int, weight: int) -> None:
            if u != v and weight > best.get((u, v), weight - 1):
                best[u, v] = weight

        for arc in model.arcs:
            distance = arc.distance if arc.buffer is None else versions[arc.buffer]
            keep(arc.src, arc.dst, arc.latency - distance * ii)
        for arc in model.window_arcs():
            keep(arc.src, arc.dst, 1 - ii)
        self.before: list[list[tuple[int, int]]] = [[] for _ in range(size)]
        self.after: list[list[tuple[int, int]]] = [[] for _ in range(size)]
        for (u, v), weight in best.items():
            self.before[v].append((u, weight))
            self.after[u].append((v, weight))
        self.exclusive: list[list[tuple[int, int, int]]] = [[] for _ in range(size)]
        for pair in model.pairs:
            self.exclusive[pair.j].append((pair.i, pair.after_i, pair.after_j))
            self.exclusive[pair.i].append((pair.j, pair.after_j, pair.after_i))
        self.phase_before: list[list[int]] = [[] for _ in range(size)]
        self.phase_after: list[list[int]] = [[] for _ in range(size)]
        for a, b in model.pipe_order:
            self.phase_before[b].append(a)
            self.phase_after[a].append(b)
        self.stage_low: list[list[int]] = [[] for _ in range(size)]
        self.stage_high: list[list[int]] = [[] for _ in range(size)]
        for low, high in model.stage_order:
            self.stage_low[high].append(low)
            self.stage_high[low].append(high)
        self.sign = 1
        if backward:
            self._reverse_time()
        self.start: list[int | None] = [None] * size
        self.used = 0

    def _reverse_time(self) -> None:
        """Places the last task first, each as late as it may be: loads then wait for their slot."""
        assert not self.model.phased, "the stage grid has a direction"
        self.sign = -1
        self.before, self.after = self.after, self.before
        self.exclusive = [[(u, b, a) for u, a, b in row] for row in self.exclusive]

    def run(
        self, priority: Sequence[int], earliest: Sequence[int], budget: int
    ) -> list[int] | None:
        """Starts of all tasks, or None once ``budget`` placements are spent.

        ``priority``: the lower, the sooner a task is placed. ``earliest``: no start is below it.
        """
        model, start = self.model, self.start
        last: list[int | None] = [None] * (model.n + 1)
        if model.anchored:
            start[model.origin] = 0
        queue = [(priority[t], t) for t in range(model.n)]
        heapq.heapify(queue)
        while queue:
            if self.used >= budget:
                return None
            self.used += 1
            task = heapq.heappop(queue)[1]
            low, high = self._range(task, earliest[task])
            slot = self._slot(task, low, min(high, low + self.ii - 1))
            if slot is None:
                previous = last[task]
                slot = low if previous is None or low > previous else previous + 1
                slot = self._within_stage(task, slot)
                for other in self._in_the_way(task, slot):
                    start[other] = None
                    heapq.heappush(queue, (priority[other], other))
            start[task] = last[task] = slot
        return [self.sign * s for s in start[: model.n] if s is not None]

    def _range(self, task: int, low: int) -> tuple[int, int]:
        start, ii = self.start, self.ii
        for u, weight in self.before[task]:
            at = start[u]
            if at is not None and at + weight > low:
                low = at + weight
        for u in self.stage_low[task]:
            if start[u] is not None:
                low = max(low, start[u] // ii * ii)
        high = low + ii - 1
        for v, weight in self.after[task]:
            at = start[v]
            if at is not None and at - weight < high:
                high = at - weight
        for v in self.stage_high[task]:
            if start[v] is not None:
                high = min(high, start[v] // ii * ii + ii - 1)
        return low, high

    def _within_stage(self, task: int, slot: int) -> int:
        """Wraps a forced start back into the stage given by hand: the grid never moves."""
        if self.model.stages is None:
            return slot
        stage = self.model.stages[task]
        first = stage * self.ii if self.sign > 0 else -stage * self.ii - self.ii + 1
        return first if slot >= first + self.ii else max(slot, first)

    def _slot(self, task: int, low: int, high: int) -> int | None:
        """The first start in [low, high] whose phase no placed task forbids."""
        if low > high:
            return None
        start, ii = self.start, self.ii
        blocked = []
        for other, after_other, after_task in self.exclusive[task]:
            at = start[other]
            length = after_other + after_task - 1
            if at is None or length <= 0:
                continue
            if length >= ii:
                return None
            blocked.append(((at - after_task + 1 - low) % ii, length))
        for other in self.phase_before[task]:
            at = start[other]
            if at is not None and at % ii:
                blocked.append((-low % ii, at % ii))
        for other in self.phase_after[task]:
            at = start[other]
            if at is not None and at % ii != ii - 1:
                blocked.append(((at % ii + 1 - low) % ii, ii - 1 - at % ii))
        slot = 0
        for begin, length in blocked:
            if begin + length > ii:
                slot = max(slot, begin + length - ii)
        blocked.sort()
        for begin, length in blocked:
            if begin > slot:
                break
            slot = max(slot, begin + length)
        return low + slot if low + slot <= high else None

    def _in_the_way(self, task: int, slot: int) -> list[int]:
        start, ii = self.start, self.ii
        away = set()
        for u, weight in self.before[task]:
            if start[u] is not None and start[u] + weight > slot:
                away.add(u)
        for v, weight in self.after[task]:
            if start[v] is not None and slot + weight > start[v]:
                away.add(v)
        for other, after_other, after_task in self.exclusive[task]:
            if start[other] is not None:
                gap = (slot - start[other]) % ii
                if not (after_other <= gap <= ii - after_task) and not (
                    gap == 0 and after_task == 0
                ):
                    away.add(other)
        for u in self.phase_before[task]:
            if start[u] is not None and start[u] % ii > slot % ii:
                away.add(u)
        for v in self.phase_after[task]:
            if start[v] is not None and slot % ii > start[v] % ii:
                away.add(v)
        for u in self.stage_low[task]:
            if start[u] is not None and start[u] // ii > slot // ii:
                away.add(u)
        for v in self.stage_high[task]:
            if start[v] is not None and slot // ii > start[v] // ii:
                away.add(v)
        away.discard(self.model.origin)
        return sorted(away)


def placements(
    model: Model, versions: Sequence[int], ii: int, budget: int
) -> Iterator[tuple[list[int] | None, int]]:
    """Attempts at exactly this II, in several orders: a schedule or None, and placements spent."""
    ends = _heads_and_tails(model, versions, ii)
    if ends is None:
        return
    (head, tail), n = ends, model.n
    slack = [-(h + t) for h, t in zip(head, tail, strict=True)]
    attempts = [(False, [-t for t in tail], head), (False, slack, head)]
    if not model.phased:
        attempts += [(True, [-h for h in head], tail), (True, slack, tail)]
    attempts += [(False, head, head), (False, list(range(n)), head)]
    far = -ii * (max(model.stages or (0,)) + 2)
    for backward, order, low in attempts:
        attempt = Placement(model, versions, ii, backward=backward)
        floor = [far if backward else 0] * n if model.anchored else low
        starts = attempt.run(order, floor, budget // len(attempts))
        yield starts, attempt.used


def place(
    model: Model, versions: Sequence[int], ii: int, budget: int
) -> tuple[list[int] | None, int]:
    """The first schedule found at exactly this II, or None, and the placements spent."""
    spent = 0
    for starts, used in placements(model, versions, ii, budget):
        spent += used
        if starts is not None:
            return starts, spent
    return None, spent


def _heads_and_tails(
    model: Model, versions: Sequence[int], ii: int
) -> tuple[list[int], list[int]] | None:
    """Longest paths from the start of the iteration to each task, and from it to the end.

    None if this II is too short, or too long for stages given by hand.
    """
    graph = Graph(model, versions)
    found = graph.longest(ii)
    if not isinstance(found, tuple):
        return None
    return found[0][: model.n], graph.tails(ii)[: model.n]
