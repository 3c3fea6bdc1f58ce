"""Lowered kernels with one synchronization statement changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import tilelang  # noqa: F401  # puts tvm on the path
from tvm import IRModule, tirx
from tvm.tirx import PrimFunc, SeqStmt, Stmt
from tvm.tirx.stmt_functor import ir_transform, post_order_visit

SYNC = (
    "tl.ascend_set_flag",
    "tl.ascend_wait_flag",
    "tl.ascend_cross_core_set_flag",
    "tl.ascend_cross_core_wait_flag",
    "tl.ascend_pipe_barrier",
)
LOCK, UNLOCK = "tl.ascend_get_buf", "tl.ascend_rls_buf"
_ID_ARGUMENT = {name: 2 if "cross_core" in name else 1 for name in SYNC[:4]} | {LOCK: 1, UNLOCK: 1}


@dataclass(frozen=True)
class Mutant:
    """``what`` was done to the synchronization ``statement``.

    same_queues: the statement only moved past one of another pipe, so every pipe of the core gets
        the same instructions in the same order.
    """

    what: str
    statement: str
    func: PrimFunc
    same_queues: bool = False

    def __str__(self) -> str:
        return f"{self.what} {self.statement}"


def mutants(func: PrimFunc) -> Iterator[Mutant]:
    """Every synchronization statement deleted, moved up or down by one, or with another id.

    A flag that was spilled to a lock is one statement: the lock and its release at once.
    """
    for sequence in _sequences(func.body):
        items = list(sequence.seq)
        index = 0
        while index < len(items):
            count = _sync_length(items, index)
            if count:
                yield from _of(func, sequence, items, index, count)
            index += max(count, 1)


def replaced(mod: IRModule, func: PrimFunc) -> IRModule:
    """``mod`` with ``func`` for its device function."""
    (var,) = (v for v, old in mod.functions.items() if "tirx.is_entry_func" not in old.attrs)
    functions = dict(mod.functions.items()) | {var: func.without_attr("global_symbol")}
    return IRModule(functions, attrs=mod.attrs)


def _of(
    func: PrimFunc, sequence: SeqStmt, items: list[Stmt], at: int, count: int
) -> Iterator[Mutant]:
    moved, end = items[at : at + count], at + count
    text = " ".join(map(_text, moved))

    def mutant(what: str, changed: list[Stmt], past: Stmt | None = None) -> Mutant:
        same = past is not None and _pipes_differ(moved[0], past)
        return Mutant(what, text, _with(func, sequence, changed), same)

    before, after = items[:at], items[end:]
    yield mutant("delete", [*before, *after])
    if before:
        yield mutant("move up", [*before[:-1], *moved, before[-1], *after], before[-1])
    if after:
        yield mutant("move down", [*before, after[0], *moved, *after[1:]], after[0])
    renamed = [_with_next_id(stmt) for stmt in moved]
    if any(new is not old for new, old in zip(renamed, moved, strict=True)):
        yield mutant("other id", [*before, *renamed, *after])


def _text(stmt: Stmt) -> str:
    """As TVM prints it, on one line and without declarations of the variables in it."""
    lines = [line.strip() for line in str(stmt).splitlines()]
    return " ".join(line for line in lines if line and not _DECLARATION.match(line))


_DECLARATION = re.compile(r"\w+ = T\.")
_DMA = {
    "tl.ascend_copy_gm_to_ubuf": "MTE2",
    "tl.ascend_copy_gm_to_cbuf": "MTE2",
    "tl.ascend_copy_ubuf_to_gm": "MTE3",
    "tl.ascend_copy_ubuf_to_cbuf": "MTE3",
    "tl.ascend_nd2nz_post_copy": "MTE3",
    "tl.ascend_copy_matrix_cc_to_ub": "FIX",
    "tl.ascend_copy_matrix_cc_to_gm": "FIX",
}


def _pipe(stmt: Stmt) -> str | None:
    """The one pipe that a statement is for, if it is told easily."""
    name = _name(stmt)
    call = _call(stmt)
    if isinstance(stmt, tirx.SBlock) and str(stmt.name_hint) in ("SIMT_VF", "SIMD_VF"):
        return "V"
    if call is None:
        return None
    if name in ("tl.ascend_set_flag", "tl.ascend_wait_flag"):
        source, target = str(call.args[0].value).split("_")
        return source if "set" in name else target
    if "cross_core" in name:
        return str(call.args[1].value).removeprefix("PIPE_")
    return _DMA.get(name)


def _pipes_differ(a: Stmt, b: Stmt) -> bool:
    first, second = _pipe(a), _pipe(b)
    known = first is not None and second is not None and "S" not in (first, second)
    return known and first != second


def _sequences(body: Stmt) -> list[SeqStmt]:
    found: list[SeqStmt] = []

    def visit(node: object) -> None:
        if isinstance(node, SeqStmt):
            found.append(node)

    post_order_visit(body, visit)
    return found


def _call(stmt: Stmt) -> tirx.Call | None:
    """The call that a statement is, alone under any number of guards."""
    while isinstance(stmt, tirx.IfThenElse) and stmt.else_case is None:
        stmt = stmt.then_case
    if isinstance(stmt, tirx.Evaluate) and isinstance(stmt.value, tirx.Call):
        return stmt.value
    return None


def _name(stmt: Stmt) -> str:
    call = _call(stmt)
    return str(getattr(call.op, "name", "")) if call is not None else ""


def _sync_length(items: list[Stmt], index: int) -> int:
    if _name(items[index]) in SYNC:
        return 1
    spilled = _name(items[index]) == LOCK and index + 1 < len(items)
    return 2 if spilled and _name(items[index + 1]) == UNLOCK else 0


def _with(func: PrimFunc, sequence: SeqStmt, items: list[Stmt]) -> PrimFunc:
    new: Stmt = SeqStmt(items) if len(items) > 1 else items[0] if items else tirx.Evaluate(0)

    def replace(node: Stmt) -> Stmt | None:
        return new if node.same_as(sequence) else None

    return func.with_body(ir_transform(func.body, replace, None, ["tirx.SeqStmt"]))


def _with_next_id(stmt: Stmt) -> Stmt:
    call = _call(stmt)
    argument = _ID_ARGUMENT.get(_name(stmt)) if call is not None else None
    if call is None or argument is None:
        return stmt
    args = list(call.args)
    args[argument] = args[argument] + 1
    changed = tirx.Evaluate(tirx.Call(call.dtype, call.op, args))

    def replace(node: Stmt) -> Stmt | None:
        return changed if isinstance(node, tirx.Evaluate) else None

    return ir_transform(stmt, replace, None, ["tirx.Evaluate"])
