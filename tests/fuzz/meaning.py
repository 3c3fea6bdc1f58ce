"""What a program computes, by numpy: one block after the other, one statement after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.fuzz.model import (
    HALF,
    INT,
    INTS,
    L0C,
    L1A,
    L1B,
    LIMIT,
    NARROW_LIMIT,
    SLOTS,
    UB,
    WIDTH,
    Assign,
    Cell,
    Condition,
    Expr,
    Gemm,
    Hint,
    If,
    Load,
    Loop,
    Narrow,
    Part,
    PerCore,
    Program,
    Ref,
    Stmt,
    Store,
    Task,
    ToL1,
    ToUb,
    UbCell,
    Vec,
    While,
    statements,
)

ROWS_OF = {"A": 32, "B": WIDTH, "C": 32}
"""Rows of a slot in the Cube's tensors."""


LARGEST = {"P": SLOTS - 1, "Q": 12, "U": 12}
"""Of the elements of integer tensors; the least is 0."""


def slot_rows(program: Program, tensor: str) -> int:
    return ROWS_OF.get(tensor, program.slot_rows)


def inputs(program: Program, seed: int, most: int = 3) -> dict[str, np.ndarray]:
    """Tensors by name, float32 where the kernel has a Cube operand type; small whole numbers.

    P is a permutation if the program says that nothing in it is there twice, or if seed is 0.
    most: of the numbers that bound loops.
    """
    rng = np.random.default_rng(seed)
    arrays: dict[str, np.ndarray] = {}
    for name in ("X", "Y", "Z", "A", "B", "C"):
        shape = (program.blocks * SLOTS * slot_rows(program, name), WIDTH)
        arrays[name] = rng.integers(-3, 4, shape).astype(np.float32)
    hinted = any(isinstance(s, Hint) and s.tensor for s in statements(program.body))
    distinct = hinted or seed == 0
    places = rng.permutation(SLOTS) if distinct else rng.integers(0, SLOTS, SLOTS)
    arrays["P"] = places.astype(np.int32)
    arrays["Q"] = rng.integers(0, most + 1, SLOTS).astype(np.int32)
    arrays["U"] = rng.integers(0, most + 1, (SLOTS, INTS)).astype(np.int32)
    return arrays


def run(program: Program, arrays: dict[str, np.ndarray], n: int) -> dict[str, np.ndarray]:
    """The tensors after the kernel. Raises Unwritten."""
    after = {name: array.copy() for name, array in arrays.items()}
    for block in range(program.blocks):
        _Block(program, after, {"block": block, "n": n}).execute(program.body)
    return after


class Unwritten(Exception):
    """A slot of a ring is used that nothing has filled, or a variable that nothing has set."""


@dataclass
class _Block:
    program: Program
    tensors: dict[str, np.ndarray]
    variables: dict[str, int]

    def __post_init__(self) -> None:
        rows, halves = self.program.rows, self.program.halves
        shapes = {
            UB: (halves, rows, WIDTH),
            HALF: (halves, rows, WIDTH),
            INT: (INTS,),
            L1A: (32, WIDTH),
            L1B: (WIDTH, WIDTH),
            L0C: (32, WIDTH),
        }
        self.memory = {}
        for b in self.program.buffers:
            shape = shapes[b.kind][::-1] if b.turned else shapes[b.kind]
            filling = np.nan if b.ring else 0
            self.memory[b.name] = np.full((b.ring or 1, *shape), filling, np.float32)

    def execute(self, body: tuple[Stmt, ...]) -> None:
        for stmt in body:
            self._execute(stmt)

    def _execute(self, stmt: Stmt) -> None:
        match stmt:
            case Load():
                self._load(stmt)
            case Store():
                self._store(stmt)
            case Vec():
                self._vec(stmt)
            case Narrow():
                cut = np.clip(self._tile(stmt.source), -NARROW_LIMIT, NARROW_LIMIT)
                self._tile(stmt.target)[:] = cut
            case Gemm():
                acc = self.memory[stmt.acc][0]
                if stmt.clear if isinstance(stmt.clear, bool) else self._holds(stmt.clear):
                    acc[:] = 0
                acc += self._operand(stmt.a) @ self._operand(stmt.b).T
            case ToUb():
                self._tile(stmt.target)[:] = self.memory[stmt.source][0].reshape(2, -1, WIDTH)
            case ToL1():
                self.memory[stmt.target][0][:] = self._tile(stmt.source).reshape(-1, WIDTH)
            case Task():
                self.execute(stmt.body)
            case PerCore():
                self._execute(stmt.first if self.variables["block"] == 0 else stmt.second)
            case If():
                self.execute(stmt.body if self._holds(stmt.test) else stmt.otherwise)
            case Loop():
                for turn in range(self._value(stmt.extent)):
                    self.variables[stmt.variable] = turn
                    self.execute(stmt.body)
            case While():
                self.variables[stmt.variable] = 0
                while self.variables[stmt.variable] < self._value(stmt.bound):
                    self.execute(stmt.body)
                    self.variables[stmt.variable] += 1
            case Assign():
                self.variables[stmt.variable] = self._value(stmt.value)
            case Hint():
                pass

    def _value(self, expr: Expr) -> int:
        total = expr.constant
        for factor, atom in expr.terms:
            match atom:
                case Cell(tensor, index):
                    value = int(self.tensors[tensor][self._value(index)])
                case UbCell(buffer, element):
                    value = int(self.memory[buffer][0][element])
                case _ if atom not in self.variables:
                    raise Unwritten(atom)
                case _:
                    value = self.variables[atom]
            total += factor * value
        total //= expr.divisor
        return total % expr.modulus if expr.modulus else total

    def _holds(self, test: Condition) -> bool:
        left, right = self._value(test.left), self._value(test.right)
        return left == right if test.equal else left < right

    def _tile(self, ref: Ref) -> np.ndarray:
        """Of a tile buffer: halves x rows x WIDTH, to be read or written."""
        return self.memory[ref.buffer][self._value(ref.slot) if ref.slot else 0]

    def _filled(self, ref: Ref) -> np.ndarray:
        """The same, to be read only."""
        tile = self._tile(ref)
        if np.isnan(tile).any():
            raise Unwritten(ref.buffer)
        return tile

    def _operand(self, name: str) -> np.ndarray:
        tile = self.memory[name][0]
        return tile.T if self.program.buffer(name).turned else tile

    def _slot(self, tensor: str, slot: Expr) -> np.ndarray:
        rows = slot_rows(self.program, tensor)
        first = (self.variables["block"] * SLOTS + self._value(slot)) * rows
        return self.tensors[tensor][first : first + rows]

    def _load(self, stmt: Load) -> None:
        if stmt.tensor == "U":
            self.memory[stmt.target.buffer][0][:] = self.tensors["U"][self._value(stmt.slot)]
            return
        tile, source = self._tile(stmt.target), self._slot(stmt.tensor, stmt.slot)
        if self.program.buffer(stmt.target.buffer).kind in (L1A, L1B):
            tile[:] = source.T if stmt.turned else source
            return
        for half in range(self.program.halves):
            rows = _rows(stmt.part, half, split=stmt.split)
            # Where the tensor ends, the buffer keeps what it has.
            there = source[rows, _columns(stmt.part)]
            _cut(tile[half], stmt.part)[: len(there)] = there

    def _store(self, stmt: Store) -> None:
        target = self._slot(stmt.tensor, stmt.slot)
        if self.program.buffer(stmt.source.buffer).kind == L0C:
            target[:] = self.memory[stmt.source.buffer][0]
            return
        tile = self._filled(stmt.source)
        for half in range(self.program.halves):
            rows = _rows(stmt.part, half, split=self.program.halves == 2)
            there = target[rows, _columns(stmt.part)]
            there[:] = _cut(tile[half], stmt.part)[: len(there)]

    def _vec(self, stmt: Vec) -> None:
        target, part = self._tile(stmt.target), stmt.part
        rows, columns = np.mgrid[part.row : part.row + part.rows, _columns(part)]
        shift = self._value(Expr(((1, stmt.shift),))) if stmt.shift is not None else 0
        moved = (rows, (columns + shift) % WIDTH)
        to, place = (moved, (rows, columns)) if stmt.scatters else ((rows, columns), moved)
        for half in range(self.program.halves):
            result = np.full(rows.shape, self._value(stmt.constant), np.float32)
            where = np.ones(rows.shape, bool)
            if stmt.source is not None:
                source = self._filled(stmt.source)[half][place]
                result += source * np.float32(stmt.factor)
                where = source > 0 if stmt.positive else where
            before = target[half][to]
            if stmt.adds:
                result += before
            target[half][to] = np.where(where, np.clip(result, -LIMIT, LIMIT), before)


def _cut(tile: np.ndarray, part: Part) -> np.ndarray:
    return tile[part.row : part.row + part.rows, _columns(part)]


def _columns(part: Part) -> slice:
    return slice(part.column, part.column + part.columns)


def _rows(part: Part, half: int, *, split: bool) -> slice:
    """Rows of the slot that go with a part of a Vector core's tile."""
    first = 2 * part.row + half * part.rows if split else part.row
    return slice(first, first + part.rows)
