"""A problem as the engines see it: arcs, exclusive pairs, windows and version limits.

Everything that orders two starts is an Arc: start(dst) >= start(src) + latency - distance * II.
Everything exclusive is a Pair around the circle of one II. Node ``origin`` stands for the start
of the stage grid; it is used only where stages or issue phases are constrained.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from .problem import ScheduleProblem, serial_length


@dataclass(frozen=True)
class Arc:
    """One ordered constraint; ``why`` is (kind, row) for messages, kind an attribute's name."""

    src: int
    dst: int
    latency: int
    distance: int = 0
    buffer: int | None = None
    why: tuple[str, int] = ("", 0)


@dataclass(frozen=True)
class Pair:
    """Phases of ``i`` and ``j`` keep ``after_i`` and ``after_j`` cycles around the circle."""

    i: int
    j: int
    after_i: int
    after_j: int
    why: tuple[str, int] = ("", 0)


class Model:
    """The compiled problem. Nodes: tasks, then the origin."""

    def __init__(self, problem: ScheduleProblem) -> None:
        self.problem = problem
        self.n = len(problem.tasks)
        self.origin = self.n
        self.region = problem.kind == "region"
        self.latency = [t.latency for t in problem.tasks]
        self.interval = [t.interval for t in problem.tasks]
        self.serial = serial_length(problem) * (max(problem.policy.manual_stages or (0,)) + 1)
        self.stages = None if self.region else problem.policy.manual_stages
        self.arcs = _edge_arcs(problem)
        self.pairs = _pairs(problem)
        self.cliques = [(i, r.tasks) for i, r in enumerate(problem.resources) if len(r.tasks) > 1]
        self.windows = self._windows()
        self.pipe_order: tuple[tuple[int, int], ...] = ()
        self.stage_order: tuple[tuple[int, int], ...] = ()
        self._compile_policy()
        self.least = [b.versions or 1 for b in problem.buffers]
        self.most = [b.versions or problem.policy.max_versions for b in problem.buffers]
        self._limit_versions()
        # A region is a loop whose II is so long that nothing ever wraps around.
        self.fixed_ii = 2 * self.serial if self.region else None
        self.shortest_ii = self.fixed_ii or max(self.interval)

    @property
    def phased(self) -> bool:
        """Whether stages or phases are constrained but not given: they must be searched."""
        return bool(self.pipe_order or self.stage_order)

    @property
    def anchored(self) -> bool:
        """Whether the place of the stage grid matters."""
        return self.phased or self.stages is not None

    @property
    def monotone(self) -> bool:
        """Whether a schedule at some II proves that every larger II has one too.

        Keeping stages and phases while II grows keeps every constraint whose latency is not
        negative.
        """
        return all(arc.latency >= 0 for arc in self.arcs)

    def _windows(self) -> list[tuple[str, tuple[int, ...]]]:
        if self.region or self.problem.policy.allow_offset:
            return []
        users: dict[str, list[int]] = {}
        for i, task in enumerate(self.problem.tasks):
            for pipe in dict.fromkeys(task.pipes):
                users.setdefault(pipe, []).append(i)
        return [(pipe, tuple(users[pipe])) for pipe in sorted(users) if len(users[pipe]) > 1]

    def _compile_policy(self) -> None:
        policy = self.problem.policy
        if self.region:
            for row, (a, b) in enumerate(policy.pipe_order):
                self.arcs.append(Arc(a, b, 0, 0, None, ("pipe_order", row)))
            return
        if self.stages is None:
            self.pipe_order = tuple(dict.fromkeys((a, b) for a, b in policy.pipe_order if a != b))
            self.stage_order = tuple(dict.fromkeys((a, b) for a, b in policy.stage_order if a != b))
            return
        k = self.stages
        for i, stage in enumerate(k):
            why = ("manual_stages", i)
            self.arcs.append(Arc(self.origin, i, 0, -stage, None, why))
            self.arcs.append(Arc(i, self.origin, 1, stage + 1, None, why))
        for row, (a, b) in enumerate(policy.pipe_order):
            self.arcs.append(Arc(a, b, 0, k[a] - k[b], None, ("pipe_order", row)))
        for row, (a, b) in enumerate(policy.stage_order):
            if k[a] > k[b]:  # a contradiction no II resolves: an impossible arc says so
                self.arcs.append(Arc(a, a, 1, 0, None, ("stage_order", row)))

    def _limit_versions(self) -> None:
        """Caps each buffer at what fits when every other one has its least count."""
        for group in self.problem.memory_groups:
            used = sum(self.problem.buffers[b].size * self.least[b] for b in group.buffers)
            for b in group.buffers:
                size = self.problem.buffers[b].size
                if size:
                    fit = self.least[b] + max(0, group.capacity - used) // size
                    self.most[b] = min(self.most[b], fit)

    def overdrawn(self, versions: Sequence[int]) -> int | None:
        """The first memory group that these version counts overflow."""
        for row, group in enumerate(self.problem.memory_groups):
            used = sum(self.problem.buffers[b].size * versions[b] for b in group.buffers)
            if group.buffers and used > group.capacity:
                return row
        return None

    @cached_property
    def window_tails(self) -> list[list[int]]:
        """For each window and task in it, cycles that surely pass before its next round starts.

        Two tasks of one window that also exclude each other cannot merely start within one II: the
        later one must have left before the earlier one comes again.
        """
        gaps: dict[tuple[int, int], int] = {}
        for pair in self.pairs:
            gaps[pair.i, pair.j] = max(pair.after_i, gaps.get((pair.i, pair.j), 1))
            gaps[pair.j, pair.i] = max(pair.after_j, gaps.get((pair.j, pair.i), 1))
        return [
            [min(gaps.get((a, b), 1) for b in tasks if b != a) for a in tasks]
            for _, tasks in self.windows
        ]

    def window_arcs(self) -> Iterator[Arc]:
        """The one-II windows as arcs between every two tasks of a pipe."""
        for row, (_, tasks) in enumerate(self.windows):
            for a in tasks:
                for b in tasks:
                    if a != b:
                        yield Arc(a, b, 1, 1, None, ("windows", row))

    def needed_versions(self, starts: Sequence[int], ii: int) -> list[int]:
        """The least version counts with which these starts keep every edge."""
        need = list(self.least)
        for arc in self.arcs:
            if arc.buffer is not None:
                wait = arc.latency + starts[arc.src] - starts[arc.dst]
                need[arc.buffer] = max(need[arc.buffer], -(-wait // ii))
        return need

    def depth(self, starts: Sequence[int]) -> int:
        """Cycles from the first start to the last result of one iteration."""
        return max(s + lat for s, lat in zip(starts, self.latency, strict=True)) - min(starts)

    def bytes(self, versions: Sequence[int]) -> int:
        """On-chip memory that these version counts take."""
        return sum(b.size * v for b, v in zip(self.problem.buffers, versions, strict=True))


def _edge_arcs(problem: ScheduleProblem) -> list[Arc]:
    """The edges, of equal ones only the one with the longest latency."""
    best: dict[tuple[int, int, int, int | None], Arc] = {}
    for row, edge in enumerate(problem.edges):
        key = edge.src, edge.dst, edge.distance, edge.buffer
        if key not in best or best[key].latency < edge.latency:
            distance = 0 if edge.buffer is not None else edge.distance
            arc = Arc(edge.src, edge.dst, edge.latency, distance, edge.buffer, ("edges", row))
            best[key] = arc
    return list(best.values())


def _pairs(problem: ScheduleProblem) -> list[Pair]:
    """Exclusive pairs, merged per pair where that is exact.

    Gaps of zero are kept apart: with one, equal phases are allowed whichever task counts as first,
    which the larger of two gaps would forbid.
    """
    merged: dict[tuple[int, int], Pair] = {}
    apart: dict[tuple[int, int, int, int], Pair] = {}

    def add(i: int, j: int, after_i: int, after_j: int, why: tuple[str, int]) -> None:
        if i > j:
            i, j, after_i, after_j = j, i, after_j, after_i
        if min(after_i, after_j) == 0:
            if max(after_i, after_j) > 0:
                apart.setdefault((i, j, after_i, after_j), Pair(i, j, after_i, after_j, why))
            return
        old = merged.get((i, j))
        if old is not None:
            if after_i <= old.after_i and after_j <= old.after_j:
                return
            after_i, after_j = max(after_i, old.after_i), max(after_j, old.after_j)
        merged[i, j] = Pair(i, j, after_i, after_j, why)

    for row, resource in enumerate(problem.resources):
        for a, i in enumerate(resource.tasks):
            for j in resource.tasks[a + 1 :]:
                gaps = problem.tasks[i].interval, problem.tasks[j].interval
                add(i, j, *gaps, ("resources", row))
    for row, pair in enumerate(problem.exclusions):
        add(pair.first, pair.second, pair.gap_forward, pair.gap_backward, ("exclusions", row))
    return [merged[key] for key in sorted(merged)] + [apart[key] for key in sorted(apart)]
