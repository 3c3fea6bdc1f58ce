"""Judges the analysis on random kernels as TileLang lowers them.

``python -m tests.analysis.fuzzed 200`` analyses the kernels of that many programs of ``tests.fuzz``
and runs the programs with numpy: what two executions of statements both touch must be an edge
between their tasks. Tasks are told by source lines; those that TileLang's passes leave without one
are counted as not told.
"""

from __future__ import annotations

import re
import sys
import tempfile
import warnings
from collections import defaultdict
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from unittest import mock

import numpy as np

import tilelang_ascend_sched as sched
from tests.fuzz import lowering, meaning
from tests.fuzz.generate import generate
from tests.fuzz.lowering import build, ours
from tests.fuzz.meaning import _Block, _columns, _cut, _rows, slot_rows
from tests.fuzz.model import (
    L0C,
    SLOTS,
    Gemm,
    Load,
    Loop,
    Narrow,
    Program,
    Stmt,
    Store,
    ToL1,
    ToUb,
    UbCell,
    Vec,
    While,
)
from tests.fuzz.source import _Writer
from tilelang_ascend_sched.deps import VERSIONS, Dependences, find_dependences

NUMBERS = (0, 1, 4)
"""Values of ``n``."""
WORK = (Load, Store, Vec, Narrow, Gemm, ToUb, ToL1)

Turn = tuple[str, int]
"""A loop's variable, and the turn."""


@dataclass(frozen=True)
class Execution:
    """One execution of a statement: bits of the elements by buffer, and the turns around it."""

    stmt: int
    turns: tuple[Turn, ...]
    reads: dict[str, int]
    writes: dict[str, int]


@dataclass
class Score:
    programs: int = 0
    refused: int = 0
    conflicts: int = 0
    untold: int = 0
    missing: list[str] = field(default_factory=list)


class _Tagged(_Writer):
    """Ends each line of a statement that works with its number."""

    def _statement(self, stmt: Stmt) -> list[str]:
        lines = super()._statement(stmt)
        if not isinstance(stmt, WORK):
            return lines
        return [f"{line}  # statement {id(stmt)}" for line in lines]


class _Traced(_Block):
    """Runs a block and notes what its statements touch."""

    def start(self) -> list[Execution]:
        self.turns: tuple[Turn, ...] = ()
        self.found: list[Execution] = []
        # Places instead of values, in arrays of the same shapes.
        self.places = {
            name: np.arange(array.size).reshape(array.shape)
            for name, array in (self.memory | self.tensors).items()
        }
        self.execute(self.program.body)
        return self.found

    def _execute(self, stmt: Stmt) -> None:
        if isinstance(stmt, WORK):
            reads, writes = self.touched(stmt)
            self.found.append(Execution(id(stmt), self.turns, reads, writes))
        if not isinstance(stmt, Loop | While):
            super()._execute(stmt)
            return
        around, turn = self.turns, 0
        self.variables[stmt.variable] = 0
        count = self._value(stmt.extent) if isinstance(stmt, Loop) else None
        while (
            turn < count
            if count is not None
            else self.variables[stmt.variable] < self._value(stmt.bound)
        ):
            if count is not None:
                self.variables[stmt.variable] = turn
            self.turns = (*around, (stmt.variable, turn))
            self.execute(stmt.body)
            turn += 1
            if count is None:
                self.variables[stmt.variable] += 1
        self.turns = around

    def touched(self, stmt: Stmt) -> tuple[dict[str, int], dict[str, int]]:
        reads: dict[str, int] = defaultdict(int)
        writes: dict[str, int] = defaultdict(int)
        tile = self._places_of_tile

        def add(to: dict[str, int], name: str, places: np.ndarray) -> None:
            to[name] |= _bits(places)

        match stmt:
            case Load() if stmt.tensor == "U":
                add(writes, stmt.target.buffer, self.places[stmt.target.buffer])
            case Load() if self.program.buffer(stmt.target.buffer).kind not in ("ub", "half"):
                add(writes, stmt.target.buffer, self.places[stmt.target.buffer])
                add(reads, stmt.tensor, self._places_of_slot(stmt.tensor, stmt.slot))
            case Load():
                source = self._places_of_slot(stmt.tensor, stmt.slot)
                for half in range(self.program.halves):
                    rows = _rows(stmt.part, half, split=stmt.split)
                    add(writes, stmt.target.buffer, _cut(tile(stmt.target)[half], stmt.part))
                    add(reads, f"{stmt.tensor} {half}", source[rows, _columns(stmt.part)])
            case Store() if self.program.buffer(stmt.source.buffer).kind == L0C:
                add(reads, stmt.source.buffer, self.places[stmt.source.buffer])
                add(writes, stmt.tensor, self._places_of_slot(stmt.tensor, stmt.slot))
            case Store():
                target = self._places_of_slot(stmt.tensor, stmt.slot)
                for half in range(self.program.halves):
                    rows = _rows(stmt.part, half, split=self.program.halves == 2)
                    add(reads, stmt.source.buffer, _cut(tile(stmt.source)[half], stmt.part))
                    add(writes, f"{stmt.tensor} {half}", target[rows, _columns(stmt.part)])
            case Vec():
                for half in range(self.program.halves):
                    out = _cut(tile(stmt.target)[half], stmt.part)
                    add(writes, stmt.target.buffer, out)
                    if stmt.adds:
                        add(reads, stmt.target.buffer, out)
                    if stmt.source is not None:
                        add(reads, stmt.source.buffer, _cut(tile(stmt.source)[half], stmt.part))
                for _, atom in stmt.constant.terms:
                    if isinstance(atom, UbCell):
                        add(reads, atom.buffer, self.places[atom.buffer][0][atom.element])
            case Narrow():
                add(reads, stmt.source.buffer, tile(stmt.source))
                add(writes, stmt.target.buffer, tile(stmt.target))
            case Gemm():
                for operand in (stmt.a, stmt.b):
                    add(reads, operand, self.places[operand])
                add(writes, stmt.acc, self.places[stmt.acc])
            case ToUb():
                add(reads, stmt.source, self.places[stmt.source])
                add(writes, stmt.target.buffer, tile(stmt.target))
            case ToL1():
                add(reads, stmt.source.buffer, tile(stmt.source))
                add(writes, stmt.target, self.places[stmt.target])
        return reads, writes

    def _places_of_tile(self, ref) -> np.ndarray:
        return self.places[ref.buffer][self._value(ref.slot) if ref.slot else 0]

    def _places_of_slot(self, tensor: str, slot) -> np.ndarray:
        rows = slot_rows(self.program, tensor)
        first = (self.variables["block"] * SLOTS + self._value(slot)) * rows
        return self.places[tensor][first : first + rows]


def _bits(places: np.ndarray) -> int:
    flat = np.zeros(int(places.max()) + 1, np.uint8)
    flat[places.ravel()] = 1
    return int.from_bytes(np.packbits(flat, bitorder="little").tobytes(), "little")


def conflicts(program: Program) -> dict[tuple[int, int, str, bool], int]:
    """For two statements and the loop whose turns part them (none: one turn): the least distance.

    The last part of the key tells whether it is 0.
    """
    least: dict[tuple[int, int, str, bool], int] = {}
    for n in NUMBERS if program.dynamic else (0,):
        arrays = meaning.inputs(program, n)
        for block in range(program.blocks):
            found = _Traced(program, arrays, {"block": block, "n": n}).start()
            for first, second in combinations(found, 2):
                if first.stmt == second.stmt and first.turns == second.turns:
                    continue
                if not _conflict(first, second):
                    continue
                loop, distance = _apart(first.turns, second.turns)
                key = (first.stmt, second.stmt, loop, distance == 0)
                least[key] = min(distance, least.get(key, distance))
    return least


def _conflict(first: Execution, second: Execution) -> bool:
    return (
        _meet(first.writes, second.writes)
        or _meet(first.writes, second.reads)
        or _meet(first.reads, second.writes)
    )


def _meet(a: dict[str, int], b: dict[str, int]) -> bool:
    return any(bits & b.get(name, 0) for name, bits in a.items())


def _apart(first: tuple[Turn, ...], second: tuple[Turn, ...]) -> tuple[str, int]:
    for one, other in zip(first, second, strict=False):
        if one[0] != other[0]:
            break
        if one[1] != other[1]:
            return one[0], other[1] - one[1]
    return "", 0


def judge(program: Program, folder: Path, score: Score) -> None:
    # All versions as one: which executions meet is worked out without any.
    buffers = tuple(replace(b, versions=None) for b in program.buffers)
    program = replace(program, buffers=buffers)
    tagged = _Tagged(program).module()
    lines = [re.search(r"# statement (\d+)", line) for line in tagged.splitlines()]
    try:
        with mock.patch.object(lowering, "write", lambda _: tagged):
            kernels = find_dependences(build(program, folder))
    except Exception as error:
        if type(error).__module__ == "builtins" and not isinstance(error, ValueError):
            raise
        score.refused += 1
        return
    score.programs += 1
    (kernel,) = kernels
    tasks: dict[int, set[int]] = defaultdict(set)
    for number, task in enumerate(kernel.tasks):
        place = re.search(r"\.py:(\d+)\)", task.name)
        tag = lines[int(place[1]) - 1] if place else None
        if tag is not None and not task.loop:
            tasks[int(tag[1])].add(number)
    names = {
        number: tagged.splitlines()[i].strip()
        for i, tag in enumerate(lines)
        if tag
        for number in [int(tag[1])]
    }
    for (first, second, loop, _), distance in conflicts(program).items():
        if not tasks[first] or not tasks[second]:
            score.untold += 1
            continue
        score.conflicts += 1
        if not _covered(kernel, tasks[first], tasks[second], loop, distance):
            where = f"{loop} +{distance}" if loop else "one turn"
            score.missing.append(f"{program.name}: {names[first]} -> {names[second]} ({where})")


def _covered(
    kernel: Dependences, firsts: set[int], seconds: set[int], loop: str, distance: int
) -> bool:
    if distance == 0 and firsts & seconds:
        return True  # in one task
    scheduled = {body.name for body in kernel.bodies}
    for body in kernel.bodies:
        for edge in body.edges:
            if edge.kind == "exclusion" and edge.source in seconds and edge.target in firsts:
                return True
            if edge.source not in firsts or edge.target not in seconds:
                continue
            least = 1 if edge.distance == VERSIONS else int(edge.distance)
            # Loops that were unrolled, or are a `while`, have another name or none.
            if (loop and loop not in scheduled) or edge.kind == "exclusion":
                return True
            if least <= distance and (body.name == loop) == (distance > 0):
                return True
    return False


def run(first: int, count: int) -> Score:
    score = Score()
    with tempfile.TemporaryDirectory() as folder, sched.enabled():
        for seed in range(first, first + count):
            program = generate(seed, ours("ours"))
            if program.scheduled:
                judge(program, Path(folder), score)
    return score


def main(count: int, first: int = 0) -> None:
    warnings.simplefilter("ignore")
    score = run(first, count)
    for line in score.missing:
        print(line)
    print(
        f"{score.programs} programs analysed, {score.refused} refused by TileLang; "
        f"{score.conflicts} pairs of statements met, {len(score.missing)} without an edge, "
        f"{score.untold} more not told"
    )
    sys.exit(bool(score.missing))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
