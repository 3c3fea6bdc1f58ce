"""The shallowest schedule at one II, and the least time of a whole loop over all II."""

from __future__ import annotations

from .answer import Work
from .balance import balance
from .bounds import depth_bound
from .branch import BranchAndBound
from .engine import Status
from .modulo import placements
from .paths import Graph
from .run import Run

RANGES = 40  # ranges of II looked at
ROOM = (64, 32, 16, 8, 4, 2)  # the parts of II by which it is made longer


def least_depth(run: Run, *, engines: int | None = None, share: float = 0.3) -> int:
    """Makes the best schedule as shallow as its II allows; returns a proven lower bound."""
    assert run.best is not None
    ii = run.best.ii
    floor = bound = depth_bound(run.model, ii).value
    target = bound  # halving reaches a good depth sooner than improving step by step
    while target < run.best.depth - run.best.depth // 16 and run.best.ii == ii:
        middle = (target + run.best.depth) // 2
        reply = run.ask(ii, depth_at_most=middle, share=0.05, engines=1)
        if reply.status is Status.FOUND:
            continue
        if reply.status is Status.REFUTED:
            bound = max(bound, middle + 1)
        target = middle + 1
    if run.best.ii == ii and run.best.depth > bound:
        below = run.best.depth - 1
        reply = run.ask(ii, depth_at_most=below, down_to=floor, share=share, engines=engines)
        bound = max(bound, reply.depth_bound)
        if reply.status is Status.REFUTED or (reply.status is Status.FOUND and reply.proven):
            bound = run.best.depth
    run.depth_proven = run.best.ii == ii and run.best.depth <= bound
    return bound


def least_time(run: Run, weight: int) -> int:
    """Minimises weight * II + depth; returns a proven lower bound on it.

    A longer II pays only if it saves more depth than it costs, so II is bounded by the depth no
    schedule goes below; ranges of II that cannot win are excluded whole, and what is left is
    searched by turns.
    """
    assert run.best is not None
    model = run.model
    least_depth(run, engines=1)
    run.depth_floor = depth_bound(model, None).value
    run.weigh(weight)
    _place_roomier(run, weight)
    free = not any(model.stages or ())
    ample = 2 * model.serial
    if free and run.best.time(weight) > weight * run.lower_ii + run.depth_floor:
        # Where nothing wraps around, the iteration is as short as it ever gets.
        reply = run.ask(ample, down_to=run.depth_floor, share=0.2, engines=1)
        if reply.status is Status.FOUND:
            run.depth_floor = max(run.depth_floor, reply.depth_bound)
    lower = _exclude_ranges(run, weight, ample)
    if lower < run.best.time(weight) and run.engines:
        lower = max(lower, balance(run))
    if weight == 0:
        _shorten(run)
    return min(lower, run.best.time(weight))


def _place_roomier(run: Run, weight: int) -> None:
    """Places once more at some longer II: a little room often saves much depth."""
    model, least = run.model, run.lower_ii
    if any(model.stages or ()):
        return
    for ii in [least + least // part for part in ROOM if least >= part] + [2 * model.serial]:
        if run.best is None or weight * ii + run.depth_floor >= run.best.time(weight):
            return
        versions = run.roomy_versions(tuple(model.least))
        if not isinstance(Graph(model, versions).longest(ii), tuple):
            continue
        for starts, used in placements(model, versions, ii, 60 * (model.n + 4)):
            run.work += Work(placements=used)
            if starts is not None:
                run.offer_starts(tuple(starts), ii, "heuristic")


def _exclude_ranges(run: Run, weight: int, ample: int) -> int:
    """Visits ranges of II, short ones first; returns the bound that is left at the end."""
    branch = BranchAndBound()
    able = any(engine.name == branch.name for engine in run.engines)
    assert run.best is not None
    stack, unknown = [(run.lower_ii, ample)], []
    for _ in range(RANGES if able else 0):
        if not stack or run.left[branch.name] <= 0:
            break
        low, high = stack.pop()
        goal = run.best.time(weight) - 1
        if weight:
            high = min(high, (goal - run.depth_floor) // weight)
        depth = goal - weight * low
        if low > high or depth < run.depth_floor:
            continue
        if low == high:
            floor = run.depth_floor
            reply = run.ask(low, depth_at_most=depth, down_to=floor, share=0.05, engines=1)
            if reply.status is not Status.REFUTED and not reply.proven:
                unknown.append(weight * low + max(run.depth_floor, reply.depth_bound))
            continue
        reply = branch.exclude(run.model, low, high, depth=depth, effort=0.02 * run.effort)
        run.left[branch.name] -= reply.effort
        run.work += reply.work
        if reply.status is not Status.REFUTED:
            middle = (low + high) // 2
            stack += [(middle + 1, high), (low, middle)]
    unknown += [weight * low + run.depth_floor for low, _ in stack]
    return min(unknown, default=run.best.time(weight))


def _shorten(run: Run) -> None:
    """A loop of one trip does not care for II; takes a short one all the same."""
    assert run.best is not None
    low = run.lower_ii
    while low < run.best.ii:
        middle = (low + run.best.ii - 1) // 2
        reply = run.ask(middle, depth_at_most=run.best.depth, share=0.05, engines=1)
        if reply.status is not Status.FOUND:
            low = middle + 1
