"""Programs that are not tried, each with the reason.

What cannot be written as a program at all: slices of L1 as Cube operands and of L0C as sources,
products of unlike size, L0 filled by hand beside the L1 template, serial loops inside parallel
ones, and registers that live across SIMT regions. TileLang lowers all of these wrongly whatever the
schedule, see ``tests/kernels/faults.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.fuzz.model import Program


@dataclass(frozen=True)
class Exclusion:
    """name, why; unless: the passes of ours that lower such programs rightly; holds: is it one."""

    name: str
    why: str
    unless: str
    holds: Callable[[Program], bool]


EXCLUSIONS: tuple[Exclusion, ...] = ()


def reason(program: Program, ours: frozenset[str]) -> Exclusion | None:
    """Why ``program`` is not tried when the passes named are ours."""
    for exclusion in EXCLUSIONS:
        if exclusion.unless not in ours and exclusion.holds(program):
            return exclusion
    return None
