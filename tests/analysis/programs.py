"""Small loop nests as data, and the TIR of them.

``execution`` works out from the same data what each execution of a task touches, so that it can
judge the analysis of the TIR.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import tilelang  # noqa: F401  # puts its TVM on the path
from tvm import tirx

from tests.passes.tir import call, kernel_root, seq

ROWS = 64
COLUMNS = 16
TILES = ("a", "b")
UNBOUND = 3
"""Turns of a loop whose bound no variable of that name gives."""
OWNED = "b"
"""The tile that loops may own; no pointer is bound over its data."""


@dataclass(frozen=True)
class Index:
    """``(sum of factors * loop variables + offset [+ n] [+ bound] [+ cell]) // divisor % modulus``.

    factors: of the loops around, the outermost first. bound: name of a variable that a ``Bind``
    around has bound, if it has. cell: a scalar in memory. modulus 0: none.
    """

    factors: tuple[int, ...] = ()
    offset: int = 0
    sized: bool = False
    bound: str = ""
    cell: str = ""
    divisor: int = 1
    modulus: int = 0


@dataclass(frozen=True)
class Condition:
    """``index < bound``, or its opposite where ``negated``."""

    index: Index
    bound: int
    negated: bool = False


@dataclass(frozen=True)
class Slice:
    """Rows ``row .. row + height``, columns ``column .. column + width`` of a tile."""

    buffer: str
    row: Index
    height: int
    column: Index
    width: int
    write: bool


@dataclass(frozen=True)
class Flat:
    """``count`` elements from ``first`` on of a tile seen as one row of ``bits``-bit values.

    pointer: name of a pointer that a ``Point`` around has bound, if it has: of that one's tile,
    from where it points to. Otherwise of ``buffer``.
    """

    buffer: str
    bits: int
    first: Index
    count: int
    write: bool
    pointer: str = ""


@dataclass(frozen=True)
class Run:
    """``count`` elements from a place on, row after row: what a pointer of an instruction names."""

    buffer: str
    row: Index
    column: int
    count: int
    write: bool


@dataclass(frozen=True)
class Strided:
    """Elements ``column + step * c`` of one row, for ``count`` values of c, each written.

    stepped: written as a loop of that step.
    """

    buffer: str
    row: Index
    column: int
    step: int
    count: int
    stepped: bool = False


@dataclass(frozen=True)
class Scalar:
    """A scalar in memory; ``value`` is what is written, None for a read."""

    buffer: str
    value: Index | None


@dataclass(frozen=True)
class Local:
    """A variable that the task binds for the accesses behind it, as ``bound`` of their indices."""

    name: str
    value: Index
    body: tuple[Access, ...]


@dataclass(frozen=True)
class Under:
    """Accesses under a condition inside the task."""

    test: Condition
    body: tuple[Access, ...]


Access: TypeAlias = "Slice | Flat | Run | Strided | Scalar | Local | Under"


@dataclass(frozen=True)
class Task:
    accesses: tuple[Access, ...]


@dataclass(frozen=True)
class Bind:
    """A variable for the statements behind it in its sequence, and inside them."""

    name: str
    value: Index


@dataclass(frozen=True)
class Point:
    """A pointer to the first element of a row of a tile, for the statements behind it."""

    name: str
    buffer: str
    row: Index


@dataclass(frozen=True)
class Guarded:
    test: Condition
    body: tuple[Task | Loop, ...]


@dataclass(frozen=True)
class Loop:
    """Values from ``start`` on, ``step`` apart, below ``start + extent``.

    extent: a number, ``n``, or the name of a bound variable, of which the rest by 4 counts.
    """

    extent: int | str
    body: tuple[Statement, ...]
    start: int = 0
    step: int = 1


Statement: TypeAlias = "Task | Bind | Point | Guarded | Loop"


@dataclass(frozen=True)
class Program:
    """owners: the depth of the loops that own ``OWNED``, if all its accesses are inside such.

    versions: how many the program asks for. hints: operands ``annotate`` writes into the root and
    the loops, see :func:`Program.function`.
    """

    body: tuple[Statement, ...]
    owners: int | None = None
    versions: int | None = None

    def __post_init__(self) -> None:
        if self.owners is not None and not all_inside(self.body, self.owners):
            object.__setattr__(self, "owners", None)
        if self.owners is None:
            object.__setattr__(self, "versions", None)

    def function(self, hints: tuple[tuple[str, str, int, bool], ...] = ()) -> tirx.PrimFunc:
        """The kernel, not yet divided into units.

        hints: rows (buffer, buffer, across, conflict) for every body, as NormalizeConflictHints
        leaves them; across: 1 between iterations, 0 within one, -1 both.
        """
        n = tirx.Var("n", "int32")
        writer = _Writer(self, n, hints)
        function = kernel_root(*writer.statements(self.body, _Scope()), params=(n,))
        root = function.body
        annotations: dict[str, Any] = {}
        if hints:
            annotations["tl.root_conflict_hints"] = writer.hints()
        if self.versions is not None:
            annotations["tl.buffer_versions_map"] = {writer.tile(OWNED).data: self.versions}
        block = tirx.SBlock([], [], [], root.name_hint, root.body, annotations=annotations)
        return function.with_body(block)


def all_inside(body: tuple[Statement, ...], depth: int) -> bool:
    """Whether all accesses to ``OWNED`` are inside loops of that depth."""
    for statement in body:
        if isinstance(statement, Loop):
            if depth > 0 and not all_inside(statement.body, depth - 1):
                return False
        elif isinstance(statement, Guarded):
            if not all_inside(statement.body, depth):
                return False
        elif isinstance(statement, Task) and OWNED in buffers(statement.accesses):
            return False
    return True


def buffers(accesses: tuple[Access, ...]) -> set[str]:
    found: set[str] = set()
    for access in accesses:
        if isinstance(access, Local | Under):
            found |= buffers(access.body)
        else:
            found.add(access.buffer)
    return found


@dataclass(frozen=True)
class _Scope:
    loops: tuple[tirx.Var, ...] = ()
    bound: dict[str, tirx.Var] = field(default_factory=dict)

    def inside(self, loop: tirx.Var) -> _Scope:
        return replace(self, loops=(*self.loops, loop))

    def knowing(self, name: str, variable: tirx.Var) -> _Scope:
        return replace(self, bound={**self.bound, name: variable})


class _Writer:
    def __init__(
        self, program: Program, n: tirx.Var, hints: tuple[tuple[str, str, int, bool], ...]
    ) -> None:
        self.program = program
        self.n = n
        self.rows = hints
        self.known: dict[tuple[Any, ...], tirx.Buffer] = {}

    def tile(self, name: str) -> tirx.Buffer:
        return self._buffer((name,), (ROWS, COLUMNS), "float32", name, scope="shared.dyn")

    def view(self, data: tirx.Var, bits: int) -> tirx.Buffer:
        key, shape = (data, bits), (ROWS * COLUMNS * 32 // bits,)
        return self._buffer(key, shape, f"float{bits}", "view", data=data, scope="shared.dyn")

    def scalar(self, name: str) -> tirx.Buffer:
        return self._buffer((name,), (1,), "int32", name, scope="local.var")

    def _buffer(self, key: tuple[Any, ...], shape: Any, *rest: Any, **more: Any) -> tirx.Buffer:
        if key not in self.known:
            self.known[key] = tirx.decl_buffer(shape, *rest, **more)
        return self.known[key]

    def named(self, name: str) -> tirx.Var:
        return (self.tile(name) if name in TILES else self.scalar(name)).data

    def hints(self) -> list[list[Any]]:
        return [
            [self.named(a), self.named(b), _int(across), tirx.IntImm("bool", conflict)]
            for a, b, across, conflict in self.rows
        ]

    def statements(self, body: tuple[Statement, ...], scope: _Scope) -> list[tirx.Stmt]:
        made: list[tirx.Stmt] = []
        for statement in body:
            if isinstance(statement, Bind):
                variable = tirx.Var(statement.name, "int32")
                made.append(tirx.Bind(variable, self.index(statement.value, scope)))
                scope = scope.knowing(statement.name, variable)
            elif isinstance(statement, Point):
                variable = tirx.Var(statement.name, _pointer_type())
                place = [self.index(statement.row, scope), _int(0)]
                made.append(tirx.Bind(variable, self.pointer(statement.buffer, place, 1, 3)))
                scope = scope.knowing(statement.name, variable)
            else:
                made.append(self.statement(statement, scope))
        return made

    def statement(self, statement: Task | Guarded | Loop, scope: _Scope) -> tirx.Stmt:
        if isinstance(statement, Task):
            body = seq(*self.accesses(statement.accesses, scope))
            return tirx.AttrStmt(_int(0), "tl.ascend_task", _int(1), body)
        if isinstance(statement, Guarded):
            body = seq(*(self.statement(each, scope) for each in statement.body))
            return tirx.IfThenElse(self.test(statement.test, scope), body, None)
        depth = len(scope.loops)
        variable = tirx.Var(f"i{depth}", "int32")
        body = seq(*self.statements(statement.body, scope.inside(variable)))
        annotations: dict[str, Any] = {}
        if self.program.owners == depth:
            annotations["multi_buffer_eligible"] = [self.tile(OWNED).data]
        if self.rows:
            annotations["conflict_hint"] = self.hints()
        return tirx.For(
            variable,
            _int(statement.start),
            self.extent(statement.extent, scope),
            tirx.ForKind.SERIAL,
            body,
            annotations=annotations,
            step=None if statement.step == 1 else _int(statement.step),
        )

    def extent(self, extent: int | str, scope: _Scope) -> tirx.PrimExpr:
        if isinstance(extent, int):
            return _int(extent)
        if extent == "n":
            return self.n
        bound = scope.bound.get(extent)
        return _int(UNBOUND) if bound is None else tirx.floormod(bound, _int(4))

    def index(self, index: Index, scope: _Scope) -> tirx.PrimExpr:
        total: tirx.PrimExpr = _int(index.offset)
        for factor, variable in zip(index.factors, scope.loops, strict=False):
            total = total + variable * factor
        if index.sized:
            total = total + self.n
        if index.bound in scope.bound:
            total = total + scope.bound[index.bound]
        if index.cell:
            total = total + tirx.BufferLoad(self.scalar(index.cell), [_int(0)])
        if index.divisor > 1:
            total = tirx.floordiv(total, _int(index.divisor))
        return tirx.floormod(total, _int(index.modulus)) if index.modulus else total

    def test(self, test: Condition, scope: _Scope) -> tirx.PrimExpr:
        condition = self.index(test.index, scope) < test.bound
        return tirx.Not(condition) if test.negated else condition

    def pointer(self, buffer: str, place: list[Any], count: int, mask: int) -> tirx.PrimExpr:
        load = tirx.BufferLoad(self.tile(buffer), place)
        op = tirx.op.Op.get("tl.access_ptr")
        return tirx.call_intrin("handle", op, load, _int(count), _int(mask))

    def accesses(self, accesses: tuple[Access, ...], scope: _Scope) -> list[tirx.Stmt]:
        made: list[tirx.Stmt] = []
        for access in accesses:
            if isinstance(access, Local):
                variable = tirx.Var(access.name, "int32")
                made.append(tirx.Bind(variable, self.index(access.value, scope)))
                inside = scope.knowing(access.name, variable)
                made += self.accesses(access.body, inside)
            else:
                made.append(self.access(access, scope))
        return made

    def access(self, access: Access, scope: _Scope) -> tirx.Stmt:
        if isinstance(access, Under):
            body = seq(*self.accesses(access.body, scope))
            return tirx.IfThenElse(self.test(access.test, scope), body, None)
        if isinstance(access, Slice):
            place = [self.index(access.row, scope), self.index(access.column, scope)]
            extents = (access.height, access.width)
            return _region(self.tile(access.buffer), place, extents, access.write)
        if isinstance(access, Flat):
            data = scope.bound.get(access.pointer, self.tile(access.buffer).data)
            place = [self.index(access.first, scope)]
            return _region(self.view(data, access.bits), place, (access.count,), access.write)
        if isinstance(access, Run):
            place = [self.index(access.row, scope), _int(access.column)]
            mask = 2 if access.write else 1
            return tirx.Evaluate(self.pointer(access.buffer, place, access.count, mask))
        if isinstance(access, Scalar):
            buffer = self.scalar(access.buffer)
            if access.value is None:
                return tirx.Evaluate(tirx.BufferLoad(buffer, [_int(0)]))
            return tirx.BufferStore(buffer, self.index(access.value, scope), [_int(0)])
        c = tirx.Var("c", "int32")
        step = 1 if access.stepped else access.step
        indices = [self.index(access.row, scope), c * step + access.column]
        store = tirx.BufferStore(self.tile(access.buffer), tirx.FloatImm("float32", 1.0), indices)
        extent = access.count * access.step if access.stepped else access.count
        stride = _int(access.step) if access.stepped and access.step > 1 else None
        return tirx.For(c, _int(0), _int(extent), tirx.ForKind.SERIAL, store, step=stride)


def _int(value: int) -> tirx.IntImm:
    return tirx.IntImm("int32", value)


def _pointer_type() -> Any:
    from tvm.ir import PointerType, PrimType

    return PointerType(PrimType("float32"), "shared.dyn")


def _region(
    buffer: tirx.Buffer, mins: list[Any], extents: tuple[int, ...], write: bool
) -> tirx.Stmt:
    operand = tirx.BufferLoad(buffer, mins)
    return call("region", operand, 2 if write else 1, *extents)
