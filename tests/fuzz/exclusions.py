"""Programs that are not tried, each with the reason.

What cannot be written as a program at all: slices of L1 as Cube operands and of L0C as sources,
products of unlike size, L0 filled by hand beside the L1 template, serial loops inside parallel
ones, and registers that live across SIMT regions. TileLang lowers all of these wrongly whatever the
schedule, see ``tests/kernels/faults.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.fuzz.model import (
    Condition,
    Hint,
    If,
    Loop,
    Program,
    Stmt,
    While,
    children,
    refs,
    statements,
)

MANY = 64
"""Turns that a loop of unknown length may make."""


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
            if repeated and slots and not even:
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


def _conflict_around_loop(program: Program) -> bool:
    for loop in statements(program.body):
        if not isinstance(loop, Loop | While):
            continue
        hints = [s.buffers for s in loop.body if isinstance(s, Hint) and s.buffers]
        inner = [s for s in statements(loop.body) if isinstance(s, Loop | While)]
        if any(_touches(each, a) and _touches(each, b) for each in inner for a, b in hints):
            return True
    return False


def _touches(loop: Stmt, buffer: str) -> bool:
    return any(ref.buffer == buffer for s in statements((loop,)) for ref in refs(s))


def _one_turn_offset(program: Program) -> bool:
    return _has_one_turn(program, lambda loop: loop.offset)


def _one_turn_ring(program: Program) -> bool:
    return _has_one_turn(program, lambda loop: _indexes(loop.variable, loop))


def _has_one_turn(program: Program, concerns: Callable[[Loop], bool]) -> bool:
    return any(
        isinstance(loop, Loop)
        and concerns(loop)
        and _reached_once(
            loop, loop.body, range(MANY if loop.extent.terms else loop.extent.constant)
        )
        for loop in statements(program.body)
    )


def _reached_once(loop: Loop, body: tuple[Stmt, ...], turns: Sequence[int]) -> bool:
    """Whether guards on the loop's variable, taken together, leave some place a turn at most."""
    for stmt in body:
        if isinstance(stmt, If):
            yes = [turn for turn in turns if _holds(stmt.test, loop.variable, turn) is not False]
            no = [turn for turn in turns if _holds(stmt.test, loop.variable, turn) is not True]
            for branch, left in ((stmt.body, yes), (stmt.otherwise, no)):
                once = len(left) <= 1 < len(turns)
                if branch and (once or _reached_once(loop, branch, left)):
                    return True
        elif _reached_once(loop, children(stmt), turns):
            return True
    return False


def _holds(test: Condition, variable: str, turn: int) -> bool | None:
    """A condition on one variable alone, at one of its turns; None if it is on anything else."""
    if [atom for _, atom in test.left.terms] != [variable] or test.right.terms:
        return None
    left = test.left.terms[0][0] * turn + test.left.constant
    left = left % test.left.modulus if test.left.modulus else left
    return left == test.right.constant if test.equal else left < test.right.constant


EXCLUSIONS: tuple[Exclusion, ...] = (
    Exclusion(
        "restarted ring",
        "A ring indexed by hand with the variable of an inner loop starts again at slot 0 with "
        "each turn of the outer loop; TileLang's flags go on counting, so that they guard other "
        "slots than those used, unless the inner loop's length is a multiple of the ring's.",
        "InsertSync",
        _restarted_ring,
    ),
    Exclusion(
        "conflict around a loop",
        "T.assume_conflict of two buffers in a loop whose inner loop uses both: TileLang raises "
        "the same flag for the outer and for the inner loop's next turn, so that it is set while "
        "it is set.",
        "InsertSync",
        _conflict_around_loop,
    ),
    Exclusion(
        "one turn of an offset loop",
        "Under enable_offset, tasks guarded such that they run in one turn only: nothing carries "
        "over to a next turn, so they may be many stages apart, and TileLang puts the guard on "
        "the loop's turns, not on the flags: one flag is set in several turns before its wait.",
        "InsertSync",
        _one_turn_offset,
    ),
    Exclusion(
        "one turn of a ring",
        "A ring indexed by hand under a guard that holds in one turn only: the flags of the ring "
        "stand outside the guard, but as nothing carries over to a next turn, no flag comes back, "
        "and the producer sets its flag again in the next turns before the consumer has waited.",
        "InsertSync",
        _one_turn_ring,
    ),
)


def reason(program: Program, ours: frozenset[str]) -> Exclusion | None:
    """Why ``program`` is not tried when the passes named are ours."""
    for exclusion in EXCLUSIONS:
        if exclusion.unless not in ours and exclusion.holds(program):
            return exclusion
    return None
