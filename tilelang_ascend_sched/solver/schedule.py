"""A schedule while it is being worked on, and what can be made of the choices in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .model import Arc, Model
from .paths import NEG, Graph, settled_arcs


@dataclass(frozen=True)
class Schedule:
    """Starts at one II with the least version counts they need."""

    starts: tuple[int, ...]
    ii: int
    versions: tuple[int, ...]
    depth: int
    bytes: int

    def key(self, weight: int | None) -> tuple[int, ...]:
        """Smaller is better. ``weight`` is trips - 1, or None for II first, then depth."""
        first = (self.ii, self.depth) if weight is None else (self.time(weight), self.ii)
        return *first, self.bytes

    def time(self, weight: int) -> int:
        """Cycles of a loop of weight + 1 iterations."""
        return weight * self.ii + self.depth


def make_schedule(model: Model, starts: Sequence[int], ii: int) -> Schedule:
    """Brings starts to their canonical place: from 0 on, or on the stage grid from stage 0 on."""
    low = min(starts)
    if model.stages is None:
        shift = low // ii * ii if model.anchored else low
        starts = [s - shift for s in starts]
    versions = tuple(model.needed_versions(starts, ii))
    return Schedule(tuple(starts), ii, versions, model.depth(starts), model.bytes(versions))


def settle(
    model: Model,
    starts: Sequence[int],
    ii: int,
    versions: Sequence[int],
    *,
    lowest: int,
    weight: int | None,
    extra: Iterable[Arc] = (),
) -> Schedule:
    """The best schedule that keeps every choice these starts made.

    With orders, stages and version counts given, all constraints are arcs: the least II is a
    critical cycle and the depth a longest path, both exact. The depth is convex in II, so with
    ``weight`` (trips - 1) the best II is where its slope crosses that weight.
    """
    graph = Graph(model, versions, [*settled_arcs(model, starts, ii), *extra])
    if model.fixed_ii is None:
        found = graph.least_ii(lowest)
        assert isinstance(found, tuple) and found[0] <= ii, "the schedule breaks its own order"
        ii = found[0] if weight is None else balanced_ii(graph, found[0], weight)
    found = graph.longest(ii)
    assert isinstance(found, tuple)
    early = found[0]
    grid = early[model.origin] if model.anchored else 0
    assert grid > NEG
    return make_schedule(model, [s - grid for s in early[: model.n]], ii)


def balanced_ii(graph: Graph, low: int, weight: int) -> int:
    """The II with the least weight * II + depth, given that ``low`` is the least II."""
    step, high = 1, low
    while _falls(graph, high, weight):
        low, high, step = high + 1, high + step, 2 * step
    while low < high:
        middle = (low + high) // 2
        if _falls(graph, middle, weight):
            low = middle + 1
        else:
            high = middle
    return low


def _falls(graph: Graph, ii: int, weight: int) -> bool:
    """Whether one cycle more of II saves more depth than it costs."""
    here, there = _depth(graph, ii), _depth(graph, ii + 1)
    return here is not None and there is not None and weight + there - here < 0


def _depth(graph: Graph, ii: int) -> int | None:
    found = graph.longest(ii)
    if not isinstance(found, tuple):
        return None
    model = graph.model
    return max(s + lat for s, lat in zip(found[0], model.latency, strict=False))
