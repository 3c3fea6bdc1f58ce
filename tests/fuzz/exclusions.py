"""Programs that are not tried because TileLang lowers them wrongly and says nothing.

What cannot be written as a program at all: slices of L1 as Cube operands and of L0C as sources,
products of unlike size, L0 filled by hand beside the L1 template, serial loops inside parallel
ones, and registers that live across SIMT regions. TileLang lowers all of these wrongly whatever the
schedule, see ``tests/kernels/faults.py``. Without a schedule, copies from UB to L1: nothing orders
the two steps that they are made of.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.fuzz.model import (
    L0C,
    L1A,
    L1B,
    UB,
    Expr,
    Gemm,
    If,
    Load,
    Loop,
    Narrow,
    Program,
    Ref,
    Stmt,
    Store,
    ToL1,
    ToUb,
    UbCell,
    Vec,
    While,
    cells,
    children,
    refs,
    statements,
)


def excluded(program: Program, ours: frozenset[str] = frozenset()) -> bool:
    """Whether TileLang is known to lower a program wrongly, and says nothing.

    Without a schedule its packing is at fault. With one it gives versions to what has none, or its
    InsertSync orders too little, unless that is among the passes that are ``ours``.
    """
    if not program.scheduled:
        packed = not dict(program.configs).get("tl.disable_shared_memory_reuse")
        return packed and any(
            wrong(program) for wrong in (given_away, given_away_before_a_guard, loaded_beyond)
        )
    if next_version_in_part(program):
        return True
    if "InsertSync" in ours:
        return False
    return any(
        wrong(program)
        for wrong in (
            restarted_ring,
            restarted_counter,
            carried_operand,
            slots_named_after,
            unread_operand,
            used_in_other_ways,
            stored_and_filled_again,
        )
    )


def given_away(program: Program) -> bool:
    """Whether a buffer that a loop's next turn still reads has given away its bytes.

    Without a schedule the packing takes a buffer for free after the last statement that names it,
    though this may be inside a loop, and the buffer filled before. So what is first written later
    in that loop may get its bytes. The length of a loop is read again at every turn, too.
    """
    seen = list(_named(program, program.body, ()))
    first: dict[str, int] = {}
    last = {name: at for at, (name, _) in enumerate(seen)}
    for at, (name, _) in enumerate(seen):
        first.setdefault(name, at)
    for name, end in last.items():
        for loop in seen[end][1]:
            inside = [at for at, (_, around) in enumerate(seen) if loop in around]
            filled_before = first[name] < inside[0]
            others = [each for each in first if end < first[each] <= inside[-1]]
            if filled_before and any(_memory(program, o) == _memory(program, name) for o in others):
                return True
    return False


def given_away_before_a_guard(program: Program) -> bool:
    """Whether integers that a guard asks for have given away their bytes before it.

    Without a schedule the packing does not see that a guard reads.
    """
    seen = [
        (name, asks)
        for stmt in statements(program.body)
        for asks, names in ((True, _cells(stmt)), (False, _operands(stmt)))
        for name in names
    ]
    first: dict[str, int] = {}
    for at, (name, _) in enumerate(seen):
        first.setdefault(name, at)
    for at, (name, asks) in enumerate(seen):
        used = max((i for i, each in enumerate(seen[:at]) if each == (name, False)), default=at)
        others = [each for each in first if used < first[each] < at]
        if asks and any(_memory(program, each) == "UB" for each in others):
            return True
    return False


def loaded_beyond(program: Program) -> bool:
    """Whether a loop may load what a tensor does not have to a buffer that shares bytes.

    Nothing is loaded then, and the buffer still holds what it held at the turn before. Without a
    schedule the packing takes it for filled anew and gives its bytes away from turn to turn.
    """
    for loop in statements(program.body):
        if not isinstance(loop, Loop | While):
            continue
        inside = statements(loop.body)
        open_ended = any(
            (program.open_rows and stmt.tensor in ("X", "Y")) or any(cells(stmt.slot))
            for stmt in inside
            if isinstance(stmt, Load) and stmt.tensor in ("X", "Y", "U")
        )
        names = {name for stmt in inside for name in _operands(stmt)}
        if open_ended and sum(_memory(program, name) == "UB" for name in names) > 1:
            return True
    return False


def next_version_in_part(program: Program) -> bool:
    """Whether a loop begins with a part of a buffer that other loops have filled.

    If loops alone name the buffer, TileLang takes what they first do to it for the beginning of
    the next version, a part and a vector function in SIMD that also reads it included. So what that
    leaves is looked for in a version that holds something else or nothing.
    """
    bodies = [program.body, *(children(stmt) for stmt in statements(program.body))]
    return any(_first_in_part(program, body, b.name) for body in bodies for b in program.buffers)


def _first_in_part(program: Program, body: tuple[Stmt, ...], name: str) -> bool:
    loops = [stmt for stmt in body if isinstance(stmt, Loop | While)]
    uses = [[s for s in statements(loop.body) if name in _operands(s)] for loop in loops]
    beside = any(name in _operands(stmt) for stmt in _outside_loops(body))
    return not beside and any(_in_part(program, found[0], name) for found in uses if found)


def _outside_loops(body: tuple[Stmt, ...]) -> Iterator[Stmt]:
    for stmt in body:
        if not isinstance(stmt, Loop | While):
            yield stmt
            yield from _outside_loops(children(stmt))


def _in_part(program: Program, stmt: Stmt, name: str) -> bool:
    """Whether a statement writes a buffer, is not seen to read it, and leaves some of it."""
    match stmt:
        case Load(target=Ref(buffer)):
            whole = stmt.part == program.whole
            return buffer == name and program.buffer(name).kind == UB and not whole
        case Vec(target=Ref(buffer)):
            reads = stmt.adds or (stmt.source is not None and stmt.source.buffer == name)
            leaves = reads if stmt.simd else stmt.positive
            seen = reads and not stmt.simd
            return buffer == name and not seen and (leaves or stmt.part != program.whole)
    return False


def _named(
    program: Program, body: tuple[Stmt, ...], around: tuple[int, ...]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Buffers in the order in which statements name them, with the loops around."""
    for stmt in body:
        within = (*around, id(stmt)) if isinstance(stmt, Loop | While) else around
        yield from ((name, within) for name in _cells(stmt))
        yield from ((name, within) for name in _operands(stmt))
        yield from _named(program, children(stmt), within)


def _cells(stmt: Stmt) -> list[str]:
    """Buffers that a loop's length or a guard is read from."""
    terms = [term for expr in _asked(stmt) for term in expr.terms]
    return [atom.buffer for _, atom in terms if isinstance(atom, UbCell)]


def _operands(stmt: Stmt) -> list[str]:
    """Buffers that a statement itself names."""
    names = [ref.buffer for ref in refs(stmt)]
    match stmt:
        case Gemm():
            return [stmt.a, stmt.b, stmt.acc]
        case ToUb():
            return [stmt.source, *names]
        case ToL1():
            return [*names, stmt.target]
        case Vec(shift=UbCell(integers)):
            return [integers, *names]
    return names


def _asked(stmt: Stmt) -> tuple[Expr, ...]:
    match stmt:
        case Loop():
            return (stmt.extent,)
        case While():
            return (stmt.bound,)
        case If():
            return (stmt.test.left, stmt.test.right)
    return ()


def _memory(program: Program, buffer: str) -> str:
    kind = program.buffer(buffer).kind
    return "L1" if kind in (L1A, L1B) else kind if kind == L0C else "UB"


def restarted_ring(program: Program) -> bool:
    """Whether a ring starts again at slot 0 where its flags do not.

    A ring indexed by hand with the variable of an inner loop starts again with each turn of the
    outer loop; the flags of TileLang's InsertSync go on counting, so that they guard other slots
    than those used, unless the inner loop's length is a multiple of the ring's.
    """
    return _restarts(program, program.body, repeated=False)


def restarted_counter(program: Program) -> bool:
    """Whether a ``while`` that counts slots starts again, and the slots with it.

    Where a loop with offsets stands inside of a ``while``, its slots go by the turns of both. They
    are counted from 0 again at every turn of a loop around the ``while``, unless the inner loop's
    length is a multiple of their number. Of two operands with unlike numbers of slots one may have
    no flags of its own, as those of the other order it while slots are taken one after the other.
    """
    asked = {b.name: _count(b.versions) for b in program.buffers}
    return any(
        len(_filled(staged.body)) > 1 and not _comes_round(staged, asked)
        for outer in statements(program.body)
        if isinstance(outer, Loop | While)
        for counted in statements(outer.body)
        if isinstance(counted, While)
        for staged in statements(counted.body)
        if isinstance(staged, Loop) and staged.offset
    )


def _comes_round(loop: Loop, asked: dict[str, int]) -> bool:
    """Whether all that a loop fills is at its first slot again when it ends.

    asked: how many slots each buffer has; if 0, TileLang gives it two or three.
    """
    counts = {n for name in _filled(loop.body) for n in ((asked[name],) if asked[name] else (2, 3))}
    return not loop.extent.terms and all(loop.extent.constant % n == 0 for n in counts)


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


def slots_named_after(program: Program) -> bool:
    """Whether a buffer with several slots is filled in an inner loop and named after that loop.

    Vector code of the inner loop's last turn then has no flag to what the outer loop's next turn
    loads beside that buffer: the slots' own flag is taken to order this, too, which lets the loads
    of more turns run ahead.
    """
    several = {b.name for b in program.buffers if _count(b.versions) > 1}
    for outer in statements(program.body):
        if not isinstance(outer, Loop | While):
            continue
        for at, inner in enumerate(outer.body):
            filled = _filled(inner.body) if isinstance(inner, Loop | While) else set()
            after = {name for name, _ in _named(program, outer.body[at + 1 :], ())}
            if len(filled) > 1 and filled & several & after:
                return True
    return False


def unread_operand(program: Program) -> bool:
    """Whether an operand is filled beside an inner loop and never read, where L0 is filled by hand.

    It may lie where an operand of the inner loop lies, and nothing orders the two loads.
    """
    read = {name for s in statements(program.body) if isinstance(s, Gemm) for name in (s.a, s.b)}
    unread = {b.name for b in program.buffers if b.kind in (L1A, L1B)} - read
    return program.own_l0 and any(
        _filled(outer.body) & unread
        and any(isinstance(inner, Loop | While) for inner in statements(outer.body))
        for outer in statements(program.body)
        if isinstance(outer, Loop | While)
    )


def used_in_other_ways(program: Program) -> bool:
    """Whether some turns of a loop fill and use a buffer on other pipes than other turns do.

    The pipes' flags stand outside the guards, in every turn. What orders them is inside the guards:
    in turns without it a pipe sets its flag again before the other one has waited.
    """
    for loop in statements(program.body):
        if isinstance(loop, Loop | While):
            ways = list(_ways(loop))
            for buffer in program.buffers:
                if buffer.kind != UB:
                    continue
                used = [[s for s in way if buffer.name in _operands(s)] for way in ways]
                always, *guarded = used
                filled = [way for way in guarded if way and _fills(way[0], buffer.name)]
                if not always and len({tuple(map(type, way)) for way in filled}) > 1:
                    return True
    return False


def stored_and_filled_again(program: Program) -> bool:
    """Whether an inner loop stores a buffer that the outer one fills, and fills it again.

    The buffer's flags then order the stores of the inner loop's turns, so no barrier is set between
    those to the same bytes. The outer loop's next turn stores another slot and waits for nothing.
    """
    for outer in statements(program.body):
        if not isinstance(outer, Loop | While):
            continue
        beside = list(_outside_loops(outer.body))
        for inner in statements(outer.body):
            if not isinstance(inner, Loop | While):
                continue
            inside = statements(inner.body)
            stored = {stmt.source.buffer for stmt in inside if isinstance(stmt, Store)}
            for name in stored:
                if all(any(_fills(s, name) for s in body) for body in (beside, inside)):
                    return True
    return False


def _fills(stmt: Stmt, name: str) -> bool:
    match stmt:
        case Load() | Vec() | Narrow() | ToUb():
            return stmt.target.buffer == name
        case ToL1():
            return stmt.target == name
        case Gemm():
            return stmt.acc == name
    return False


def _ways(loop: Loop | While) -> Iterator[list[Stmt]]:
    """What is done in every turn of a loop, then what is done under each guard on the turn."""
    always, guards = [], []
    for stmt in loop.body:
        terms = (*stmt.test.left.terms, *stmt.test.right.terms) if isinstance(stmt, If) else ()
        if [atom for _, atom in terms] == [loop.variable]:
            guards += [stmt.body, stmt.otherwise]
        else:
            always += statements((stmt,))
    yield always
    yield from map(statements, guards)


def _filled(body: tuple[Stmt, ...]) -> set[str]:
    """Buffers that are loaded in a loop's body or in loops inside."""
    return {stmt.target.buffer for stmt in statements(body) if isinstance(stmt, Load)}


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
