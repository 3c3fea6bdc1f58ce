"""What the smallest programs are made of."""

from __future__ import annotations

from tests.fuzz.model import WIDTH, Buffer, Part, Program, Stmt

ROW = Part(0, 1, 0, WIDTH)


def one_row(name: str, *body: Stmt, buffers: tuple[Buffer, ...], dynamic: bool = False) -> Program:
    """A Vector program on tiles of one row."""
    return Program(name, "vector", 1, 1, "float16", False, dynamic, True, (), buffers, body)
