"""Programs that are not tried because TileLang lowers them wrongly and says nothing.

What cannot be written as a program at all: slices of L1 as Cube operands and of L0C as sources,
products of unlike size, L0 filled by hand beside the L1 template, serial loops inside parallel
ones, and registers that live across SIMT regions. TileLang lowers all of these wrongly whatever the
schedule, see ``tests/kernels/faults.py``. Without a schedule, copies from UB to L1: nothing orders
the two steps that they are made of.
"""

from __future__ import annotations

from tests.fuzz.model import Loop, Program, Stmt, ToL1, UbCell, While, children, refs, statements


def excluded(program: Program) -> bool:
    """Whether TileLang is known to lower a program wrongly, and says nothing.

    With a schedule it is InsertSync that orders too little.
    """
    if not program.scheduled:
        return bound_in_ub(program)
    return restarted_ring(program) or carried_operand(program)


def bound_in_ub(program: Program) -> bool:
    """Whether a loop's length stands in UB.

    The generated loop reads it again at every turn; without a schedule a tile that the loop fills
    may have got its bytes.
    """
    loops = (stmt for stmt in statements(program.body) if isinstance(stmt, Loop))
    return any(isinstance(atom, UbCell) for loop in loops for _, atom in loop.extent.terms)


def restarted_ring(program: Program) -> bool:
    """Whether a ring starts again at slot 0 where its flags do not.

    A ring indexed by hand with the variable of an inner loop starts again with each turn of the
    outer loop; the flags of TileLang's InsertSync go on counting, so that they guard other slots
    than those used, unless the inner loop's length is a multiple of the ring's.
    """
    return _restarts(program, program.body, repeated=False)


def carried_operand(program: Program) -> bool:
    """Whether an operand with several slots comes from Vector in an inner loop.

    There the Cube's next turn waits for what Vector makes of this one's sums, and no flag is needed
    beside. The outer loop's next turn starts with another slot, and waits for nothing; but the
    operand's way around is taken for given there as well.
    """
    several = {b.name for b in program.buffers if _count(b.versions) > 1}
    inner = (
        stmt
        for outer in statements(program.body)
        if isinstance(outer, Loop | While)
        for loop in statements(outer.body)
        if isinstance(loop, Loop | While)
        for stmt in statements(loop.body)
    )
    return any(isinstance(stmt, ToL1) and stmt.target in several for stmt in inner)


def _count(versions: int | str | tuple[int, str] | None) -> int:
    if isinstance(versions, tuple):
        return versions[0]
    return versions if isinstance(versions, int) else 0


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
