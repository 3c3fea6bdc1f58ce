"""What one lowering decided, as plain data: the schedule report."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Note:
    """One thing a pass tells the user.

    kind: ``decision``, or ``degraded`` when the result is worse than it could be (a spilled flag,
        an unproven schedule, ...): a warning, and with ``tl.ascend_sched.strict`` an error.
    source: the pass, or ``solver``.
    data: the facts behind the message, JSON values.
    """

    source: str
    kind: str
    message: str
    data: dict[str, Any] = field(default_factory=dict)


@dataclass
class BufferReport:
    """Versions of one on-chip buffer: ``bytes`` is the size of all its versions together."""

    name: str
    scope: str
    versions: int
    bytes: int


@dataclass
class LoopReport:
    """One scheduled loop, or a straight-line region (``kind`` "region"). Times are cycles.

    trips: trip count if it is a compile-time constant.
    starts: start of each task in the first iteration, in the order of ``tasks``.
    ii, ii_bound: initiation interval and its proven lower bound; None for a region.
    witness: what forces the bound, in words.
    stages: stages of the emitted loop.
    objective: what was minimised: ``ii``, ``time`` (of the whole loop) or ``makespan``.
    value, lower_bound: the objective reached, and what is proven to be its least.
    verdict: ``optimal``, ``feasible``, ``out_of_budget`` or ``infeasible``.
    engine: what found the schedule; ``seconds``: how long that took.
    """

    kind: str
    name: str
    trips: int | None
    tasks: list[str]
    starts: list[int]
    ii: int | None
    ii_bound: int | None
    witness: str
    stages: int
    objective: str
    value: int | None
    lower_bound: int
    verdict: str
    engine: str
    seconds: float


@dataclass
class PassReport:
    """Whose one pass of the chain was, and how long it took; ``seconds`` is None if not timed."""

    name: str
    owner: str
    seconds: float | None = None


@dataclass
class ScheduleReport:
    """Everything the plugin decided for one kernel (one call of TileLang's Ascend lowering).

    capacities: bytes of each on-chip memory that the kernel could have; less UB with a SIMT
        function.
    """

    kernel: str
    scheduled: bool = True
    loops: list[LoopReport] = field(default_factory=list)
    buffers: list[BufferReport] = field(default_factory=list)
    capacities: dict[str, int] = field(default_factory=dict)
    passes: list[PassReport] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    @property
    def degraded(self) -> list[Note]:
        """Notes that say the result is worse than it could be."""
        return [note for note in self.notes if note.kind == "degraded"]

    def scope_bytes(self) -> dict[str, int]:
        """Scope -> bytes that all versions of its buffers take together, before reuse."""
        totals: dict[str, int] = {}
        for buffer in self.buffers:
            totals[buffer.scope] = totals.get(buffer.scope, 0) + buffer.bytes
        return dict(sorted(totals.items()))

    def to_json(self) -> str:
        """The report as JSON text."""
        return json.dumps(asdict(self), indent=2, sort_keys=True)
