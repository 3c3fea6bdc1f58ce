"""Programs that are not tried because TileLang lowers them wrongly and says nothing.

What cannot be written as a program at all: slices of L1 as Cube operands and of L0C as sources,
products of unlike size, L0 filled by hand beside the L1 template, serial loops inside parallel
ones, and registers that live across SIMT regions. TileLang lowers all of these wrongly whatever the
schedule, see ``tests/kernels/faults.py``. Without a schedule, copies from UB to L1: nothing orders
the two steps that they are made of.
"""

from __future__ import annotations

from tests.fuzz.model import Loop, Program, Stmt, While, children, refs, statements


def restarted_ring(program: Program) -> bool:
    """Whether a ring starts again at slot 0 where its flags do not.

    A ring indexed by hand with the variable of an inner loop starts again with each turn of the
    outer loop; the flags of TileLang's InsertSync go on counting, so that they guard other slots
    than those used, unless the inner loop's length is a multiple of the ring's.
    """
    return program.scheduled and _restarts(program, program.body, repeated=False)


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
