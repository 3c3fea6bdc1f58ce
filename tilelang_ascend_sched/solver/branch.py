"""Exact search at a fixed II: bounds on all differences of starts, and branching on turns.

``D[u, v]`` is the greatest proven lower bound on start(v) - start(u). An exclusive pair allows the
difference only in [m*II + after_i, (m+1)*II - after_j] for some integer m, so its bounds snap to
the ends of such intervals; where several m are left, the search splits between two of them.
Where phases or stages are constrained, a task's phase is a node of its own.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .answer import Work
from .engine import Outcome, Status, deepest
from .model import Model

ROUNDS_PER_EFFORT = 12_000  # rounds of propagation; a node takes some five of them
CHANGES_PER_ROUND = 8  # bounds that move in the time a round without any takes
WIDE = 2**56  # above this, sums of two bounds might leave 64 bits


class BranchAndBound:
    """The project's own exact engine; best for problems with few open decisions."""

    name = "branch"

    def find(
        self,
        model: Model,
        ii: int,
        *,
        depth_at_most: int | None,
        down_to: int | None,
        effort: float,
    ) -> Outcome:
        """See Engine."""
        search = _Search(model, ii, ii, depth_at_most, down_to, _limit(model, effort))
        return search.run()

    def exclude(self, model: Model, low: int, high: int, *, depth: int, effort: float) -> Outcome:
        """REFUTED if no II from low to high has a schedule of at most this depth.

        All of them are treated at once: every arc at the II that is kindest to it, and exclusive
        pairs within one iteration only. FOUND therefore carries no schedule.
        """
        outcome = _Search(model, low, high, depth, None, _limit(model, effort)).run()
        return replace(outcome, starts=())


def _limit(model: Model, effort: float) -> int:
    """Rounds of propagation within this effort: each costs more the more tasks there are."""
    return max(1, int(ROUNDS_PER_EFFORT * effort * 24 / (24 + model.n)))


class _OutOfRounds(Exception):
    """The rounds of propagation allowed are used up."""


class _State:
    """One node: difference bounds and the range of version counts of every buffer."""

    __slots__ = ("d", "least", "most")

    def __init__(self, d: np.ndarray, least: list[int], most: list[int]) -> None:
        self.d, self.least, self.most = d, least, most

    def copy(self) -> _State:
        return _State(self.d.copy(), list(self.least), list(self.most))

    def insert(self, u: int, v: int, weight: int) -> bool:
        """Adds start(v) >= start(u) + weight; False if that closes a positive cycle."""
        d = self.d
        if weight <= d[u, v]:
            return True
        if weight + d[v, u] > 0:
            return False
        np.maximum(d, (d[:, u] + weight)[:, None] + d[v][None, :], out=d)
        return True


class _Search:
    def __init__(
        self,
        model: Model,
        low: int,
        high: int,
        depth_at_most: int | None,
        down_to: int | None,
        limit: int,
    ) -> None:
        self.model, self.down_to, self.limit = model, down_to, limit
        self.low, self.ii = low, high
        self.exact = low == high
        self.phased = model.phased and self.exact
        # Of a range of II, only schedules of the depth asked for are excluded.
        self.cut = deepest(model, high) if self.exact else depth_at_most
        if depth_at_most is not None:
            self.cut = min(self.cut, depth_at_most)
        self.nodes = self.rounds = 0
        self.best: tuple[int, ...] = ()
        self.bound = 0  # depth that nothing at this II goes below
        n = model.n
        self.origin, self.source, self.sink = n, n + 1, n + 2
        self.turn = high if self.exact else 4 * (self.cut + high + 1)
        span = (self.cut + self.turn + 1) * 4
        self.kind = np.int64 if span < WIDE else object
        self.none = -4 * span
        ordered = {t for pair in model.pipe_order + model.stage_order for t in pair}
        self.phase_of = {t: n + 3 + k for k, t in enumerate(sorted(ordered))} if self.phased else {}
        pairs = [(p.i, p.j, p.after_i, p.after_j) for p in model.pairs]
        pairs += [
            (self.phase_of[i], self.phase_of[j], g, h)
            for i, j, g, h in pairs
            if i in self.phase_of and j in self.phase_of
        ]
        self.i = np.array([p[0] for p in pairs], dtype=np.intp)
        self.j = np.array([p[1] for p in pairs], dtype=np.intp)
        self.g = np.array([p[2] for p in pairs], dtype=self.kind)
        self.h = np.array([p[3] for p in pairs], dtype=self.kind)
        self.tied = [arc for arc in model.arcs if arc.buffer is not None]

    def run(self) -> Outcome:
        try:
            proven = self._search()
        except _OutOfRounds:
            status = Status.FOUND if self.best else Status.UNKNOWN
            return self._outcome(status, self.bound, False)
        if not self.best:
            return self._outcome(Status.REFUTED, 0, False)
        return self._outcome(Status.FOUND, self.bound, proven)

    def _search(self) -> bool:
        """Leaves the best starts in ``best``; returns whether nothing shallower is asked for."""
        root = self._root()
        if root is None or not self._propagate(root):
            return False
        self.bound = int(root.d[self.source, self.sink])
        stack = [root]
        while stack:
            self.nodes += 1
            state = stack.pop()
            if not state.insert(self.sink, self.source, -self.cut) or not self._propagate(state):
                continue
            starts = self._leaf(state)
            if starts is None:
                stack.extend(self._split(state))
                continue
            self.best = starts
            depth = self.model.depth(starts)
            enough = max(self.bound, self.down_to or 0)
            if self.down_to is None or depth <= enough:
                return depth <= enough
            self.cut = depth - 1
            stack.append(state)
        if self.best:
            self.bound = self.model.depth(self.best)
        return True

    def _outcome(self, status: Status, bound: int, proven: bool) -> Outcome:
        used = max(1, self.rounds) / _limit(self.model, 1.0)
        work = Work(nodes=max(1, self.nodes))
        return Outcome(status, self.best, proven, bound, used, work)

    def _root(self) -> _State | None:
        model, ii, n = self.model, self.ii, self.model.n
        size = n + 3 + len(self.phase_of)
        d = np.full((size, size), self.none, dtype=self.kind)
        rows = [(t, t, 0) for t in range(size)]
        rows += [(self.source, t, 0) for t in range(n)]
        rows += [(t, self.sink, model.latency[t]) for t in range(n)]
        rows.append((self.sink, self.source, -self.cut))
        for arc in model.arcs:
            distance = arc.distance if arc.buffer is None else model.most[arc.buffer]
            kindest = ii if distance >= 0 else self.low
            rows.append((arc.src, arc.dst, arc.latency - distance * kindest))
        rows += [(arc.src, arc.dst, 1 - ii) for arc in model.window_arcs()]
        if self.phased:  # stages count from zero and the first task is in stage 0
            rows += [(self.origin, self.source, 0), (self.source, self.origin, 1 - ii)]
            for task, phase in self.phase_of.items():
                rows += [(self.origin, phase, 0), (phase, self.origin, 1 - ii), (phase, task, 0)]
            for a, b in model.pipe_order:
                rows.append((self.phase_of[a], self.phase_of[b], 0))
        for u, v, weight in rows:
            if weight > d[u, v]:
                d[u, v] = weight
        state = _State(d, list(model.least), list(model.most))
        if len(self.i) and bool((self.g + self.h > self.ii).any()):
            return None
        if max(model.interval) > ii:
            return None
        return state if self._close(state) else None

    def _close(self, state: _State) -> bool:
        """All-pairs longest paths; False if there is a positive cycle."""
        d = state.d
        for k in range(len(d)):
            np.maximum(d, d[:, k][:, None] + d[k][None, :], out=d)
            if d[k, k] > 0:
                return False
        np.maximum(d, self.none, out=d)
        return bool((d.diagonal() <= 0).all())

    def _propagate(self, state: _State) -> bool:
        while True:
            if self.rounds >= self.limit:
                raise _OutOfRounds
            self.rounds += 1
            changes = self._snap(state)
            if changes is None or not self._apply(state, changes):
                return False
            more = self._versions(state)
            if more is None:
                return False
            phases = self._phases(state) if self.phased else []
            if phases is None or not self._apply(state, more + phases):
                return False
            if not changes and not more and not phases:
                return True

    def _apply(self, state: _State, changes: list[tuple[int, int, int]]) -> bool:
        self.rounds += min(len(changes), len(state.d)) // CHANGES_PER_ROUND
        if len(changes) <= len(state.d):
            return all(state.insert(u, v, weight) for u, v, weight in changes)
        for u, v, weight in changes:
            if weight > state.d[u, v]:
                state.d[u, v] = weight
        return self._close(state)

    def _snap(self, state: _State) -> list[tuple[int, int, int]] | None:
        """Moves both ends of every pair's difference to the nearest allowed values inside."""
        if not len(self.i):
            return []
        low, high = state.d[self.i, self.j], -state.d[self.j, self.i]
        g, h, ii = self.g, self.h, self.turn
        m = (low - g) // ii  # the last interval that starts at or before low
        new_low = np.where(low > (m + 1) * ii - h, (m + 1) * ii + g, low)
        m = -((-(high + h)) // ii) - 1  # the first interval that ends at or after high
        new_high = np.where(high < m * ii + g, m * ii - h, high)
        if bool((new_low > new_high).any()):
            return None
        up, down = np.nonzero(new_low > low)[0], np.nonzero(new_high < high)[0]
        changes = [(int(self.i[p]), int(self.j[p]), int(new_low[p])) for p in up]
        return changes + [(int(self.j[p]), int(self.i[p]), -int(new_high[p])) for p in down]

    def _versions(self, state: _State) -> list[tuple[int, int, int]] | None:
        """Raises the least counts to what the bounds demand, lowers the most to what is left."""
        d, ii, least, most = state.d, self.ii, state.least, state.most
        for arc in self.tied:
            need = -(-(arc.latency + int(d[arc.dst, arc.src])) // ii)
            if need > least[arc.buffer]:
                least[arc.buffer] = need
                if need > most[arc.buffer]:
                    return None
        lowered = set()
        for group in self.model.problem.memory_groups:
            sizes = [self.model.problem.buffers[b].size for b in group.buffers]
            free = group.capacity - sum(
                s * least[b] for s, b in zip(sizes, group.buffers, strict=True)
            )
            if group.buffers and free < 0:
                return None
            for size, b in zip(sizes, group.buffers, strict=True):
                if size and least[b] + free // size < most[b]:
                    most[b] = least[b] + free // size
                    lowered.add(b)
        return [
            (arc.src, arc.dst, arc.latency - most[arc.buffer] * ii)
            for arc in self.tied
            if arc.buffer in lowered
        ]

    def _stage_range(self, state: _State, task: int) -> tuple[int, int]:
        """The stages a start may still be in: it is its phase plus a multiple of II."""
        phase = self.phase_of[task]
        low, high = int(state.d[phase, task]), -int(state.d[task, phase])
        return -(-low // self.ii), high // self.ii

    def _phases(self, state: _State) -> list[tuple[int, int, int]] | None:
        """Snaps starts to whole stages above their phases and keeps the stage order."""
        ranges = {task: self._stage_range(state, task) for task in self.phase_of}
        for low, high in self.model.stage_order:
            ranges[high] = max(ranges[high][0], ranges[low][0]), ranges[high][1]
            ranges[low] = ranges[low][0], min(ranges[low][1], ranges[high][1])
        changes = []
        for task, (low, high) in ranges.items():
            if low > high:
                return None
            phase = self.phase_of[task]
            if low * self.ii > state.d[phase, task]:
                changes.append((phase, task, low * self.ii))
            if -high * self.ii > state.d[task, phase]:
                changes.append((task, phase, -high * self.ii))
        return changes

    def _leaf(self, state: _State) -> tuple[int, ...] | None:
        """The earliest starts, if they happen to keep everything."""
        model, ii = self.model, self.ii
        starts = state.d[self.source, : model.n]
        count = len(model.pairs)  # the pairs of phases come after those of starts
        if count:
            x = starts[self.j[:count]] - starts[self.i[:count]]
            m = (x - self.g[:count]) // self.turn
            if bool((x > (m + 1) * self.turn - self.h[:count]).any()):
                return None
        values = [int(s) for s in starts]
        if self.tied and model.overdrawn(model.needed_versions(values, ii)) is not None:
            return None
        if model.anchored and self.exact:
            grid = int(state.d[self.source, self.origin])
            values = [s - grid for s in values]
            for low, high in model.stage_order:
                if values[low] // ii > values[high] // ii:
                    return None
            if any(values[a] % ii > values[b] % ii for a, b in model.pipe_order):
                return None
        return tuple(values)

    def _split(self, state: _State) -> list[_State]:
        """Children in the order they should be popped last to first."""
        choices = self._pair_split(state) or self._version_split(state) or self._stage_split(state)
        assert choices, "nothing left to decide, yet the earliest starts are not a schedule"
        children = []
        for changes, caps in reversed(choices):
            child = state.copy()
            for b, (least, most) in caps.items():
                child.least[b], child.most[b] = least, most
            if all(child.insert(u, v, weight) for u, v, weight in changes):
                children.append(child)
        return children

    def _pair_split(self, state: _State) -> list | None:
        if not len(self.i):
            return None
        ii, g, h = self.turn, self.g, self.h
        low, high = state.d[self.i, self.j], -state.d[self.j, self.i]
        first, last = (low - g) // ii, (high - g) // ii
        open_ = np.nonzero(first < last)[0]
        if not len(open_):
            return None
        starts = state.d[self.source]
        x = starts[self.j] - starts[self.i]
        m = np.minimum(np.maximum((x - g) // ii, first), last - 1)
        slack_a, slack_b = (m + 1) * ii - h - low, high - (m + 1) * ii - g
        tight = slack_a + slack_b
        p = int(open_[np.argmin(tight[open_])])
        i, j, turn = int(self.i[p]), int(self.j[p]), int(m[p]) + 1
        i_late = ([(j, i, int(h[p]) - turn * ii)], {})
        j_late = ([(i, j, turn * ii + int(g[p]))], {})
        return [i_late, j_late] if slack_a[p] >= slack_b[p] else [j_late, i_late]

    def _version_split(self, state: _State) -> list | None:
        for b, (least, most) in enumerate(zip(state.least, state.most, strict=True)):
            if least < most:
                changes = [
                    (arc.src, arc.dst, arc.latency - least * self.ii)
                    for arc in self.tied
                    if arc.buffer == b
                ]
                return [(changes, {b: (least, least)}), ([], {b: (least + 1, most)})]
        return None

    def _stage_split(self, state: _State) -> list | None:
        for task, phase in self.phase_of.items():
            low, high = self._stage_range(state, task)
            if low < high:
                early = ([(task, phase, -low * self.ii)], {})
                late = ([(phase, task, (low + 1) * self.ii)], {})
                return [early, late]
        return None
