"""Closes the gap between the best II found and the best II proven."""

from __future__ import annotations

from .bounds import depth_bound
from .engine import Outcome, Status, deepest
from .model import Model
from .paths import Graph
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
        reply = _ask_shallow_first(run, probe)
        if reply.status is Status.REFUTED:
            run.raise_lower_ii(probe + 1, f"no schedule has an interval of {probe}")
        if reply.status is not Status.FOUND:
            floor = max(floor, probe + 1)
        if floor > ceiling or not any(left > 0 for left in run.left.values()):
            return


def _ask_shallow_first(run: Run, ii: int) -> Outcome:
    """Looks for a schedule of few stages first: it is easier to find, and the better one."""
    model, engines = run.model, None
    shallow = depth_bound(model, ii).value + 2 * ii if _above_recurrences(model, ii) else 0
    if model.stages is None and shallow < deepest(model, ii):
        reply = run.ask(ii, depth_at_most=shallow, share=0.25)
        if reply.status is Status.FOUND:
            return reply
        if reply.status is Status.UNKNOWN:
            engines = 1  # the others would know even less without the limit on depth
    return run.ask(ii, share=0.25, engines=engines)


def _above_recurrences(model: Model, ii: int) -> bool:
    return isinstance(Graph(model, model.most).longest(ii), tuple)


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
