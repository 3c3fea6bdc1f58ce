"""Random statements that move or compute, each with what has to come before it."""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.choices import Choices
from tests.fuzz.model import (
    HALF,
    INT,
    INTS,
    L0C,
    L1A,
    L1B,
    UB,
    WIDTH,
    Assign,
    Cell,
    Condition,
    Expr,
    Gemm,
    Hint,
    Load,
    Narrow,
    Part,
    PerCore,
    Ref,
    Stmt,
    Store,
    Task,
    ToL1,
    ToUb,
    UbCell,
    Vec,
)


class Operations(Choices):
    """Each method makes one operation at the present place."""

    def operation(self) -> list[Stmt]:
        vector: dict[Callable[[], list[Stmt]], int] = {
            self.load: 4,
            self.vec: 6,
            self.store: 4,
            self.task: 2,
            self.conflict: 1,
        }
        if self.loops and any(b.ring for b in self.buffers):
            vector |= {self.ring_step: 12 if self.loops[-1][0].startswith("w") else 5}
        if self.cores == "vector" and self.loops:
            vector |= {self.permuted_store: 3}
        if self.blocks > 1:
            vector |= {self.per_core: 2}
        cube: dict[Callable[[], list[Stmt]], int] = {
            self.load_operand: 3,
            self.gemm: 5,
            self.store_sums: 3,
        }
        between = {self.to_ub: 4, self.narrow: 1} | ({self.to_l1: 3} if self.scheduled else {})
        choices = {"vector": vector, "cube": cube, "mix": vector | cube | between}[self.cores]
        return self.rng.choices(list(choices), list(choices.values()))[0]()

    def ensure(self, name: str) -> list[Stmt]:
        """Nothing if the buffer is written; else what writes it."""
        if name in self.defined:
            return []
        self.defined.add(name)
        kind = self.kind(name)
        if kind == HALF:
            source = self.name_of(UB)
            return [*self.ensure(source), Narrow(Ref(name), Ref(source))]
        if kind == L0C:
            a, b = self.name_of(L1A), self.name_of(L1B)
            return [*self.ensure(a), *self.ensure(b), Gemm(a, b, name, True)]
        if kind in (L1A, L1B):
            return [self.load_of_operand(name)]
        if kind != UB:
            return [Load(Ref(name), "U", self.index(), self.whole)]
        if self.cores == "mix" and self.chance(0.4):
            acc = self.name_of(L0C)
            return [*self.ensure(acc), ToUb(acc, Ref(name))]
        if self.chance(0.25):
            fill = Expr(constant=self.rng.randint(-2, 2))
            return [Vec(self.chance(0.3), self.ref(name), None, 0, False, fill, self.whole)]
        return [self.load_of(name, self.whole, "X")]

    # Vector

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
        positive = not simd and self.chance(0.15)
        shift, scatters, before = None, False, self.ensure(source)
        if not simd and name != source and self.names(INT) and self.chance(0.6):
            integers = self.name_of(INT)
            before += self.ensure(integers)
            shift, scatters = UbCell(integers, self.rng.randrange(INTS)), self.chance(0.5)
            # TileLang fails to vectorize such a store, which it does not try under a guard.
            positive = positive or scatters
        if adds or positive or part != self.whole:
            before += self.ensure(name)
        self.defined.add(name)
        constant = Expr(constant=self.rng.randint(-2, 2))
        if not simd and self.dynamic and self.chance(0.3):
            constant = Expr(((1, "n"),))
        elif not simd and self.loops and self.chance(0.2):
            constant = Expr(((1, self.loops[-1][0]),))
        target, operand = self.ref(name, part), self.ref(source, part)
        factor = self.rng.choice((-1, 1, 2))
        made = Vec(simd, target, operand, factor, adds, constant, part, positive, shift, scatters)
        return [*before, made]

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

    # The ring that the kernel indexes by hand

    def ring_step(self) -> list[Stmt]:
        """A slot is filled and used: by the loop's variable, or by one that counts slots."""
        (ring,) = (b for b in self.buffers if b.ring)
        if self.chance(0.45):
            slot = self.variable("v")
            self.indices.append(slot)
            turn = Assign(slot, Expr(((1, slot),), 1, ring.ring))
            return [*self.filled_and_used(Ref(ring.name, Expr(((1, slot),)))), turn]
        return self.filled_and_used(Ref(ring.name, Expr(((1, self.loops[-1][0]),), 0, ring.ring)))

    def filled_and_used(self, ring: Ref) -> list[Stmt]:
        return [self.fill(ring, self.index()), *self.used(ring)]

    def fill(self, ring: Ref, slot: Expr) -> Load:
        return Load(ring, "X", slot, self.whole, split=self.cores == "mix" and self.chance(0.7))

    def used(self, ring: Ref) -> list[Stmt]:
        made: list[Stmt] = []
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

    # Cube

    def load_of_operand(self, name: str) -> Load:
        turned = next(b.turned for b in self.buffers if b.name == name)
        tensor = "A" if self.kind(name) == L1A else "B"
        # Slots of B are square, so they may come either way, too.
        turns = turned if tensor == "A" else self.chance(0.2)
        return Load(Ref(name), tensor, self.index(), self.whole, turned=turns)

    def load_operand(self) -> list[Stmt]:
        name = self.name_of(self.rng.choice((L1A, L1B)))
        self.defined.add(name)
        return [self.load_of_operand(name)]

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

    # Between the cores

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
