"""Which programs have one meaning, and are what TileLang takes."""

from __future__ import annotations

from tests.fuzz import meaning
from tests.fuzz.model import (
    INT,
    Expr,
    Gemm,
    If,
    Load,
    Loop,
    Narrow,
    PerCore,
    Program,
    Stmt,
    Store,
    Task,
    ToL1,
    ToUb,
    UbCell,
    Vec,
    While,
)

Body = tuple[Stmt, ...]


def is_valid(program: Program) -> bool:
    """Whether everything is written before it is read, and no core of a mixed kernel is idle."""
    written = _after(program, program.body, frozenset(), first=frozenset())
    if written is None or missing_work(program.cores, program.body):
        return False
    return not any(b.ring for b in program.buffers) or _fills_its_ring(program)


def _fills_its_ring(program: Program) -> bool:
    """Whether slots are filled before they are used: as far as some runs of the program tell."""
    try:
        for n in range(4):
            meaning.run(program, meaning.inputs(program, seed=n), n)
    except meaning.Unwritten:
        return False
    return True


def missing_work(cores: str, body: Body) -> set[str]:
    """The cores of a mixed kernel that may have nothing to do: ``cube``, ``vector``.

    TileLang makes a kernel of one kind of core out of such a one, and leaves in it the copies to
    the other core's memory; ``T.dual_copy`` asks for Cube work beside it.
    """
    sure = _sure(body)
    done = set()
    if any(isinstance(s, ToUb) or (isinstance(s, Store) and s.tensor == "C") for s in sure):
        done.add("cube")
    if any(isinstance(s, Store) and s.tensor == "Y" for s in sure):
        done.add("vector")
    return {"cube", "vector"} - done if cores == "mix" else set()


def _sure(body: Body) -> list[Stmt]:
    """Statements that are executed whatever the inputs are."""
    found: list[Stmt] = []
    for stmt in body:
        found.append(stmt)
        if isinstance(stmt, Task) or (
            isinstance(stmt, Loop) and not stmt.extent.terms and stmt.extent.constant > 0
        ):
            found += _sure(stmt.body)
    return found


def _after(
    program: Program, body: Body, before: frozenset[str], first: frozenset[str]
) -> frozenset[str] | None:
    """Buffers that are written after ``body``; None if something is read before.

    first: variables of loops whose first turn is sure to come past here.
    """
    written = before
    for stmt in body:
        reads, writes = _accesses(program, stmt, first)
        if not reads <= written:
            return None
        match stmt:
            case Loop() | While():
                bound = stmt.extent if isinstance(stmt, Loop) else stmt.bound
                within = _after(program, stmt.body, written, frozenset({stmt.variable}))
                if within is None:
                    return None
                if not bound.terms and bound.constant > 0:
                    written = within
            case If():
                for branch in (stmt.body, stmt.otherwise):
                    if _after(program, branch, written, frozenset()) is None:
                        return None
            case Task():
                within = _after(program, stmt.body, written, first)
                if within is None:
                    return None
                written = within
            case PerCore():
                ways = [_after(program, (s,), written, first) for s in (stmt.first, stmt.second)]
                if None in ways:
                    return None
                written |= frozenset.intersection(*filter(None, ways))
        written |= writes
    return written


def _accesses(program: Program, stmt: Stmt, first: frozenset[str]) -> tuple[set[str], set[str]]:
    """Names of the buffers that a statement itself must find written, and of those it writes."""
    match stmt:
        case Load():
            kind, name = program.buffer(stmt.target.buffer).kind, stmt.target.buffer
            partly = kind not in (INT,) and stmt.part != program.whole
            return ({name} if partly else set()) | _cells(stmt.slot), {name}
        case Store():
            return {stmt.source.buffer} | _cells(stmt.slot), set()
        case Vec():
            reads = {stmt.source.buffer} if stmt.source else set()
            if stmt.adds or stmt.positive or stmt.part != program.whole:
                reads.add(stmt.target.buffer)
            shift = {stmt.shift.buffer} if stmt.shift is not None else set()
            return reads | shift | _cells(stmt.constant), {stmt.target.buffer}
        case Narrow():
            return {stmt.source.buffer}, {stmt.target.buffer}
        case Gemm():
            clears = stmt.clear is True
            if not isinstance(stmt.clear, bool):
                clears = any(atom in first for _, atom in stmt.clear.left.terms)
            return {stmt.a, stmt.b} | (set() if clears else {stmt.acc}), {stmt.acc}
        case ToUb():
            return {stmt.source}, {stmt.target.buffer}
        case ToL1():
            return {stmt.source.buffer}, {stmt.target}
        case Loop():
            return _cells(stmt.extent), set()
        case While():
            return _cells(stmt.bound), set()
        case If():
            return _cells(stmt.test.left) | _cells(stmt.test.right), set()
    return set(), set()


def _cells(expr: Expr) -> set[str]:
    return {atom.buffer for _, atom in expr.terms if isinstance(atom, UbCell)}
