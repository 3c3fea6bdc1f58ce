"""Longest paths and critical cycles of arcs whose weight is latency - distance * II."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .model import Arc, Model

NEG = -(2**80)  # below every sum of 64-bit figures; Python integers do not overflow


@dataclass(frozen=True)
class Cycle:
    """A cycle of arcs that no schedule below ``ii`` can keep; ii None: no schedule at all."""

    arcs: tuple[Arc, ...]
    ii: int | None


class Graph:
    """Arcs with their version counts filled in, ready for longest-path questions."""

    def __init__(self, model: Model, versions: Sequence[int], extra: Iterable[Arc] = ()) -> None:
        self.model = model
        self.rows: list[tuple[int, int, int, int, Arc]] = []
        self.relaxed = 0  # arcs looked at so far: the unit of work of path searches
        self.size = model.n + 1
        for arc in model.arcs:
            self._add(arc, arc.distance if arc.buffer is None else versions[arc.buffer])
        self._add_windows()
        for arc in extra:
            self._add(arc, arc.distance)

    def _add(self, arc: Arc, distance: int) -> None:
        self.rows.append((arc.src, arc.dst, arc.latency, distance, arc))

    def _add_windows(self) -> None:
        """One node per pipe stands for the earliest start on it: 2 arcs a task, not n."""
        model = self.model
        for row, (_, tasks) in enumerate(model.windows):
            node, why = self.size, ("windows", row)
            self.size += 1
            for task, last in zip(tasks, model.window_tails[row], strict=True):
                self._add(Arc(node, task, 0, 0, None, why), 0)
                self._add(Arc(task, node, last, 1, None, why), 1)

    def longest(self, ii: int) -> tuple[list[int], list[int]] | list[int]:
        """Earliest starts from zero and, for each node, the row that sets it.

        Returns the rows of a cycle of positive weight instead, if there is one.
        """
        weights = [(u, v, lat - dist * ii) for u, v, lat, dist, _ in self.rows]
        start = [0] * self.model.n + [NEG] * (self.size - self.model.n)
        parent = [-1] * self.size
        for sweep in range(self.size + 1):
            changed = False
            self.relaxed += len(weights)
            for row, (u, v, w) in enumerate(weights):
                if start[u] + w > start[v] and start[u] > NEG:
                    start[v] = start[u] + w
                    parent[v] = row
                    changed = True
            if not changed:
                return start, parent
            if sweep % 4 == 3 or sweep == self.size:
                cycle = self._find_cycle(parent)
                if cycle:
                    return cycle
        raise AssertionError("longest paths did not settle")

    def tails(self, ii: int) -> list[int]:
        """For each node, the longest path from its start to the end of the iteration."""
        tail = self.model.latency + [0] * (self.size - self.model.n)
        weights = [(u, v, lat - dist * ii) for u, v, lat, dist, _ in self.rows]
        changed = True
        while changed:
            changed = False
            for u, v, weight in reversed(weights):
                if tail[v] + weight > tail[u]:
                    tail[u], changed = tail[v] + weight, True
        return tail

    def limit_depth(self, depth: int) -> None:
        """Keeps every iteration within this many cycles."""
        node = self.size
        self.size += 1
        for task, latency in enumerate(self.model.latency):
            self._add(Arc(task, node, latency), 0)
            self._add(Arc(node, task, -depth), 0)

    def _find_cycle(self, parent: list[int]) -> list[int]:
        seen = [0] * self.size
        for root in range(self.size):
            node, mark = root, root + 1
            while parent[node] >= 0 and not seen[node]:
                seen[node] = mark
                node = self.rows[parent[node]][0]
            if parent[node] >= 0 and seen[node] == mark:
                cycle, at = [], node
                while True:
                    cycle.append(parent[at])
                    at = self.rows[parent[at]][0]
                    if at == node:
                        return cycle[::-1]
        return []

    def least_ii(self, ii: int) -> tuple[int, list[int], list[int], Cycle | None] | Cycle:
        """The least II >= ii that these arcs allow, its earliest starts and the forcing cycle.

        A Cycle with ii None if no II does. Each positive cycle found raises II to its ratio, so
        the last one is the proof.
        """
        proof = None
        while True:
            found = self.longest(ii)
            if isinstance(found, tuple):
                return ii, *found, proof
            latency = sum(self.rows[row][2] for row in found)
            distance = sum(self.rows[row][3] for row in found)
            arcs = tuple(self.rows[row][4] for row in found)
            if distance <= 0:
                return Cycle(arcs, None)
            ii = -(-latency // distance)
            proof = Cycle(arcs, ii)


def settled_arcs(
    model: Model, starts: Sequence[int], ii: int, *, by_pair: bool = False
) -> list[Arc]:
    """The choices a schedule made, as arcs: who goes first on each resource, and which stage.

    Along a resource only neighbours in phase need an arc: the rest follows. ``by_pair`` gives
    every pair its own two arcs instead.
    """
    arcs: list[Arc] = []
    done: set[tuple[int, int]] = set()
    for row, tasks in model.cliques if not by_pair else ():
        order = sorted(tasks, key=lambda t: (starts[t] % ii, t))
        for a, b in zip(order, order[1:] + order[:1], strict=True):
            turn = (starts[b] - starts[a]) // ii if a != b else 1
            arcs.append(Arc(a, b, model.interval[a], -turn, None, ("resources", row)))
        done.update((a, b) for a in tasks for b in tasks)
    for pair in model.pairs:
        if pair.why[0] == "resources" and (pair.i, pair.j) in done:
            continue
        difference = starts[pair.j] - starts[pair.i]
        turn = difference // ii
        if difference % ii == 0 and pair.after_i > 0:
            turn -= 1
        arcs.append(Arc(pair.i, pair.j, pair.after_i, -turn, None, pair.why))
        arcs.append(Arc(pair.j, pair.i, pair.after_j, turn + 1, None, pair.why))
    if model.phased:
        arcs += _phase_arcs(model, starts, ii)
    return arcs


def _phase_arcs(model: Model, starts: Sequence[int], ii: int) -> list[Arc]:
    arcs = []
    for task in sorted({t for pair in model.pipe_order + model.stage_order for t in pair}):
        stage = starts[task] // ii
        arcs.append(Arc(model.origin, task, 0, -stage, None, ("phase", task)))
        arcs.append(Arc(task, model.origin, 1, stage + 1, None, ("phase", task)))
    for row, (a, b) in enumerate(model.pipe_order):
        arcs.append(Arc(a, b, 0, starts[a] // ii - starts[b] // ii, None, ("pipe_order", row)))
    return arcs
