"""Executes the sync calls of TIR in issue order and derives what waits for what.

A flag op is on the pipe that sets or waits. The k-th wait of an id follows the k-th set of that id.
A blocking lock follows all unlocks of its id issued before it; a non-blocking lock follows nothing.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from dataclasses import dataclass

from tvm import tirx

from tests.passes.tir import SYNC

_BINARY = {
    tirx.Add: operator.add,
    tirx.Sub: operator.sub,
    tirx.Mul: operator.mul,
    tirx.FloorMod: operator.mod,
    tirx.FloorDiv: operator.floordiv,
    tirx.LT: operator.lt,
    tirx.LE: operator.le,
    tirx.GT: operator.gt,
    tirx.GE: operator.ge,
    tirx.EQ: operator.eq,
}


def evaluate(expr: tirx.PrimExpr, env: dict[tirx.Var, int]) -> int:
    if isinstance(expr, tirx.IntImm):
        return int(expr.value)
    if isinstance(expr, tirx.Var):
        return env[expr]
    return _BINARY[type(expr)](evaluate(expr.a, env), evaluate(expr.b, env))


@dataclass(frozen=True)
class Issued:
    """One executed sync call. ``blocking`` says something of locks only."""

    kind: str
    name: str
    index: int
    blocking: bool = True


def issue(stmt: tirx.Stmt, env: dict[tirx.Var, int] | None = None) -> list[Issued]:
    """The sync calls that executing ``stmt`` issues, in order."""
    env = env or {}
    if isinstance(stmt, tirx.SeqStmt):
        return [op for child in stmt.seq for op in issue(child, env)]
    if isinstance(stmt, tirx.For):
        trips = range(evaluate(stmt.extent, env))
        return [op for i in trips for op in issue(stmt.body, {**env, stmt.loop_var: i})]
    if isinstance(stmt, tirx.IfThenElse):
        if evaluate(stmt.condition, env):
            return issue(stmt.then_case, env)
        return issue(stmt.else_case, env) if stmt.else_case is not None else []
    assert isinstance(stmt, tirx.Evaluate), stmt
    args = stmt.value.args
    blocking = len(args) < 3 or args[2].value == 0
    kind = SYNC[stmt.value.op.name]
    return [Issued(kind, args[0].value, evaluate(args[1], env), blocking)]


def steps(ops: list[Issued]) -> list[list[Issued]]:
    """Groups a lock with its unlock: one step for each flag op of the kernel before spilling."""
    grouped: list[list[Issued]] = []
    for op in ops:
        if op.kind == "unlock":
            assert grouped[-1][-1].kind == "lock" and grouped[-1][-1].index == op.index
            grouped[-1].append(op)
        else:
            grouped.append([op])
    return grouped


def answers(ops: list[Issued]) -> list[tuple[int, int]]:
    """The pairs (set, wait) of positions in ``ops`` that the flags tie together."""
    sets, waits = defaultdict(list), defaultdict(list)
    for at, op in enumerate(ops):
        if op.kind in ("set", "wait"):
            (sets if op.kind == "set" else waits)[op.name, op.index].append(at)
    return [pair for key in sorted(waits) for pair in zip(sets[key], waits[key], strict=True)]


def followers(ops: list[Issued]) -> list[set[int]]:
    """For each step of ``steps(ops)``, the steps that are sure to come after it, itself included.

    Setting never waits, so only steps on the waiting pipe follow others across pipes.
    """
    grouped = steps(ops)
    edges: list[set[int]] = [set() for _ in grouped]
    last_on_pipe: dict[str, int] = {}
    unlocked: dict[int, list[int]] = defaultdict(list)
    for at, step in enumerate(grouped):
        pipe = _pipe(step[0])
        if pipe in last_on_pipe:
            edges[last_on_pipe[pipe]].add(at)
        last_on_pipe[pipe] = at
        if step[0].kind != "lock":
            continue
        if step[0].blocking:
            for earlier in unlocked[step[0].index]:
                edges[earlier].add(at)
        unlocked[step[0].index].append(at)
    for before, after in answers([step[0] for step in grouped]):
        edges[before].add(after)
    return [_reachable(edges, start) for start in range(len(edges))]


def _pipe(op: Issued) -> str:
    if op.kind == "lock":
        return op.name.removeprefix("PIPE_")
    source, target = op.name.split("_")
    return source if op.kind == "set" else target


def _reachable(edges: list[set[int]], start: int) -> set[int]:
    seen, todo = {start}, [start]
    while todo:
        for after in edges[todo.pop()] - seen:
            seen.add(after)
            todo.append(after)
    return seen
