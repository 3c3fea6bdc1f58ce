"""Makes a program that shows something as small as it will still show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from tests.fuzz.model import (
    Buffer,
    Expr,
    If,
    Load,
    Loop,
    PerCore,
    Program,
    Stmt,
    Store,
    Task,
    Vec,
    While,
)
from tests.fuzz.valid import is_valid

Body = tuple[Stmt, ...]


def shrink(program: Program, shows: Callable[[Program], bool], most: int = 400) -> Program:
    """The smallest program found that ``shows`` holds for, asking it at most ``most`` times."""
    asked = 0
    again = True
    while again:
        again = False
        for smaller in _simpler(program):
            if not is_valid(smaller):
                continue
            asked += 1
            if asked > most:
                return program
            if shows(smaller):
                program, again = smaller, True
                break
    return program


def _simpler(program: Program) -> Iterator[Program]:
    for body in _bodies(program.body):
        if body:
            yield _used_only(replace(program, body=body))
    plain: dict[str, Any] = {"configs": (), "dynamic": False, "own_l0": False, "blocks": 1}
    for name, value in plain.items():
        if getattr(program, name) != value and not (name == "dynamic" and _mentions(program, "n")):
            yield replace(program, **{name: value})
    for number, buffer in enumerate(program.buffers):
        if buffer.versions is not None:
            bare = replace(buffer, versions=None)
            buffers = (*program.buffers[:number], bare, *program.buffers[number + 1 :])
            yield replace(program, buffers=buffers)


def _bodies(body: Body) -> Iterator[Body]:
    """The body with one thing less, the largest things first."""
    for at in range(len(body)):
        yield body[:at] + body[at + 1 :]
    for at, stmt in enumerate(body):
        for instead in _instead(stmt):
            yield body[:at] + instead + body[at + 1 :]


def _instead(stmt: Stmt) -> Iterator[Body]:
    match stmt:
        case Loop():
            yield _substituted(stmt.body, stmt.variable)
            if stmt.manual:
                yield (replace(stmt, manual=()),)
            if stmt.offset and not stmt.manual:
                yield (replace(stmt, offset=False),)
            if stmt.kind != "serial" and not stmt.offset:
                yield (replace(stmt, kind="serial"),)
            if stmt.stages > 1:
                yield (replace(stmt, stages=1),)
            for turns in (1, 2, 3):
                if stmt.extent.terms or stmt.extent.constant > turns:
                    yield (replace(stmt, extent=Expr(constant=turns)),)
            for at in range(len(stmt.manual)):
                rest = stmt.body[:at] + stmt.body[at + 1 :]
                if rest:
                    manual = stmt.manual[:at] + stmt.manual[at + 1 :]
                    yield (replace(stmt, body=rest, manual=manual),)
            if not stmt.manual:
                yield from ((replace(stmt, body=body),) for body in _bodies(stmt.body) if body)
        case While():
            yield _substituted(stmt.body, stmt.variable)
            yield (Loop(stmt.variable, "serial", stmt.bound, stmt.body),)
            yield from ((replace(stmt, body=body),) for body in _bodies(stmt.body) if body)
        case If():
            yield stmt.body
            if stmt.otherwise:
                yield stmt.otherwise
                yield (replace(stmt, otherwise=()),)
            yield from ((replace(stmt, body=body),) for body in _bodies(stmt.body) if body)
        case Task():
            yield stmt.body
        case PerCore():
            yield (stmt.first,)
        case Load() | Store():
            yield from ((replace(stmt, slot=slot),) for slot in _simpler_slots(stmt.slot))
        case Vec():
            if stmt.constant.terms:
                yield (replace(stmt, constant=Expr()),)
            if stmt.simd:
                yield (replace(stmt, simd=False),)
            if stmt.shift is not None:
                yield (replace(stmt, shift=None, scatters=False),)
            if stmt.positive:
                yield (replace(stmt, positive=False),)


def _simpler_slots(slot: Expr) -> Iterator[Expr]:
    if slot.terms:
        yield Expr()
    if slot.terms and slot.constant:
        yield replace(slot, constant=0)


def _substituted(node: Any, variable: str) -> Any:
    """With 0 for the variable, in any part of a program."""
    if isinstance(node, Expr):
        terms = tuple((f, _substituted(a, variable)) for f, a in node.terms if a != variable)
        return replace(node, terms=terms)
    if isinstance(node, tuple):
        return tuple(_substituted(each, variable) for each in node)
    if is_dataclass(node):
        values = {f.name: _substituted(getattr(node, f.name), variable) for f in fields(node)}
        return replace(node, **values)
    return node


def _mentions(node: Any, word: str) -> bool:
    if isinstance(node, tuple):
        return any(_mentions(each, word) for each in node)
    if is_dataclass(node):
        return any(_mentions(getattr(node, f.name), word) for f in fields(node))
    return node == word


def _used_only(program: Program) -> Program:
    """Without the buffers that no statement names."""
    used: tuple[Buffer, ...] = tuple(b for b in program.buffers if _mentions(program.body, b.name))
    return replace(program, buffers=used)
