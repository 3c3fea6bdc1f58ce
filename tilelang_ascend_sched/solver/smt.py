"""z3 as an exact engine, and the constraints of one II as SMT-LIB text.

Every question has its own z3 context, a fixed seed and a limit in z3's resource counter.
"Unknown" stays unknown.
"""

from __future__ import annotations

import threading
from typing import Any

from .answer import Work
from .engine import Outcome, Status, deepest
from .model import Model

RLIMIT_PER_EFFORT = 3_000_000
_one_at_a_time = threading.Lock()  # z3 contexts are apart, its resource counters are not


class Z3:
    """Counts in integers of any size, so nothing is too wide for it."""

    name = "z3"

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

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
        import z3

        cut = deepest(model, ii)
        if depth_at_most is not None:
            cut = min(cut, depth_at_most)
        if cut < max(model.latency) or ii < max(model.interval):
            return Outcome(Status.REFUTED)
        limit = max(1, int(RLIMIT_PER_EFFORT * effort))
        best: tuple[int, ...] = ()
        spent = 0
        with _one_at_a_time:
            solver = z3.Solver(ctx=z3.Context())
            solver.set("random_seed", self.seed)
            starts = encode(solver, model, ii)
            if down_to is not None or depth_at_most is not None:
                depth = _depth(solver, model, starts)
                solver.add(depth <= cut)
            while True:
                solver.set("rlimit", max(1, limit - spent))
                reply = solver.check()
                spent += _spent(solver)
                work, used = Work(z3_rlimit=spent), spent / RLIMIT_PER_EFFORT
                if reply == z3.unsat:
                    if best:
                        return Outcome(Status.FOUND, best, True, model.depth(best), used, work)
                    return Outcome(Status.REFUTED, effort=used, work=work)
                if reply != z3.sat:
                    status = Status.FOUND if best else Status.UNKNOWN
                    return Outcome(status, best, effort=used, work=work)
                values = solver.model()
                best = tuple(values.eval(s, model_completion=True).as_long() for s in starts)
                if down_to is None or model.depth(best) <= down_to:
                    enough = down_to is not None
                    return Outcome(Status.FOUND, best, enough, effort=used, work=work)
                solver.add(depth < model.depth(best))


def _depth(solver: Any, model: Model, starts: list[Any]) -> Any:
    import z3

    first, depth = z3.Int("first", solver.ctx), z3.Int("depth", solver.ctx)
    for start, latency in zip(starts, model.latency, strict=True):
        solver.add(start >= first, start + latency <= first + depth)
    return depth


def encode(solver: Any, model: Model, ii: int) -> list[Any]:
    """Adds every constraint of this II; returns the start of each task."""
    import z3

    ctx, add = solver.ctx, solver.add
    names = [f"{t}_{task.name}" for t, task in enumerate(model.problem.tasks)]
    stage = [z3.Int(f"stage_{name}", ctx) for name in names]
    phase = [z3.Int(f"phase_{name}", ctx) for name in names]
    start = [k * ii + r for k, r in zip(stage, phase, strict=True)]
    for t in range(model.n):
        add(stage[t] >= 0, phase[t] >= 0, phase[t] < ii)
    versions = [z3.Int(f"versions_{b}_{x.name}", ctx) for b, x in enumerate(model.problem.buffers)]
    for b, count in enumerate(versions):
        add(count >= model.least[b], count <= model.most[b])
    for group in model.problem.memory_groups:
        if group.buffers:
            used = z3.Sum([model.problem.buffers[b].size * versions[b] for b in group.buffers])
            add(used <= group.capacity)
    for arc in [*model.arcs, *model.window_arcs()]:
        if model.origin in (arc.src, arc.dst):
            continue  # manual stages are set below
        distance = arc.distance if arc.buffer is None else versions[arc.buffer]
        add(start[arc.dst] - start[arc.src] >= arc.latency - distance * ii)
    for pair in model.pairs:
        ahead = phase[pair.j] - phase[pair.i]
        i_first = z3.And(ahead >= pair.after_i, ahead <= ii - pair.after_j)
        j_first = z3.And(-ahead >= pair.after_j, -ahead <= ii - pair.after_i)
        add(z3.Or(i_first, j_first))
    for t, k in enumerate(model.stages or ()):
        add(stage[t] == k)
    for a, b in model.problem.policy.pipe_order if not model.region else ():
        add(phase[a] <= phase[b])
    for low, high in model.problem.policy.stage_order if not model.region else ():
        add(stage[low] <= stage[high])
    return start


def _spent(solver: Any) -> int:
    for key, value in solver.statistics():
        if key == "rlimit count":
            return int(value)
    return 0


def print_smt(model: Model, ii: int) -> str:
    """The constraints of this II as SMT-LIB 2 text."""
    import z3

    solver = z3.Solver(ctx=z3.Context())
    encode(solver, model, ii)
    return solver.to_smt2()
