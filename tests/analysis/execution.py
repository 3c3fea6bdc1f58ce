"""What the executions of a program's tasks touch: bytes, by carrying the program out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from tests.analysis.programs import (
    COLUMNS,
    OWNED,
    UNBOUND,
    Access,
    Bind,
    Condition,
    Flat,
    Guarded,
    Index,
    Local,
    Loop,
    Point,
    Program,
    Run,
    Scalar,
    Slice,
    Statement,
    Strided,
    Under,
)

Bytes = frozenset[tuple[str, int, int]]
"""Storage, its version or its instance, and byte."""

Path = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Execution:
    """One execution of a leaf: a task, or the bounds of a loop.

    path: for each body around it, outermost first: number of the body, unit, iteration.
    """

    leaf: int
    path: Path
    reads: Bytes
    writes: Bytes


def executions(program: Program, n: int, versions: int = 1) -> list[Execution]:
    """In the program's order. versions: that the owned tile has, used by its owners in turns."""
    machine = _Machine(program, n, versions)
    machine.run(program.body, _Place(), _Numbers())
    return machine.found


@dataclass
class _Numbers:
    """Leaves and bodies are numbered in program order, whether they are executed or not."""

    leaves: int = 0
    bodies: int = 1

    def skip(self, statement: Statement) -> None:
        self.leaves += not isinstance(statement, Guarded)
        self.bodies += isinstance(statement, Loop)
        if isinstance(statement, Guarded | Loop):
            for inner in statement.body:
                self.skip(inner)


@dataclass(frozen=True)
class _Place:
    """Where control is. bound: names to values, with the instance of the binding."""

    path: Path = ()
    body: int = 0
    iteration: int = 0
    loops: tuple[int, ...] = ()
    turns: tuple[int, ...] = ()
    bound: dict[str, tuple[int, int]] = field(default_factory=dict)
    pointers: dict[str, tuple[str, int, int]] = field(default_factory=dict)


@dataclass
class _Touched:
    reads: set[tuple[str, int, int]] = field(default_factory=set)
    writes: set[tuple[str, int, int]] = field(default_factory=set)


class _Machine:
    def __init__(self, program: Program, n: int, versions: int) -> None:
        self.program = program
        self.n = n
        self.versions = versions
        self.cells = {"s": 0, "t": 1}
        self.instances = count()
        self.found: list[Execution] = []

    def run(self, body: tuple[Statement, ...], place: _Place, numbers: _Numbers) -> None:
        unit = 0
        for statement in body:
            if isinstance(statement, Bind | Point):
                touched = _Touched()
                value = self.value(_bound_index(statement), place, touched)
                place = self.bind(statement, value, place, touched)
                self.record(numbers, place, unit, touched)
                unit += 1
                continue
            inner = statement.body if isinstance(statement, Guarded) else (statement,)
            condition = _Touched()
            runs = not isinstance(statement, Guarded) or self.holds(
                statement.test, place, condition
            )
            for each in inner:
                if not runs:
                    numbers.skip(each)
                elif isinstance(each, Loop):
                    self.loop(each, place, unit, numbers, condition)
                else:
                    touched = _Touched(set(condition.reads))
                    for access in each.accesses:
                        self.access(access, place, touched)
                    self.record(numbers, place, unit, touched)
                unit += 1

    def bind(self, statement: Bind | Point, value: int, place: _Place, touched: _Touched) -> _Place:
        instance = next(self.instances)
        touched.writes.add((statement.name, instance, 0))
        if isinstance(statement, Bind):
            return replace(place, bound={**place.bound, statement.name: (value, instance)})
        pointer = (statement.buffer, value * COLUMNS * 4, instance)
        return replace(place, pointers={**place.pointers, statement.name: pointer})

    def loop(
        self, loop: Loop, place: _Place, unit: int, numbers: _Numbers, condition: _Touched
    ) -> None:
        header = _Touched(set(condition.reads))
        extent = loop.extent
        if isinstance(extent, str):
            if extent == "n":
                extent = self.n
            elif extent in place.bound:
                extent = self.value(Index(bound=extent, modulus=4), place, header)
            else:
                extent = UNBOUND
        body = numbers.bodies
        self.record(numbers, place, unit, header)
        numbers.bodies += 1
        inside = replace(place, path=(*place.path, (place.body, unit, place.iteration)), body=body)
        after = _Numbers(numbers.leaves, numbers.bodies)
        for inner in loop.body:
            after.skip(inner)
        values = range(loop.start, loop.start + extent, loop.step)
        for turn, value in enumerate(values):
            here = replace(
                inside,
                iteration=turn,
                loops=(*place.loops, value),
                turns=(*place.turns, turn),
            )
            self.run(loop.body, here, _Numbers(numbers.leaves, numbers.bodies))
        numbers.leaves, numbers.bodies = after.leaves, after.bodies

    def record(self, numbers: _Numbers, place: _Place, unit: int, touched: _Touched) -> None:
        path = (*place.path, (place.body, unit, place.iteration))
        reads, writes = frozenset(touched.reads), frozenset(touched.writes)
        self.found.append(Execution(numbers.leaves, path, reads, writes))
        numbers.leaves += 1

    def value(self, index: Index, place: _Place, touched: _Touched) -> int:
        total = index.offset + self.n * index.sized
        total += sum(f * i for f, i in zip(index.factors, place.loops, strict=False))
        if index.bound in place.bound:
            value, instance = place.bound[index.bound]
            total += value
            if instance >= 0:
                touched.reads.add((index.bound, instance, 0))
        if index.cell:
            total += self.cells[index.cell]
            touched.reads.update((index.cell, 0, byte) for byte in range(4))
        total //= index.divisor
        return total % index.modulus if index.modulus else total

    def holds(self, test: Condition, place: _Place, touched: _Touched) -> bool:
        return (self.value(test.index, place, touched) < test.bound) != test.negated

    def access(self, access: Access, place: _Place, touched: _Touched) -> None:
        if isinstance(access, Local):
            value = self.value(access.value, place, touched)
            # A variable of the task's own is nothing that others can meet.
            place = replace(place, bound={**place.bound, access.name: (value, -1)})
        if isinstance(access, Local) or (
            isinstance(access, Under) and self.holds(access.test, place, touched)
        ):
            for inner in access.body:
                self.access(inner, place, touched)
        if isinstance(access, Local | Under):
            return
        storage, version = access.buffer, 0
        if isinstance(access, Flat) and access.pointer in place.pointers:
            storage, _, instance = place.pointers[access.pointer]
            touched.reads.add((access.pointer, instance, 0))
        if storage == OWNED and self.program.owners is not None:
            version = place.turns[self.program.owners] % self.versions
        met = {(storage, version, byte) for byte in self.bytes(access, place, touched)}
        write = isinstance(access, Strided) or (
            access.value is not None if isinstance(access, Scalar) else access.write
        )
        (touched.writes if write else touched.reads).update(met)

    def bytes(self, access: Access, place: _Place, touched: _Touched) -> Iterator[int]:
        if isinstance(access, Scalar):
            if access.value is not None:
                self.cells[access.buffer] = self.value(access.value, place, touched)
            return iter(range(4))
        if isinstance(access, Flat):
            first = self.value(access.first, place, touched) * access.bits // 8
            if access.pointer in place.pointers:
                first += place.pointers[access.pointer][1]
            return iter(range(first, first + access.count * access.bits // 8))
        row = self.value(access.row, place, touched)
        if isinstance(access, Run):
            first = (row * COLUMNS + access.column) * 4
            return iter(range(first, first + access.count * 4))
        if isinstance(access, Strided):
            columns = range(access.column, access.column + access.step * access.count, access.step)
            return _of_rows(range(row, row + 1), columns)
        assert isinstance(access, Slice)
        column = self.value(access.column, place, touched)
        return _of_rows(range(row, row + access.height), range(column, column + access.width))


def _bound_index(statement: Bind | Point) -> Index:
    return statement.value if isinstance(statement, Bind) else statement.row


def _of_rows(rows: range, columns: range) -> Iterator[int]:
    for row in rows:
        for column in columns:
            start = (row * COLUMNS + column) * 4
            yield from range(start, start + 4)
