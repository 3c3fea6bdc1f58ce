"""Finds good schedules fast: places at rising II, then tightens what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .model import Model
from .modulo import place, placements
from .paths import Cycle, Graph
from .schedule import Schedule, settle

SMALL = 60  # up to this many tasks, exact engines close what gap is left sooner
PATIENCE = 18  # placements per task and II
MAX_FAILURES = 6
MOST_GROWTH = 64  # versions handed out one by one along recurrences


@dataclass
class Search:
    """The best schedule so far and the placements spent on it."""

    best: Schedule | None = None
    spent: int = 0


def version_choices(model: Model) -> list[tuple[int, ...]]:
    """Version counts worth trying: all at their most if that fits, else grown along recurrences.

    Where capacity is short, versions go to the buffers on the critical recurrence, first the one
    whose next version is smallest.
    """
    if model.overdrawn(model.most) is None:
        return [tuple(model.most)]
    counts = list(model.least)
    choices = [fill_versions(model, counts)]
    for _ in range(MOST_GROWTH):
        found = Graph(model, counts).least_ii(model.shortest_ii)
        if isinstance(found, Cycle) or found[3] is None:
            break
        on_cycle = {arc.buffer for arc in found[3].arcs if arc.buffer is not None}
        sizes = [b.size for b in model.problem.buffers]
        grown = False
        for b in sorted(on_cycle, key=lambda b: (sizes[b], b)):
            if counts[b] < model.most[b]:
                counts[b] += 1
                if model.overdrawn(counts) is None:
                    grown = True
                    break
                counts[b] -= 1
        if not grown:
            break
    choices.append(fill_versions(model, counts))
    return list(dict.fromkeys(reversed(choices)))


def fill_versions(model: Model, counts: Sequence[int]) -> tuple[int, ...]:
    """Spreads what capacity is left: evenly as far as that goes, then one more in buffer order."""

    def level(height: int) -> list[int]:
        pairs = zip(counts, model.most, strict=True)
        return [max(count, min(most, height)) for count, most in pairs]

    low, high = 1, max(model.most, default=1)
    while low < high:
        middle = (low + high + 1) // 2
        if model.overdrawn(level(middle)) is None:
            low = middle
        else:
            high = middle - 1
    filled = level(low)
    for b in range(len(filled)):
        if filled[b] < model.most[b]:
            filled[b] += 1
            if model.overdrawn(filled) is not None:
                filled[b] -= 1
    return tuple(filled)


def search(model: Model, lowest: int, budget: int) -> Search:
    """The schedule with the least II, or the shortest region, that the placements find."""
    result = Search()
    if model.fixed_ii is not None:
        _try_all(model, model.fixed_ii, budget, result)
        return result
    for versions in version_choices(model):
        found = Graph(model, versions).least_ii(lowest)
        if isinstance(found, Cycle):
            continue
        floor = found[0]
        if result.best is None or floor < result.best.ii:
            _climb(model, versions, floor, lowest, budget, result)
        if result.best is not None and result.best.ii == lowest:
            break
    return result


def _try_all(model: Model, ii: int, budget: int, result: Search) -> None:
    """In a region every order of placing leads to a schedule: the shortest counts."""
    for starts, spent in placements(model, model.least, ii, budget):
        result.spent += spent
        if starts is None:
            continue
        tight = settle(model, starts, ii, model.least, lowest=ii, weight=None)
        if result.best is None or tight.key(None) < result.best.key(None):
            result.best = tight


def _climb(
    model: Model, versions: Sequence[int], floor: int, lowest: int, budget: int, result: Search
) -> None:
    effort = PATIENCE * (model.n + 4)
    ii, step, failures = floor, max(1, floor // 256), 0
    ceiling = 2 * model.serial
    while result.spent < budget and ii <= ceiling:
        if result.best is not None and (ii >= result.best.ii or failures > MAX_FAILURES):
            return
        starts, spent = place(model, versions, ii, min(effort, budget - result.spent))
        result.spent += spent
        if starts is None:
            failures += 1
            ii, step = ii + step, step * 2
            if result.best is not None and ii >= result.best.ii:
                return
            continue
        tight = settle(model, starts, ii, versions, lowest=lowest, weight=None)
        if result.best is None or tight.key(None) < result.best.key(None):
            result.best = tight
        if tight.ii <= floor or model.n <= SMALL:
            return
        # Look once more just below what was found, from the floor up in larger steps.
        gap = tight.ii - floor
        ii, step = floor + gap // 2, max(1, gap // 8)
        failures += 1
