"""What random programs are made of: buffers, places in them, and what is known where."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

from tests.fuzz.model import (
    HALF,
    INT,
    L0C,
    L1A,
    L1B,
    SLOTS,
    UB,
    WIDTH,
    Buffer,
    Cell,
    Expr,
    Part,
    Ref,
)


class Choices:
    """A program's frame, and the state of making its statements in order."""

    def __init__(self, rng: random.Random, name: str, unknowns: int) -> None:
        self.rng = rng
        self.name = name
        self.cores = rng.choices(("vector", "mix", "cube"), (10, 8, 5))[0]
        self.rows = 16 if self.cores == "mix" else rng.choice((1, 2, 4))
        self.blocks = 2 if self.chance(0.25) else 1
        self.dynamic = self.chance(0.4)
        self.scheduled = self.chance(0.87)
        self.own_l0 = self.cores != "vector" and self.chance(0.3)
        self.buffers = self.make_buffers()
        self.flat = {b.name for b in self.buffers if b.kind == UB and self.chance(0.2)}
        self.defined: set[str] = set()
        self.loops: list[tuple[str, int | None]] = []  # variable, turns if constant
        self.indices: list[str] = []  # variables of the user's own that count slots of the ring
        self.turns = 1
        self.left = rng.randint(3, 9)  # statements still to be made
        self.variables = 0
        self.unknowns = min(unknowns, self.rng.choices((0, 1, 2, 4), (4, 6, 4, 1))[0])
        self.guards = 0  # around the present place, inside the innermost loop

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def unknown(self) -> bool:
        """Whether one more place may depend on what only run-time inputs tell.

        Each of them multiplies the ways through a kernel, and the check gives up at a thousand.
        """
        if self.unknowns == 0:
            return False
        self.unknowns -= 1
        return True

    # Buffers

    def make_buffers(self) -> tuple[Buffer, ...]:
        counts = {
            "vector": {UB: self.rng.randint(1, 4), INT: self.rng.choice((0, 1, 1))},
            "cube": {L1A: self.rng.randint(1, 2), L1B: 1, L0C: self.rng.randint(1, 2)},
            "mix": {
                UB: self.rng.randint(1, 3),
                **dict.fromkeys((L1A, L1B, L0C, HALF), 1),
                INT: self.rng.randint(0, 1),
            },
        }[self.cores]
        made = [
            Buffer(f"{kind}{number}", kind, versions=self.versions(kind), turned=self.turned(kind))
            for kind, count in counts.items()
            for number in range(count)
        ]
        if self.cores != "cube" and self.chance(0.4):
            made.append(Buffer("ring", UB, ring=self.rng.randint(2, 3)))
        return tuple(made)

    def turned(self, kind: str) -> bool:
        # The template that fills L0 takes operands one way only; so does a copy from UB.
        takes = kind == L1B or (kind == L1A and self.cores == "cube")
        return self.own_l0 and takes and self.chance(0.5)

    def versions(self, kind: str) -> int | str | tuple[int, str] | None:
        if kind in (INT, L0C) or not self.scheduled or not self.chance(0.25):
            return None
        count = self.rng.randint(1, 3)
        mode = self.rng.choice(("auto", "iteration", "counter"))
        if count == 1:
            return self.rng.choice((1, mode))
        return self.rng.choice((count, (count, mode)))

    def kind(self, name: str) -> str:
        return next(b.kind for b in self.buffers if b.name == name)

    def names(self, kind: str) -> list[str]:
        return [b.name for b in self.buffers if b.kind == kind and not b.ring]

    def asked(self) -> list[str]:
        """Integers that may decide what all cores do: the Cube does not read UB."""
        return self.names(INT) if self.cores == "vector" else []

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

    # Places

    def variable(self, prefix: str) -> str:
        self.variables += 1
        return f"{prefix}{self.variables}"

    def index(self) -> Expr:
        """Some slot or element, 0 to SLOTS - 1."""
        if self.dynamic and self.chance(0.07) and self.unknown():
            turn = ((1, self.loops[-1][0]),) if self.loops else ()
            return Expr(((1, "n"), *turn), 0, SLOTS)
        if not self.loops:
            return Expr(constant=self.rng.randrange(SLOTS))
        variable, turns = self.rng.choice(self.loops[-2:])
        step, offset = self.rng.choice((0, 1, 1, 1, 2)), self.rng.choice((0, 0, 0, 1, 2))
        if step == 1 and self.chance(0.1) and self.unknown():
            return Expr(((1, Cell("P", Expr(((1, variable),), 0, SLOTS))),))
        if step == 1 and self.chance(0.15) and len(self.loops) > 1:
            outer = self.loops[0][0]
            return Expr(((2, outer), (1, variable)) if outer != variable else ((1, outer),), 0, 8)
        terms = ((step, variable),) if step else ()
        if turns is not None and step * (turns - 1) + offset < SLOTS and self.chance(0.6):
            return Expr(terms, offset)
        return Expr(terms, offset, SLOTS)

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
