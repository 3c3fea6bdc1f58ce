"""Random small loop nests, as data: their TIR, and the bytes that each execution of a task touches.

What a program touches is worked out from the data alone, so that it can judge the analysis of the
TIR.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import tilelang  # noqa: F401  # puts its TVM on the path
from hypothesis import strategies as st
from tvm import tirx

from tests.passes.tir import kernel_root

ROWS = 64
COLUMNS = 16
SIZES = (0, 1, 3)
"""Values of the symbolic size at which programs are executed."""

Bytes = frozenset[tuple[str, int]]


@dataclass(frozen=True)
class Index:
    """``((sum of factors * loop variables) + offset [+ n]) [// divisor] [% modulus]``."""

    factors: tuple[int, int]
    offset: int
    sized: bool = False
    divisor: int = 1
    modulus: int = 0

    def value(self, loops: tuple[int, ...], n: int) -> int:
        total = self.offset + n * self.sized
        total += sum(f * i for f, i in zip(self.factors, loops, strict=False))
        total //= self.divisor
        return total % self.modulus if self.modulus else total

    def expr(self, loops: tuple[tirx.Var, ...], n: tirx.Var) -> tirx.PrimExpr:
        total = tirx.IntImm("int32", self.offset) + (n if self.sized else 0)
        for factor, variable in zip(self.factors, loops, strict=False):
            total = total + variable * factor
        if self.divisor > 1:
            total = tirx.floordiv(total, tirx.IntImm("int32", self.divisor))
        return tirx.floormod(total, tirx.IntImm("int32", self.modulus)) if self.modulus else total


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
    """``count`` elements from ``first`` on of a tile seen as one row of ``bits``-bit values."""

    buffer: str
    bits: int
    first: Index
    count: int
    write: bool


@dataclass(frozen=True)
class Strided:
    """Elements ``column + step * c`` of one row, for ``count`` values of c, each written."""

    buffer: str
    row: Index
    column: int
    step: int
    count: int


@dataclass(frozen=True)
class Scalar:
    """A scalar variable."""

    buffer: str
    write: bool


Access = Slice | Flat | Strided | Scalar


@dataclass(frozen=True)
class Task:
    accesses: tuple[Access, ...]


@dataclass(frozen=True)
class Guarded:
    """Under ``index < bound``, or its opposite where ``negated``."""

    index: Index
    bound: int
    negated: bool
    body: tuple[Task, ...]


@dataclass(frozen=True)
class Loop:
    """``extent`` turns; -1 means ``n``."""

    extent: int
    body: tuple[Task | Guarded | Loop, ...]


Statement = Task | Guarded | Loop


@dataclass(frozen=True)
class Execution:
    """One execution of a task.

    path: for each body around it, outermost first: number of the body, unit, iteration.
    """

    task: int
    path: tuple[tuple[int, int, int], ...]
    reads: Bytes
    writes: Bytes


@dataclass(frozen=True)
class Program:
    body: tuple[Statement, ...]

    def function(self) -> tirx.PrimFunc:
        """The kernel, not yet divided into units."""
        n = tirx.Var("n", "int32")
        names = _Names()
        return kernel_root(*_stmts(self.body, (), n, names), params=(n,))

    def executions(self, n: int) -> list[Execution]:
        found: list[Execution] = []
        _execute(self.body, (), n, _Numbers(), 0, (), found)
        return found


class _Names:
    def __init__(self) -> None:
        self.tiles: dict[str, tirx.Buffer] = {}
        self.views: dict[tuple[str, int], tirx.Buffer] = {}
        self.scalars: dict[str, tirx.Buffer] = {}

    def tile(self, name: str) -> tirx.Buffer:
        if name not in self.tiles:
            shape = (ROWS, COLUMNS)
            self.tiles[name] = tirx.decl_buffer(shape, "float32", name, scope="shared.dyn")
        return self.tiles[name]

    def view(self, name: str, bits: int) -> tirx.Buffer:
        key = (name, bits)
        if key not in self.views:
            shape = (ROWS * COLUMNS * 32 // bits,)
            self.views[key] = tirx.decl_buffer(
                shape, f"float{bits}", name + "_view", data=self.tile(name).data, scope="shared.dyn"
            )
        return self.views[key]

    def scalar(self, name: str) -> tirx.Buffer:
        if name not in self.scalars:
            self.scalars[name] = tirx.decl_buffer((1,), "int32", name, scope="local.var")
        return self.scalars[name]


def _int(value: int) -> tirx.IntImm:
    return tirx.IntImm("int32", value)


def _region(buffer: tirx.Buffer, mins: list[Any], extents: list[int], write: bool) -> tirx.Stmt:
    load = tirx.BufferLoad(buffer, mins)
    mask = _int(2 if write else 1)
    op = tirx.op.Op.get("tl.region")
    return tirx.Evaluate(tirx.call_intrin("handle", op, load, mask, *map(_int, extents)))


def _access(access: Access, loops: tuple[tirx.Var, ...], n: tirx.Var, names: _Names) -> tirx.Stmt:
    if isinstance(access, Slice):
        mins = [access.row.expr(loops, n), access.column.expr(loops, n)]
        extents = [access.height, access.width]
        return _region(names.tile(access.buffer), mins, extents, access.write)
    if isinstance(access, Flat):
        buffer = names.view(access.buffer, access.bits)
        return _region(buffer, [access.first.expr(loops, n)], [access.count], access.write)
    if isinstance(access, Scalar):
        buffer = names.scalar(access.buffer)
        if access.write:
            return tirx.BufferStore(buffer, _int(1), [_int(0)])
        return tirx.Evaluate(tirx.BufferLoad(buffer, [_int(0)]))
    c = tirx.Var("c", "int32")
    indices = [access.row.expr(loops, n), c * access.step + access.column]
    store = tirx.BufferStore(names.tile(access.buffer), tirx.FloatImm("float32", 1.0), indices)
    return tirx.For(c, _int(0), _int(access.count), tirx.ForKind.SERIAL, store)


def _task(task: Task, loops: tuple[tirx.Var, ...], n: tirx.Var, names: _Names) -> tirx.Stmt:
    stmts = [_access(access, loops, n, names) for access in task.accesses]
    body = stmts[0] if len(stmts) == 1 else tirx.SeqStmt(stmts)
    return tirx.AttrStmt(_int(0), "tl.ascend_task", _int(1), body)


def _stmts(
    body: tuple[Statement, ...], loops: tuple[tirx.Var, ...], n: tirx.Var, names: _Names
) -> list[tirx.Stmt]:
    stmts: list[tirx.Stmt] = []
    for statement in body:
        if isinstance(statement, Task):
            stmts.append(_task(statement, loops, n, names))
        elif isinstance(statement, Guarded):
            condition = statement.index.expr(loops, n) < statement.bound
            if statement.negated:
                condition = tirx.Not(condition)
            inner = [_task(task, loops, n, names) for task in statement.body]
            then = inner[0] if len(inner) == 1 else tirx.SeqStmt(inner)
            stmts.append(tirx.IfThenElse(condition, then, None))
        else:
            variable = tirx.Var(f"i{len(loops)}", "int32")
            inner = _stmts(statement.body, (*loops, variable), n, names)
            extent = n if statement.extent < 0 else _int(statement.extent)
            then = inner[0] if len(inner) == 1 else tirx.SeqStmt(inner)
            stmts.append(tirx.For(variable, _int(0), extent, tirx.ForKind.SERIAL, then))
    return stmts


class _Numbers:
    """Tasks and bodies are numbered in program order, whether they are executed or not."""

    def __init__(self) -> None:
        self.tasks = 0
        self.bodies = 1


def _numbered(statement: Statement, numbers: _Numbers) -> None:
    if isinstance(statement, Task):
        numbers.tasks += 1
    elif isinstance(statement, Guarded):
        numbers.tasks += len(statement.body)
    else:
        numbers.bodies += 1
        for inner in statement.body:
            _numbered(inner, numbers)


def _execute(
    body: tuple[Statement, ...],
    loops: tuple[int, ...],
    n: int,
    numbers: _Numbers,
    number: int,
    path: tuple[tuple[int, int, int], ...],
    found: list[Execution],
) -> None:
    """Executes a body once; ``numbers`` moves behind its tasks and bodies."""
    unit = 0
    iteration = loops[-1] if loops else 0
    for statement in body:
        if isinstance(statement, Loop):
            extent = n if statement.extent < 0 else statement.extent
            inner = numbers.bodies
            here = (*path, (number, unit, iteration))
            for turn in range(extent):
                again = _Numbers()
                again.tasks, again.bodies = numbers.tasks, inner + 1
                _execute(statement.body, (*loops, turn), n, again, inner, here, found)
            _numbered(statement, numbers)
            unit += 1
            continue
        tasks = (statement,) if isinstance(statement, Task) else statement.body
        runs = True
        if isinstance(statement, Guarded):
            holds = statement.index.value(loops, n) < statement.bound
            runs = holds != statement.negated
        for task in tasks:
            if runs:
                reads, writes = _touched(task, loops, n)
                here = (*path, (number, unit, iteration))
                found.append(Execution(numbers.tasks, here, reads, writes))
            numbers.tasks += 1
            unit += 1


def _touched(task: Task, loops: tuple[int, ...], n: int) -> tuple[Bytes, Bytes]:
    reads: set[tuple[str, int]] = set()
    writes: set[tuple[str, int]] = set()
    for access in task.accesses:
        write = isinstance(access, Strided) or access.write
        (writes if write else reads).update((access.buffer, b) for b in _bytes(access, loops, n))
    return frozenset(reads), frozenset(writes)


def _bytes(access: Access, loops: tuple[int, ...], n: int) -> Iterator[int]:
    if isinstance(access, Scalar):
        yield from range(4)
    elif isinstance(access, Flat):
        first = access.first.value(loops, n) * access.bits // 8
        yield from range(first, first + access.count * access.bits // 8)
    else:
        row = access.row.value(loops, n)
        if isinstance(access, Strided):
            rows = [row]
            columns = [access.column + access.step * c for c in range(access.count)]
        else:
            rows = list(range(row, row + access.height))
            first = access.column.value(loops, n)
            columns = list(range(first, first + access.width))
        for r in rows:
            for c in columns:
                start = (r * COLUMNS + c) * 4
                yield from range(start, start + 4)


_factors = st.tuples(st.sampled_from([0, 0, 1, 2, 3]), st.sampled_from([0, 0, 1, 2]))
_rows = st.builds(
    Index,
    _factors,
    st.integers(0, 4),
    st.booleans(),
    st.sampled_from([1, 1, 1, 2]),
    st.sampled_from([0, 0, 2, 3]),
)
_columns = st.builds(
    Index, _factors, st.integers(0, 3), st.just(False), st.just(1), st.sampled_from([2, 3, 8])
)
_tiles = st.sampled_from(["a", "b"])
_accesses = st.one_of(
    st.builds(Slice, _tiles, _rows, st.integers(1, 2), _columns, st.integers(1, 8), st.booleans()),
    st.builds(Slice, _tiles, _rows, st.integers(1, 2), _columns, st.integers(1, 8), st.booleans()),
    st.builds(
        Flat, _tiles, st.sampled_from([16, 32]), _rows, st.sampled_from([1, 4, 40]), st.booleans()
    ),
    st.builds(
        Strided, _tiles, _rows, st.integers(0, 3), st.sampled_from([1, 2]), st.integers(1, 5)
    ),
    st.builds(Scalar, st.sampled_from(["s", "t"]), st.booleans()),
)
_tasks = st.builds(Task, st.lists(_accesses, min_size=1, max_size=3).map(tuple))
_guarded = st.builds(
    Guarded,
    st.builds(
        Index,
        _factors,
        st.integers(0, 1),
        st.booleans(),
        st.just(1),
        st.sampled_from([0, 2, 3]),
    ),
    st.integers(1, 3),
    st.booleans(),
    st.lists(_tasks, min_size=1, max_size=2).map(tuple),
)
_extents = st.sampled_from([2, 3, 4, 1, -1])
_simple = st.one_of(_tasks, _tasks, _guarded)
_inner = st.builds(Loop, _extents, st.lists(_simple, min_size=1, max_size=3).map(tuple))
_outer = st.builds(
    Loop,
    _extents,
    st.lists(st.one_of(_simple, _simple, _inner), min_size=2, max_size=4).map(tuple),
)

programs = st.builds(
    Program, st.lists(st.one_of(_outer, _outer, _tasks), min_size=1, max_size=2).map(tuple)
)
