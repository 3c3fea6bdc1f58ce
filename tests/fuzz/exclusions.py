"""Programs that are not tried, each with the reason.

What cannot be written as a program at all: slices of L1 as Cube operands and of L0C as sources,
products of unlike size, L0 filled by hand beside the L1 template, serial loops inside parallel
ones, and registers that live across SIMT regions. TileLang lowers all of these wrongly whatever the
schedule, see ``tests/kernels/faults.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.fuzz.model import Loop, Program, Stmt, While, children, refs, statements


@dataclass(frozen=True)
class Exclusion:
    """name, why; unless: the passes of ours that lower such programs rightly; holds: is it one."""

    name: str
    why: str
    unless: str
    holds: Callable[[Program], bool]


def _restarted_ring(program: Program) -> bool:
    return _restarts(program, program.body, repeated=False)


def _restarts(program: Program, body: tuple[Stmt, ...], *, repeated: bool) -> bool:
    for stmt in body:
        again = repeated
        if isinstance(stmt, Loop):
            fixed = not stmt.extent.terms
            slots = {b.ring for b in program.buffers if b.ring and _indexes(stmt.variable, stmt)}
            even = fixed and all(stmt.extent.constant % count == 0 for count in slots)
            if repeated and not even:
                return True
            again = repeated or not fixed or stmt.extent.constant > 1
        elif isinstance(stmt, While):
            again = True
        if _restarts(program, children(stmt), repeated=again):
            return True
    return False


def _indexes(variable: str, loop: Loop) -> bool:
    """Whether the loop's variable picks a slot of a ring."""
    return any(
        ref.slot is not None and any(atom == variable for _, atom in ref.slot.terms)
        for stmt in statements(loop.body)
        for ref in refs(stmt)
    )


EXCLUSIONS: tuple[Exclusion, ...] = (
    Exclusion(
        "restarted ring",
        "A ring indexed by hand with the variable of an inner loop starts again at slot 0 with "
        "each turn of the outer loop; TileLang's flags go on counting, so that they guard other "
        "slots than those used, unless the inner loop's length is a multiple of the ring's.",
        "InsertSync",
        _restarted_ring,
    ),
)


def reason(program: Program, ours: frozenset[str]) -> Exclusion | None:
    """Why ``program`` is not tried when the passes named are ours."""
    for exclusion in EXCLUSIONS:
        if exclusion.unless not in ours and exclusion.holds(program):
            return exclusion
    return None
