"""Random programs. The same seed makes the same program.

A statement that reads a buffer comes only where the buffer is written on every way there, so that
a program has one meaning: what is not written yet is written first.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.fuzz.exclusions import restarted_ring
from tests.fuzz.model import (
    HALF,
    INT,
    INTS,
    L0C,
    L1A,
    L1B,
    SLOTS,
    UB,
    WIDTH,
    Buffer,
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
from tests.fuzz.valid import missing_work

MOST_TURNS = 40
"""Of all loops around a statement together, about."""
MOST_DEPTH = 3
MANY = 4
"""Turns that a loop of unknown length is taken to make."""


def generate(seed: int, ours: frozenset[str] = frozenset(), unknowns: int = 4) -> Program:
    """The program of a seed.

    ours: names of the passes that are not TileLang's own; what only those lower rightly is kept.
    unknowns: how many bounds, guards and places at most depend on what only inputs tell.
    """
    attempt = 0
    while True:
        program = _Maker(random.Random(f"{seed}.{attempt}"), f"k{seed}", unknowns).program()
        if "InsertSync" in ours or not restarted_ring(program):
            return program
        attempt += 1


class _Maker:
    def __init__(self, rng: random.Random, name: str, unknowns: int) -> None:
        self.rng = rng
        self.name = name
        self.cores = rng.choices(("vector", "mix", "cube"), (5, 4, 2))[0]
        self.rows = 16 if self.cores == "mix" else rng.choice((1, 2, 4))
        self.blocks = 2 if self.chance(0.25) else 1
        self.dynamic = self.chance(0.35)
        self.scheduled = self.cores != "vector" or self.chance(0.93)
        self.buffers = self.make_buffers()
        self.flat = {b.name for b in self.buffers if b.kind == UB and self.chance(0.2)}
        self.defined: set[str] = set()
        self.loops: list[tuple[str, int | None]] = []  # variable, turns if constant
        self.turns = 1
        self.left = rng.randint(3, 9)  # statements still to be made
        self.variables = 0
        # Still allowed.
        self.unknowns = min(unknowns, self.rng.choices((0, 1, 2, 4), (4, 6, 4, 1))[0])
        self.guards = 0  # around the present place, inside the innermost loop

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def program(self) -> Program:
        body = self.body(0, top=True)
        body += self.final_stores(body)
        configs = self.configs()
        return Program(
            name=self.name,
            cores=self.cores,
            rows=self.rows,
            blocks=self.blocks,
            dtype=self.rng.choice(("bfloat16", "float16")),
            own_l0=self.cores != "vector" and self.chance(0.3),
            dynamic=self.dynamic,
            scheduled=self.scheduled,
            configs=configs,
            buffers=self.buffers,
            body=tuple(body),
        )

    def configs(self) -> tuple[tuple[str, object], ...]:
        found: dict[str, object] = {}
        if self.chance(0.2):
            engine = self.rng.choice(("heuristic", "branch", "cpsat"))
            found["tl.ascend_sched.engine"] = engine
        if self.chance(0.15):
            found["tl.ascend_sched.objective"] = "ii"
        if self.chance(0.1):
            found["tl.disable_shared_memory_reuse"] = True
        return tuple(sorted(found.items()))

    # Buffers

    def make_buffers(self) -> tuple[Buffer, ...]:
        counts = {
            "vector": {UB: self.rng.randint(1, 4), INT: self.rng.randint(0, 1)},
            "cube": {L1A: self.rng.randint(1, 2), L1B: 1, L0C: self.rng.randint(1, 2)},
            "mix": {UB: self.rng.randint(1, 3), L1A: 1, L1B: 1, L0C: 1, HALF: 1},
        }[self.cores]
        made = [
            Buffer(f"{kind}{number}", kind, versions=self.versions(kind))
            for kind, count in counts.items()
            for number in range(count)
        ]
        if self.cores == "vector" and self.chance(0.3):
            made.append(Buffer("ring", UB, ring=self.rng.randint(2, 3)))
        return tuple(made)

    def versions(self, kind: str) -> int | str | tuple[int, str] | None:
        if kind in (INT, L0C) or not self.scheduled or not self.chance(0.25):
            return None
        count = self.rng.randint(1, 3)
        mode = self.rng.choice(("auto", "iteration", "counter"))
        if count == 1:
            return self.rng.choice((1, mode))
        return self.rng.choice((count, (count, mode)))

    def names(self, kind: str) -> list[str]:
        return [b.name for b in self.buffers if b.kind == kind and not b.ring]

    def name_of(self, kind: str) -> str:
        return self.rng.choice(self.names(kind))

    def ref(self, name: str, part: Part | None = None) -> Ref:
        contiguous = part is None or part.columns == WIDTH
        flat = name in self.flat and contiguous and self.rows > 1 and self.chance(0.5)
        return Ref(name, flat=flat)

    @contextmanager
    def optional(self) -> Iterator[None]:
        """A guard's body: what is written inside may not have been written after it."""
        before = set(self.defined)
        self.guards += 1
        yield
        self.guards -= 1
        self.defined = before

    # Numbers

    def variable(self, prefix: str) -> str:
        self.variables += 1
        return f"{prefix}{self.variables}"

    def index(self) -> Expr:
        """Some slot or element, 0 to SLOTS - 1."""
        if not self.loops:
            return Expr(constant=self.rng.randrange(SLOTS))
        variable, turns = self.rng.choice(self.loops[-2:])
        step, offset = self.rng.choice((0, 1, 1, 1, 2)), self.rng.choice((0, 0, 0, 1, 2))
        if step == 1 and self.chance(0.1) and self.unknown():
            return Expr(((1, Cell("P", Expr(((1, variable),), 0, SLOTS))),))
        if step == 1 and self.chance(0.15) and len(self.loops) > 1:
            outer = self.loops[0][0]
            return Expr(((2, outer), (1, variable)) if outer != variable else ((1, outer),), 0, 8)
        if turns is not None and step * (turns - 1) + offset < SLOTS and self.chance(0.6):
            return Expr(((step, variable),) if step else (), offset)
        return Expr(((step, variable),) if step else (), offset, SLOTS)

    def count(self) -> tuple[Expr, int | None, list[Stmt]]:
        """A trip count; its value if it is a constant; what comes before."""
        pick = self.rng.random()
        if self.blocks > 1 and pick < 0.03:
            return Expr(((1, "block"),), 1), None, []
        if self.loops and pick < 0.07 and not self.loops[-1][0].startswith("w"):
            return Expr(((1, self.loops[-1][0]),), 1), None, []
        if pick < 0.45 and self.unknown():
            if self.dynamic and self.chance(0.5):
                return Expr(((1, "n"),), self.rng.choice((0, 0, 1))), None, []
            if self.names(INT) and self.chance(0.3):
                name = self.name_of(INT)
                before = self.ensure(name)
                return Expr(((1, UbCell(name, self.rng.randrange(INTS))),)), None, before
            return Expr(((1, Cell("Q", self.index())),)), None, []
        value = self.rng.choices(range(7), (1, 3, 4, 4, 4, 3, 1))[0]
        return Expr(constant=value), value, []

    def unknown(self) -> bool:
        """Whether one more place may depend on what only run-time inputs tell.

        Each of them multiplies the ways through a kernel, and the check gives up at a thousand.
        """
        if self.unknowns == 0:
            return False
        self.unknowns -= 1
        return True

    def test(self) -> tuple[Condition, list[Stmt]]:
        """A condition, and what comes before."""
        pick = self.rng.random()
        if pick < 0.1 and self.blocks > 1:
            return Condition(Expr(((1, "block"),)), Expr(), equal=True), []
        if pick < 0.5 or not self.loops:
            if self.unknown():
                return self.unknown_test()
            if not self.loops:
                return Condition(Expr(), Expr(constant=self.rng.randint(0, 1))), []
        variable, _ = self.rng.choice(self.loops)
        if pick < 0.7:
            return Condition(Expr(((1, variable),)), Expr(constant=self.rng.randint(1, 3))), []
        modulus = self.rng.choice((2, 3))
        left = Expr(((1, variable),), 0, modulus)
        if self.chance(0.5):
            return Condition(left, Expr(constant=self.rng.randrange(modulus)), equal=True), []
        return Condition(left, Expr(constant=self.rng.randrange(1, modulus))), []

    def unknown_test(self) -> tuple[Condition, list[Stmt]]:
        if self.names(INT) and self.chance(0.4):
            name = self.name_of(INT)
            cell = Expr(((1, UbCell(name, self.rng.randrange(INTS))),))
            return Condition(cell, Expr(constant=2)), self.ensure(name)
        if self.dynamic and self.loops and self.chance(0.6):
            factor, offset = self.rng.choice((1, 2, 3)), self.rng.choice((0, 1))
            left = Expr(((factor, self.rng.choice(self.loops)[0]),), offset)
            return Condition(left, Expr(((1, "n"),))), []
        if self.chance(0.5):
            cell = Expr(((1, Cell("Q", self.index())),))
            return Condition(cell, Expr(constant=self.rng.randrange(4)), equal=True), []
        cell = Expr(((1, Cell("P", self.index())),))
        return Condition(cell, Expr(constant=self.rng.choice((2, 4, 6)))), []

    def part(self, *, whole_rows: bool = False) -> Part:
        rows, columns = (0, self.rows), (0, WIDTH)
        if self.rows > 1 and not whole_rows and self.chance(0.15):
            half = self.rows // 2
            rows = (self.rng.choice((0, half)), half)
        elif self.chance(0.15):
            columns = (self.rng.choice((0, WIDTH // 2)), WIDTH // 2)
        return Part(rows[0], rows[1], columns[0], columns[1])

    @property
    def whole(self) -> Part:
        return Part(0, self.rows, 0, WIDTH)

    # Control

    def body(self, depth: int, *, top: bool = False) -> list[Stmt]:
        made: list[Stmt] = []
        wanted = self.rng.randint(2, 5)
        while self.left > 0 and (top or len(made) < wanted):
            self.left -= 1
            pick = self.rng.random()
            room = depth < MOST_DEPTH and self.turns < MOST_TURNS
            loop_share = 0.55 if top else 0.2
            if room and pick < loop_share:
                made += self.loop(depth)
            elif pick < loop_share + (0.12 if depth else 0.05):
                made += self.guard(depth)
            else:
                made += self.operation()
        return made or self.operation()

    def loop(self, depth: int) -> list[Stmt]:
        extent, constant, before = self.count()
        kind = self.rng.choices(("pipelined", "serial", "while", "unroll"), (12, 5, 2, 1))[0]
        if kind == "unroll" and not constant:
            kind = "serial"
        variable = self.variable("w" if kind == "while" else "i")
        scope, turns = self.defined, self.turns
        self.defined = set(scope)
        self.loops.append((variable, constant if kind != "while" else None))
        self.turns *= max(1, MANY if constant is None else constant)
        guards, self.guards = self.guards, 0
        body = tuple(self.body(depth + 1))
        self.guards = guards
        self.loops.pop()
        self.turns = turns
        self.defined = self.defined if constant else scope
        if kind == "while":
            return [*before, While(variable, extent, body)]
        if kind != "pipelined":
            return [*before, Loop(variable, kind, extent, body)]
        offset = self.scheduled and self.chance(0.3)
        manual: tuple[int, ...] = ()
        simple = not any(isinstance(s, If | Loop | While | Hint) for s in statements(body))
        if offset and simple and self.chance(0.4):
            manual = tuple(sorted(self.rng.randint(0, 2) for _ in body))
        stages = self.rng.randint(1, 3)
        return [*before, Loop(variable, kind, extent, body, stages, offset, manual)]

    def guard(self, depth: int) -> list[Stmt]:
        test, before = self.test()
        with self.optional():
            body = tuple(self.body(depth + 1))
        otherwise: tuple[Stmt, ...] = ()
        if self.left > 0 and self.chance(0.3):
            with self.optional():
                otherwise = tuple(self.body(depth + 1))
        return [*before, If(test, body, otherwise)]

    # Operations

    def operation(self) -> list[Stmt]:
        vector: dict[Callable[[], list[Stmt]], int] = {
            self.load: 4,
            self.vec: 6,
            self.store: 4,
            self.task: 1,
            self.conflict: 1,
        }
        if self.cores == "vector" and self.loops:
            vector |= {self.ring_step: 4, self.permuted_store: 1}
        if self.blocks > 1:
            vector |= {self.per_core: 1}
        cube: dict[Callable[[], list[Stmt]], int] = {
            self.load_operand: 3,
            self.gemm: 5,
            self.store_sums: 3,
        }
        between = {self.to_ub: 4, self.narrow: 1, self.to_l1: 3}
        choices = {"vector": vector, "cube": cube, "mix": vector | cube | between}[self.cores]
        return self.rng.choices(list(choices), list(choices.values()))[0]()

    def ensure(self, name: str) -> list[Stmt]:
        """Nothing if the buffer is written; else what writes it."""
        if name in self.defined:
            return []
        self.defined.add(name)
        match next(b.kind for b in self.buffers if b.name == name):
            case "ub":
                if self.cores == "mix" and self.chance(0.4):
                    acc = self.name_of(L0C)
                    return [*self.ensure(acc), ToUb(acc, Ref(name))]
                if self.chance(0.25):
                    fill = Expr(constant=self.rng.randint(-2, 2))
                    simd = self.chance(0.3)
                    return [Vec(simd, self.ref(name), None, 0, False, fill, self.whole)]
                return [self.load_of(name, self.whole, "X")]
            case "half":
                source = self.name_of(UB)
                return [*self.ensure(source), Narrow(Ref(name), Ref(source))]
            case "int":
                return [Load(Ref(name), "U", self.index(), self.whole)]
            case "l1a":
                return [Load(Ref(name), "A", self.index(), self.whole)]
            case "l1b":
                return [Load(Ref(name), "B", self.index(), self.whole)]
            case "l0c":
                a, b = self.name_of(L1A), self.name_of(L1B)
                return [*self.ensure(a), *self.ensure(b), Gemm(a, b, name, True)]
        raise AssertionError(name)

    def load_of(self, name: str, part: Part, tensor: str) -> Load:
        split = self.cores == "mix" and (tensor == "Y" or self.chance(0.7))
        flat = self.ref(name, part).flat and part.rows == 1
        return Load(Ref(name, flat=flat), tensor, self.index(), part, split)

    def load(self) -> list[Stmt]:
        name = self.name_of(UB)
        tensor = "Y" if self.chance(0.15) else "X"
        part = self.part(whole_rows=tensor == "Y" and self.cores == "mix")
        before = [] if part == self.whole else self.ensure(name)
        self.defined.add(name)
        return [*before, self.load_of(name, part, tensor)]

    def store_of(self, name: str) -> Store:
        part = self.part(whole_rows=self.cores == "mix")
        flat = self.cores == "vector" and self.ref(name, part).flat and part.rows == 1
        return Store(Ref(name, flat=flat), "Y", self.index(), part)

    def store(self) -> list[Stmt]:
        name = self.name_of(UB)
        return [*self.ensure(name), self.store_of(name)]

    def vec(self) -> list[Stmt]:
        name, source = self.name_of(UB), self.name_of(UB)
        adds, simd = self.chance(0.5), self.chance(0.35)
        part = self.part()
        if simd and part.columns != WIDTH:
            part = self.whole
        before = self.ensure(source)
        if adds or part != self.whole:
            before += self.ensure(name)
        self.defined.add(name)
        constant = Expr(constant=self.rng.randint(-2, 2))
        if self.loops and not simd and self.chance(0.2):
            constant = Expr(((1, self.loops[-1][0]),))
        target, operand = self.ref(name, part), self.ref(source, part)
        factor = self.rng.choice((-1, 1, 2))
        return [*before, Vec(simd, target, operand, factor, adds, constant, part)]

    def task(self) -> list[Stmt]:
        if not self.scheduled or len(self.names(UB)) < 2:
            return self.store()
        knobs = self.rng.choice(((None, None), (None, None), (200, 40), (700, 100)))
        # Nothing orders the statements of a task among themselves.
        names = self.rng.sample(self.names(UB), 2)
        if self.chance(0.6):
            self.defined.update(names)
            body = tuple(self.load_of(name, self.whole, "X") for name in names)
            return [Task(body, *knobs)]
        before = [stmt for name in names for stmt in self.ensure(name)]
        place, half = self.index(), WIDTH // 2
        body = tuple(
            Store(Ref(name), "Y", place, Part(0, self.rows, column, half))
            for name, column in zip(names, (0, half), strict=True)
        )
        return [*before, Task(body, *knobs)]

    def conflict(self) -> list[Stmt]:
        if not self.scheduled:
            return self.load()
        return [Hint(buffers=(self.name_of(UB), self.name_of(UB)))]

    def per_core(self) -> list[Stmt]:
        if not self.scheduled:
            return self.load()
        name = self.name_of(UB)
        self.defined.add(name)
        first, second = (self.load_of(name, self.whole, "X") for _ in range(2))
        if first.split != second.split:
            return [first]
        return [PerCore(first, second)]

    def permuted_store(self) -> list[Stmt]:
        """Rows of Z, where a permutation says; only this statement touches Z."""
        variable, turns = self.loops[-1]
        if turns is None or len(self.loops) > 1 or not self.scheduled or "Z" in self.defined:
            return self.store()
        name = self.name_of(UB)
        self.defined.add("Z")
        place = Expr(((1, Cell("P", Expr(((1, variable),)))),))
        store = Store(Ref(name), "Z", place, self.whole)
        return [*self.ensure(name), Hint(tensor="Z", slot=place), store]

    def ring_step(self) -> list[Stmt]:
        rings = [b for b in self.buffers if b.ring]
        variable = self.loops[-1][0]
        if not rings or variable.startswith("w"):
            return self.vec()
        slot = Expr(((1, variable),), 0, rings[0].ring)
        ring = Ref(rings[0].name, slot)
        made: list[Stmt] = [Load(ring, "X", self.index(), self.whole)]
        constant = Expr(constant=self.rng.randint(-2, 2))
        if self.chance(0.6):
            made.append(Vec(self.chance(0.3), ring, ring, 1, False, constant, self.whole))
        if self.chance(0.5):
            name = self.name_of(UB)
            made += self.ensure(name)
            made.append(Vec(self.chance(0.3), Ref(name), ring, 1, True, constant, self.whole))
        if self.chance(0.7):
            made.append(Store(ring, "Y", self.index(), self.whole))
        return made

    def load_operand(self) -> list[Stmt]:
        kind = self.rng.choice((L1A, L1B))
        name = self.name_of(kind)
        self.defined.add(name)
        return [Load(Ref(name), "A" if kind == L1A else "B", self.index(), self.whole)]

    def gemm(self) -> list[Stmt]:
        a, b, acc = self.name_of(L1A), self.name_of(L1B), self.name_of(L0C)
        before = [*self.ensure(a), *self.ensure(b)]
        variable = self.loops[-1][0] if self.loops else ""
        clear: bool | Condition = self.chance(0.5)
        if variable and self.chance(0.5):
            clear = Condition(Expr(((1, variable),)), Expr(), equal=True)
        # A guard may skip the first turn, and with it the one that clears.
        if clear is False or (clear is not True and self.guards):
            before += self.ensure(acc)
        self.defined.add(acc)
        return [*before, Gemm(a, b, acc, clear)]

    def store_sums(self) -> list[Stmt]:
        acc = self.name_of(L0C)
        return [*self.ensure(acc), Store(Ref(acc), "C", self.index(), self.whole)]

    def to_ub(self) -> list[Stmt]:
        acc, name = self.name_of(L0C), self.name_of(UB)
        before = self.ensure(acc)
        self.defined.add(name)
        return [*before, ToUb(acc, Ref(name))]

    def narrow(self) -> list[Stmt]:
        name, source = self.name_of(HALF), self.name_of(UB)
        before = self.ensure(source)
        self.defined.add(name)
        return [*before, Narrow(Ref(name), Ref(source))]

    def to_l1(self) -> list[Stmt]:
        name, target = self.name_of(HALF), self.name_of(L1A)
        before = self.ensure(name)
        self.defined.add(target)
        return [*before, ToL1(Ref(name), target)]

    def final_stores(self, body: list[Stmt]) -> list[Stmt]:
        """What makes results visible."""
        made: list[Stmt] = []
        seen = any(isinstance(stmt, Store) for stmt in statements(tuple(body)))
        for buffer in self.buffers:
            known = buffer.name in self.defined and not buffer.ring
            if buffer.kind in (UB, L0C) and known and (not seen or self.chance(0.4)):
                seen = True
                if buffer.kind == L0C:
                    made.append(Store(Ref(buffer.name), "C", self.index(), self.whole))
                else:
                    made.append(self.store_of(buffer.name))
        if not seen:
            made += self.store_sums() if self.cores == "cube" else self.store()
        idle = missing_work(self.cores, (*body, *made))
        made += self.store_sums() if "cube" in idle else []
        made += self.store() if "vector" in idle else []
        return made
