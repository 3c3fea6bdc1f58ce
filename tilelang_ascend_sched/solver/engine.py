"""What an exact engine is asked and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from .answer import Work
from .model import Model


class Status(Enum):
    """FOUND carries a schedule, REFUTED is a proof that there is none, UNKNOWN is neither."""

    FOUND = "found"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Outcome:
    """The reply to one question.

    ``proven``: nothing shallower exists, or it is as shallow as was asked.
    ``depth_bound``: no schedule at this II is shallower, 0 if nothing was learnt.
    ``effort``: the part of the effort that was used.
    """

    status: Status
    starts: tuple[int, ...] = ()
    proven: bool = False
    depth_bound: int = 0
    effort: float = 0.0
    work: Work = field(default_factory=Work)


class Engine(Protocol):
    """Decides whether a schedule exists at exactly one II."""

    name: str

    def find(
        self,
        model: Model,
        ii: int,
        *,
        depth_at_most: int | None,
        down_to: int | None,
        effort: float,
    ) -> Outcome:
        """A schedule at this II no deeper than asked.

        With ``down_to`` the shallowest of them, or the first that is no deeper than this.

        ``effort`` scales the engine's own unit of work; 1 is about a second on a slow machine.
        """
        ...


def deepest(model: Model, ii: int) -> int:
    """A depth within which a schedule at this II exists if any does.

    Given the phases, stages are the least integers that differ by at least what each arc demands,
    so the last stage is at most the sum over tasks of the most any arc into it demands.
    """
    if model.region:
        return model.serial
    if model.stages is not None:
        return (max(model.stages) + 1) * ii + max(model.latency)
    most = [1] * (model.n + 1)
    for arc in model.arcs:
        distance = arc.distance if arc.buffer is None else model.least[arc.buffer]
        most[arc.dst] = max(most[arc.dst], -(-(arc.latency - distance * ii + ii - 1) // ii))
    return (sum(most) + 1) * ii + max(model.latency)
