"""The bound that short memory puts on II: recurrences need versions, and versions need bytes."""

from __future__ import annotations

from .answer import Bound
from .model import Model
from .paths import Graph


def capacity_bound(model: Model, lowest: int) -> Bound | None:
    """The shortest II >= lowest whose least version counts fit every memory group.

    The count of one buffer is the least that leaves no recurrence above II with all others at
    their most. None if memory forces nothing.
    """
    if model.overdrawn(model.most) is None or not model.monotone:
        return None
    ample = 2 * model.serial
    if _short(model, lowest) is None or _short(model, ample) is not None:
        return None
    low, high = lowest, ample  # low does not fit, high does
    while high - low > 1:
        middle = (low + high) // 2
        if _short(model, middle) is None:
            high = middle
        else:
            low = middle
    short = _short(model, low)
    assert short is not None
    group, counts = short
    row = model.problem.memory_groups[group]
    used = sum(model.problem.buffers[b].size * counts[b] for b in row.buffers)
    asked = ", ".join(f"{model.problem.buffers[b].name} in {counts[b]}" for b in row.buffers)
    reason = f"any shorter interval needs {used} of {row.capacity} bytes in {row.name}: {asked}"
    versions = tuple(counts[b] for b in row.buffers)
    return Bound(high, "capacity", reason, (), row.buffers, versions)


def _short(model: Model, ii: int) -> tuple[int, list[int]] | None:
    """The first memory group that the least counts at this II overflow, and those counts."""
    counts = least_counts(model, ii)
    group = model.overdrawn(counts)
    return None if group is None else (group, counts)


def least_counts(model: Model, ii: int) -> list[int]:
    """Per buffer the least versions that recurrences at this II leave it, others at their most."""
    counts = list(model.least)
    for b in range(len(counts)):
        low, high = model.least[b], model.most[b]
        while low < high:
            middle = (low + high) // 2
            if _keeps(model, ii, b, middle):
                high = middle
            else:
                low = middle + 1
        counts[b] = low
    return counts


def _keeps(model: Model, ii: int, buffer: int, count: int) -> bool:
    versions = list(model.most)
    versions[buffer] = count
    return isinstance(Graph(model, versions).longest(ii), tuple)
