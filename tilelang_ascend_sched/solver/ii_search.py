"""Closes the gap between the best II found and the best II proven."""

from __future__ import annotations

from .engine import Status
from .run import Run

SCAN = 64  # II values tried one by one where feasibility is not monotone in II


def least_ii(run: Run) -> None:
    """Improves ``run.best`` and ``run.lower_ii`` until they meet or the effort is spent."""
    if run.model.monotone:
        _bisect(run)
    else:
        _scan(run)


def _bisect(run: Run) -> None:
    """Asks at the bound, just below the best, then halves what is left.

    The bound is often reached, the best often cannot be beaten, and each settles the matter at
    once; tightening what is found usually makes later steps unnecessary too.
    """
    floor = run.lower_ii  # below this, asking again would not help
    ceiling = 2 * run.model.serial
    probes = [floor, None]
    while run.best is None or floor < run.best.ii:
        top = run.best.ii if run.best is not None else ceiling + 1
        probe = probes.pop(0) if probes else (floor + top - 1) // 2
        probe = top - 1 if probe is None else max(probe, floor)
        if probe >= top:
            continue
        reply = run.ask(probe, share=0.3)
        if reply.status is Status.REFUTED:
            run.raise_lower_ii(probe + 1, f"no schedule has an interval of {probe}")
        if reply.status is not Status.FOUND:
            floor = max(floor, probe + 1)
        if floor > ceiling or not any(left > 0 for left in run.left.values()):
            return


def _scan(run: Run) -> None:
    """With negative latencies a shorter II may work where a longer one does not."""
    ii = run.lower_ii
    for _ in range(SCAN):
        if run.best is not None and ii >= run.best.ii:
            return
        reply = run.ask(ii, share=0.1)
        if reply.status is Status.REFUTED and ii == run.lower_ii:
            run.raise_lower_ii(ii + 1, f"no schedule has an interval of {ii}")
        ii += 1
    if run.best is None:
        while ii <= 2 * run.model.serial and run.best is None:
            run.ask(ii, share=0.1)
            ii += max(1, ii // 16)
