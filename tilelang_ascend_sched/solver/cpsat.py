"""OR-Tools CP-SAT as an exact engine: circular no-overlap on each resource.

One worker, a fixed seed and a limit in deterministic time make it repeatable. The package is
imported on first use: it takes longer to load than most problems take to solve.
"""

from __future__ import annotations

from typing import Any

from .answer import Work
from .engine import Outcome, Status, deepest
from .model import Model

TIME_PER_EFFORT = 0.04  # deterministic seconds; with presolve, one takes some 20 real ones
PRESOLVE_PER_PAIR = 8e-6  # what CP-SAT does not count itself, in the same unit
WIDE = 2**58  # above this, sums over all tasks might leave the 64 bits CP-SAT counts in


class CpSat:
    """Best for many tasks on one busy resource."""

    name = "cpsat"

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
        """See Engine; problems too wide for 64 bits are UNKNOWN to it."""
        cut = deepest(model, ii)
        if depth_at_most is not None:
            cut = min(cut, depth_at_most)
        if (cut + 2 * ii) * (model.n + 4) > WIDE:
            return Outcome(Status.UNKNOWN)
        if cut < max(model.latency) or ii < max(model.interval):
            return Outcome(Status.REFUTED)
        return _Program(model, ii, cut, down_to).solve(self.seed, effort)


class _Program:
    def __init__(self, model: Model, ii: int, cut: int, down_to: int | None) -> None:
        from ortools.sat.python import cp_model

        self.cp, self.model, self.ii = cp_model, model, ii
        self.program = cp_model.CpModel()
        self.down_to = down_to
        horizon = cut + 2 * ii
        new = self.program.new_int_var
        self.stage = [new(0, horizon // ii, f"k{t}") for t in range(model.n)]
        self.phase = [new(0, ii - 1, f"r{t}") for t in range(model.n)]
        self.start = [k * ii + r for k, r in zip(self.stage, self.phase, strict=True)]
        self.first = new(0, horizon, "first")
        self.depth = new(min(down_to or 0, cut), cut, "depth")
        for start, latency in zip(self.start, model.latency, strict=True):
            self.program.add(start >= self.first)
            self.program.add(start + latency <= self.first + self.depth)
        self._edges()
        self._turns()
        self._policy()
        if down_to is not None:
            self.program.minimize(self.depth)

    def _edges(self) -> None:
        model, ii, add = self.model, self.ii, self.program.add
        self.versions = [
            self.program.new_int_var(low, high, f"v{b}")
            for b, (low, high) in enumerate(zip(model.least, model.most, strict=True))
        ]
        for group in model.problem.memory_groups:
            if group.buffers:
                sizes = [model.problem.buffers[b].size for b in group.buffers]
                used = sum(s * self.versions[b] for s, b in zip(sizes, group.buffers, strict=True))
                add(used <= group.capacity)
        for arc in [*model.arcs, *model.window_arcs()]:
            if model.origin in (arc.src, arc.dst):
                continue  # manual stages are set below
            distance = arc.distance if arc.buffer is None else self.versions[arc.buffer]
            if arc.src == arc.dst:
                add(distance * ii >= arc.latency)
            else:
                add(self.start[arc.dst] - self.start[arc.src] + distance * ii >= arc.latency)

    def _turns(self) -> None:
        """Every resource sees its tasks once per circle; a shifted copy closes the circle."""
        model, ii = self.model, self.ii
        fixed = self.program.new_fixed_size_interval_var
        for row, tasks in model.cliques:
            spans = []
            for t in tasks:
                spans.append(fixed(self.phase[t], model.interval[t], f"i{row}_{t}"))
                spans.append(fixed(self.phase[t] + ii, model.interval[t], f"j{row}_{t}"))
            self.program.add_no_overlap(spans)
        for p, pair in enumerate(model.pairs):
            if pair.why[0] == "resources":
                continue
            i, j = self.phase[pair.i], self.phase[pair.j]
            i_first = self.program.new_bool_var(f"first{p}")
            for lead, gap, back in (
                (i_first, j - i, pair.after_j),
                (~i_first, i - j, pair.after_i),
            ):
                after = pair.after_i if lead is i_first else pair.after_j
                self.program.add(gap >= after).only_enforce_if(lead)
                self.program.add(gap <= ii - back).only_enforce_if(lead)

    def _policy(self) -> None:
        model, add = self.model, self.program.add
        for t, stage in enumerate(model.stages or ()):
            add(self.stage[t] == stage)
        pipe_order, stage_order = model.pipe_order, model.stage_order
        if model.stages is not None:
            pipe_order, stage_order = model.problem.policy.pipe_order, ()
        for a, b in pipe_order:
            add(self.phase[a] <= self.phase[b])
        for low, high in stage_order:
            add(self.stage[low] <= self.stage[high])
        if not model.anchored:
            # Turning the whole circle changes nothing: pin one task of the busiest resource.
            busiest = max((tasks for _, tasks in model.cliques), key=len, default=(0,))
            add(self.phase[busiest[0]] == 0)

    def solve(self, seed: int, effort: float) -> Outcome:
        solver = self.cp.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = seed
        solver.parameters.max_deterministic_time = TIME_PER_EFFORT * effort
        status: Any = solver.solve(self.program)
        work = Work(cpsat_time=round(solver.response_proto.deterministic_time, 6))
        presolve = PRESOLVE_PER_PAIR * len(self.model.pairs)
        used = (work.cpsat_time + presolve) / TIME_PER_EFFORT
        if status == self.cp.INFEASIBLE:
            return Outcome(Status.REFUTED, effort=used, work=work)
        bound = max(0, int(solver.best_objective_bound)) if self.down_to is not None else 0
        if status not in (self.cp.OPTIMAL, self.cp.FEASIBLE):
            return Outcome(Status.UNKNOWN, depth_bound=bound, effort=used, work=work)
        starts = tuple(int(solver.value(start)) for start in self.start)
        proven = self.down_to is not None and status == self.cp.OPTIMAL
        return Outcome(Status.FOUND, starts, proven, bound, used, work)
