"""Random programs. The same seed makes the same program.

A statement that reads a buffer comes only where the buffer is written on every way there, so that
a program has one meaning: what is not written yet is written first.
"""

from __future__ import annotations

import random

from tests.fuzz.exclusions import excluded
from tests.fuzz.model import (
    INT,
    INTS,
    L0C,
    SLOTS,
    UB,
    Assign,
    Cell,
    Condition,
    Expr,
    Hint,
    If,
    Loop,
    Program,
    Ref,
    Stmt,
    Store,
    UbCell,
    While,
    statements,
)
from tests.fuzz.operations import Operations
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
        if not excluded(program, ours):
            return program
        attempt += 1


class _Maker(Operations):
    def program(self) -> Program:
        body = self.body(0, top=True)
        body += self.final_stores(body)
        first = [Assign(variable, Expr()) for variable in self.indices]
        return Program(
            name=self.name,
            cores=self.cores,
            rows=self.rows,
            blocks=self.blocks,
            dtype=self.rng.choice(("bfloat16", "float16")),
            own_l0=self.own_l0,
            dynamic=self.dynamic,
            scheduled=self.scheduled,
            configs=self.configs(),
            buffers=self.buffers,
            body=(*first, *body),
            open_rows=self.dynamic and self.chance(0.2),
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

    def body(self, depth: int, *, top: bool = False) -> list[Stmt]:
        made: list[Stmt] = []
        wanted = self.rng.randint(2, 5)
        while self.left > 0 and (top or len(made) < wanted):
            self.left -= 1
            pick = self.rng.random()
            room = depth < MOST_DEPTH and self.turns < MOST_TURNS
            loop_share = 0.55 if top else 0.2
            if room and pick < loop_share:
                ring = self.cores != "cube" and any(b.ring for b in self.buffers)
                made += self.filled_ahead() if ring and self.chance(0.2) else self.loop(depth)
            elif pick < loop_share + (0.12 if depth else 0.05):
                made += self.guard(depth)
            else:
                made += self.operation()
        return made or self.operation()

    # Loops

    def count(self) -> tuple[Expr, int | None, list[Stmt]]:
        """A trip count; its value if it is a constant; what comes before."""
        pick = self.rng.random()
        if self.blocks > 1 and pick < 0.03:
            return Expr(((1, "block"),), 1), None, []
        if self.loops and pick < 0.07 and not self.loops[-1][0].startswith("w"):
            return Expr(((1, self.loops[-1][0]),), 1), None, []
        if pick < 0.45 and self.unknown():
            if self.dynamic and self.chance(0.5):
                return self.dynamic_count(), None, []
            if self.asked() and self.chance(0.3):
                name = self.name_of(INT)
                before = self.ensure(name)
                return Expr(((1, UbCell(name, self.rng.randrange(INTS))),)), None, before
            return Expr(((1, Cell("Q", self.index())),)), None, []
        value = self.rng.choices(range(7), (1, 3, 4, 4, 4, 3, 1))[0]
        return Expr(constant=value), value, []

    def dynamic_count(self) -> Expr:
        n = (1, "n")
        forms = [Expr((n,)), Expr((n,)), Expr((n,), 1), Expr((n,), 1, 3), Expr((n,), 1, divisor=2)]
        if self.loops:
            forms.append(Expr((n, (-1, self.loops[-1][0]))))
        return self.rng.choice(forms)

    def loop(self, depth: int) -> list[Stmt]:
        extent, constant, before = self.count()
        kinds = ("pipelined", "serial", "while", "unroll")
        # Few kernels have a ring; in a loop that counts by itself it is to be seen, too.
        ring = self.cores != "cube" and any(b.ring for b in self.buffers)
        kind = self.rng.choices(kinds, (12, 5, 12 if ring else 2, 1))[0]
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
        simple = not any(isinstance(s, If | Loop | While | Hint | Assign) for s in statements(body))
        if offset and simple and self.chance(0.4):
            manual = tuple(sorted(self.rng.randint(0, 2) for _ in body))
        stages = self.rng.randint(1, 3)
        return [*before, Loop(variable, kind, extent, body, stages, offset, manual)]

    def filled_ahead(self) -> list[Stmt]:
        """A loop that uses one slot of the ring while it loads those of later turns."""
        (ring,) = (b for b in self.buffers if b.ring)
        ahead = self.rng.randint(1, ring.ring - 1)
        extent, constant, before = self.count()
        for slot in range(ahead):
            before.append(self.fill(Ref(ring.name, Expr(constant=slot)), Expr(constant=slot)))
        variable = self.variable("i")
        self.loops.append((variable, constant))
        with self.optional():
            now, later = (Expr(((1, variable),), by, ring.ring) for by in (0, ahead))
            load: Stmt = self.fill(Ref(ring.name, later), Expr(((1, variable),), ahead, SLOTS))
            if self.chance(0.7):
                load = If(Condition(Expr(((1, variable),), ahead), extent), (load,))
            work = self.used(Ref(ring.name, now))
            body = (load, *work) if self.chance(0.5) else (*work, load)
        self.loops.pop()
        kind = self.rng.choice(("serial", "pipelined"))
        return [*before, Loop(variable, kind, extent, body)]

    # Guards

    def guard(self, depth: int) -> list[Stmt]:
        test, before = self.test()
        with self.optional():
            body = tuple(self.body(depth + 1))
        otherwise: tuple[Stmt, ...] = ()
        if self.left > 0 and self.chance(0.4):
            with self.optional():
                otherwise = tuple(self.body(depth + 1))
        return [*before, If(test, body, otherwise)]

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
        if self.asked() and self.chance(0.3):
            name = self.name_of(INT)
            cell = Expr(((1, UbCell(name, self.rng.randrange(INTS))),))
            return Condition(cell, Expr(constant=2)), self.ensure(name)
        if self.dynamic and self.loops and self.chance(0.8):
            factor, offset = self.rng.choice((1, 2, 3)), self.rng.choice((0, 1))
            left = Expr(((factor, self.rng.choice(self.loops)[0]),), offset)
            return Condition(left, Expr(((1, "n"),))), []
        if self.dynamic and self.chance(0.5):
            equal, value = self.chance(0.5), self.rng.choice((1, 4))
            return Condition(Expr(((1, "n"),)), Expr(constant=value), equal), []
        if self.chance(0.5):
            cell = Expr(((1, Cell("Q", self.index())),))
            return Condition(cell, Expr(constant=self.rng.randrange(4)), equal=True), []
        cell = Expr(((1, Cell("P", self.index())),))
        return Condition(cell, Expr(constant=self.rng.choice((2, 4, 6)))), []

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
