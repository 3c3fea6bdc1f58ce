"""A random kernel as data: a tree of statements over named buffers, with program order as meaning.

``source.py`` writes it as a TileLang kernel, ``meaning.py`` runs it with numpy.

Every tensor in GM is a row of *slots*, ``SLOTS`` for each block; a slot is one tile of ``WIDTH``
columns. A tile in UB has ``Program.rows`` rows. In a kernel with both cores each Vector core holds
one half of a tile, so that a slot has twice as many rows; L1 and L0C hold whole tiles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeAlias

SLOTS = 8
WIDTH = 64
LIMIT = 64
"""Vector results are cut to plus and minus this, so that float32 is exact."""
NARROW_LIMIT = 4
"""The same before a value becomes an operand of the Cube."""
INTS = 8
"""Elements of a buffer of integers: 32 bytes."""

UB, HALF, INT, L1A, L1B, L0C = "ub", "half", "int", "l1a", "l1b", "l0c"
"""Kinds of buffers: float32 tile, Cube operand and integers in UB; operands in L1; sums in L0C."""


@dataclass(frozen=True)
class Cell:
    """An element of an integer tensor in GM."""

    tensor: str
    index: Expr


@dataclass(frozen=True)
class UbCell:
    """An element of an integer buffer in UB."""

    buffer: str
    element: int


Atom: TypeAlias = "str | Cell | UbCell"
"""A variable by name (a loop's, ``block``, ``n``), or an integer in memory."""


@dataclass(frozen=True)
class Expr:
    """``(sum of factor * atom + constant) // divisor % modulus``; modulus 0: as it is."""

    terms: tuple[tuple[int, Atom], ...] = ()
    constant: int = 0
    modulus: int = 0
    divisor: int = 1


@dataclass(frozen=True)
class Condition:
    """``left < right``, or ``left == right``."""

    left: Expr
    right: Expr
    equal: bool = False


@dataclass(frozen=True)
class Part:
    """A rectangle of a tile."""

    row: int
    rows: int
    column: int
    columns: int


@dataclass(frozen=True)
class Buffer:
    """ring: slots that the kernel indexes by hand; 0: none. versions: what it asks for, if any.

    turned: an operand in L1 that lies with the depth as its rows.
    """

    name: str
    kind: str
    ring: int = 0
    versions: int | str | tuple[int, str] | None = None
    turned: bool = False


@dataclass(frozen=True)
class Ref:
    """A buffer as an operand. slot: the ring's. flat: through its one-dimensional alias."""

    buffer: str
    slot: Expr | None = None
    flat: bool = False


@dataclass(frozen=True)
class Load:
    """From a slot of a tensor in GM to UB or L1.

    split: each Vector core gets its half. turned: rows become columns on the way to L1.
    """

    target: Ref
    tensor: str
    slot: Expr
    part: Part
    split: bool = False
    turned: bool = False


@dataclass(frozen=True)
class Store:
    """From UB or L0C to a slot of a tensor in GM."""

    source: Ref
    tensor: str
    slot: Expr
    part: Part


@dataclass(frozen=True)
class Vec:
    """``target = cut(source * factor + target + constant)`` on a part, in SIMT or SIMD.

    adds: whether the target is read. source: None for ``target = cut(constant)``. positive: only
    where the source is. shift: the source's columns are read from so far on, around the end of the
    row; or the target's written there, if ``scatters``. All three are for SIMT.
    """

    simd: bool
    target: Ref
    source: Ref | None
    factor: int
    adds: bool
    constant: Expr
    part: Part
    positive: bool = False
    shift: UbCell | None = None
    scatters: bool = False


@dataclass(frozen=True)
class Narrow:
    """A float32 tile, cut, to a Cube operand in UB."""

    target: Ref
    source: Ref


@dataclass(frozen=True)
class Gemm:
    """``acc = a @ b.T``, operands as they are if not turned; plus acc unless ``clear`` holds."""

    a: str
    b: str
    acc: str
    clear: bool | Condition


@dataclass(frozen=True)
class ToUb:
    """A tile of sums from L0C, one half to each Vector core."""

    source: str
    target: Ref


@dataclass(frozen=True)
class ToL1:
    """Both halves of an operand from UB to L1."""

    source: Ref
    target: str


@dataclass(frozen=True)
class Task:
    """``T.Task``: statements of one pipe as one task."""

    body: tuple[Stmt, ...]
    latency: int | None = None
    interval: int | None = None


@dataclass(frozen=True)
class PerCore:
    """``T.PerCoreTask``: the first statement on block 0, the second on the others."""

    first: Stmt
    second: Stmt


@dataclass(frozen=True)
class Assign:
    """A variable of the kernel's own, which counts slots of its ring."""

    variable: str
    value: Expr


@dataclass(frozen=True)
class Hint:
    """``T.assume_conflict`` of two buffers, or ``T.assume_no_conflict`` of a slot in GM."""

    buffers: tuple[str, str] | None = None
    tensor: str = ""
    slot: Expr = field(default_factory=Expr)


@dataclass(frozen=True)
class If:
    test: Condition
    body: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...] = ()


@dataclass(frozen=True)
class Loop:
    """kind: ``serial``, ``unroll`` or ``pipelined``.

    offset: ``enable_offset``. manual: the stage of each statement of the body, if set by hand.
    """

    variable: str
    kind: str
    extent: Expr
    body: tuple[Stmt, ...]
    stages: int = 1
    offset: bool = False
    manual: tuple[int, ...] = ()


@dataclass(frozen=True)
class While:
    """``variable`` counts from 0 while it is below ``bound``."""

    variable: str
    bound: Expr
    body: tuple[Stmt, ...]


Stmt: TypeAlias = (
    "Load | Store | Vec | Narrow | Gemm | ToUb | ToL1 | Task | PerCore | Assign | Hint | If | Loop"
    " | While"
)


@dataclass(frozen=True)
class Program:
    """cores: ``vector``, ``cube`` or ``mix``. rows: of a tile in UB. own_l0: L0 filled by hand.

    scheduled: False is TileLang's ``tl.enable_auto_schedule=False``, every statement followed by a
    full barrier, and hand-overs between cores by flags. configs: other pass-config values.
    dynamic: there is a run-time number ``n``. open_rows: only the call tells how many rows X and Y
    have.
    """

    name: str
    cores: str
    rows: int
    blocks: int
    dtype: str
    own_l0: bool
    dynamic: bool
    scheduled: bool
    configs: tuple[tuple[str, object], ...]
    buffers: tuple[Buffer, ...]
    body: tuple[Stmt, ...]
    open_rows: bool = False

    @property
    def halves(self) -> int:
        """Vector cores that share a tile."""
        return 2 if self.cores == "mix" else 1

    @property
    def slot_rows(self) -> int:
        """Rows of a slot in GM."""
        return 32 if self.cores == "cube" else self.rows * self.halves

    @property
    def whole(self) -> Part:
        """All of a tile in UB."""
        return Part(0, self.rows, 0, WIDTH)

    def buffer(self, name: str) -> Buffer:
        return next(buffer for buffer in self.buffers if buffer.name == name)


def children(stmt: Stmt) -> tuple[Stmt, ...]:
    """The statements directly inside."""
    match stmt:
        case Loop() | While() | Task():
            return stmt.body
        case If():
            return stmt.body + stmt.otherwise
        case PerCore():
            return (stmt.first, stmt.second)
    return ()


def statements(body: tuple[Stmt, ...]) -> list[Stmt]:
    """All statements, outer ones first."""
    found: list[Stmt] = []
    for stmt in body:
        found += [stmt, *statements(children(stmt))]
    return found


def cells(node: Any) -> Iterator[Cell]:
    """The elements in GM that any part of a program names, those in the index of others too."""
    if isinstance(node, Cell):
        yield node
    if isinstance(node, tuple):
        for each in node:
            yield from cells(each)
    elif is_dataclass(node):
        for each in fields(node):
            yield from cells(getattr(node, each.name))


def refs(stmt: Stmt) -> list[Ref]:
    """The operands of a statement that may be in a ring or behind an alias."""
    match stmt:
        case Load() | ToUb():
            return [stmt.target]
        case Store() | ToL1():
            return [stmt.source]
        case Vec():
            return [stmt.target] + ([stmt.source] if stmt.source else [])
        case Narrow():
            return [stmt.target, stmt.source]
    return []
