"""Reads loops, tasks and buffers out of TIR: names for what the solver knows by number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tvm import DataType, IRModule, tirx

from .schedule import BufferReport

_UNIT = "tl.schedule_unit"
_TASK_KEYS = ("tl.ascend_task", "tl.ascend_per_core_task")

SCOPES = {
    "shared": "UB",
    "shared.dyn": "UB",
    "shared.l1": "L1",
    "shared.l0a": "L0A",
    "shared.l0b": "L0B",
    "shared.l0c": "L0C",
}
"""TIR storage scope -> the memory's name on the machine."""


@dataclass(frozen=True)
class Region:
    """One list of units that the solver orders: a loop's body, or a kernel's top level."""

    kind: str
    name: str
    trips: int | None
    tasks: tuple[str, ...]


def regions(mod: IRModule) -> list[Region]:
    """The regions of a module, in the order in which AutoSchedule asks the solver for them.

    Inner loops come before the loop around them, a kernel's top level comes last; a top level of
    a single unit is never asked for.
    """
    found: list[Region] = []
    for _, func in sorted(mod.functions.items(), key=lambda item: str(item[0].name_hint)):
        for root in _blocks(func.body, "tilelang_root"):
            units = list(_units(root.body))
            for unit in units:
                _collect_loops(unit, found)
            if len(units) > 1:
                found.append(Region("region", "top level", None, tuple(map(_label, units))))
    return found


def _collect_loops(unit: tirx.Stmt, found: list[Region]) -> None:
    loop = _loop_of(unit)
    if loop is None:
        return
    units = list(_units(loop.body))
    for inner in units:
        _collect_loops(inner, found)
    extent = loop.extent
    trips = int(extent.value) if isinstance(extent, tirx.IntImm) else None
    found.append(Region("loop", str(loop.loop_var.name), trips, tuple(map(_label, units))))


def _units(stmt: tirx.Stmt) -> Iterator[tirx.AttrStmt]:
    """Outermost schedule units of a statement, in program order."""
    if isinstance(stmt, tirx.AttrStmt) and stmt.attr_key == _UNIT:
        yield stmt
    else:
        for child in _children(stmt):
            yield from _units(child)


def _loop_of(unit: tirx.Stmt) -> tirx.For | None:
    """The loop that a unit is, or None if it is a task."""
    if isinstance(unit, tirx.For):
        return unit
    if isinstance(unit, tirx.AttrStmt) and unit.attr_key in _TASK_KEYS:
        return None
    for child in _children(unit):
        loop = _loop_of(child)
        if loop is not None:
            return loop
    return None


def _children(stmt: tirx.Stmt) -> list[tirx.Stmt]:
    if isinstance(stmt, tirx.SeqStmt):
        return list(stmt.seq)
    if isinstance(stmt, tirx.SBlockRealize):
        return [stmt.block]
    if isinstance(stmt, tirx.IfThenElse):
        return [stmt.then_case] + ([stmt.else_case] if stmt.else_case is not None else [])
    body = getattr(stmt, "body", None)
    return [body] if isinstance(body, tirx.Stmt) else []


def _blocks(stmt: tirx.Stmt, name: str) -> list[tirx.SBlock]:
    found: list[tirx.SBlock] = []

    def visit(node: object) -> None:
        if isinstance(node, tirx.SBlock) and node.name_hint == name:
            found.append(node)

    tirx.stmt_functor.post_order_visit(stmt, visit)
    return found


def _label(unit: tirx.Stmt) -> str:
    """A short name of a unit in the user's terms, such as ``ascend_copy(A, A_l1)``."""
    loop = _loop_of(unit)
    if loop is not None:
        return f"loop {loop.loop_var.name}"
    operation = ""
    buffers: list[str] = []

    def visit(node: object) -> None:
        nonlocal operation
        if isinstance(node, tirx.SBlock):
            operation = str(node.name_hint).lower()
        elif isinstance(node, tirx.Call) and not operation:
            operation = str(node.op.name).rsplit(".", 1)[-1]
        buffer = getattr(node, "buffer", None)
        if isinstance(buffer, tirx.Buffer) and str(buffer.name) not in buffers:
            buffers.append(str(buffer.name))

    tirx.stmt_functor.pre_order_visit(unit, lambda node: (visit(node), True)[1])
    return f"{operation or 'scalar'}({', '.join(buffers)})"


def buffers(mod: IRModule) -> list[BufferReport]:
    """On-chip buffers of a module after AutoSchedule, with the versions it chose."""
    found: list[BufferReport] = []
    for _, func in sorted(mod.functions.items(), key=lambda item: str(item[0].name_hint)):
        for root in _blocks(func.body, "tilelang_root"):
            chosen = list(root.annotations.get("tl.buffer_versions_map", {}).items())
            seen_storage: list[tirx.Var] = []
            for buffer in root.alloc_buffers:
                scope = SCOPES.get(str(buffer.scope()))
                if scope is None or any(buffer.data.same_as(var) for var in seen_storage):
                    continue
                seen_storage.append(buffer.data)
                same = (int(count) for var, count in chosen if var.same_as(buffer.data))
                count = next(same, 1)
                size = _bytes(buffer)
                if size is not None:
                    found.append(BufferReport(str(buffer.name), scope, count, count * size))
    return found


def has_simt(mod: IRModule) -> bool:
    """Whether a kernel of the module has a SIMT function, which keeps some of UB for itself."""
    return any(_blocks(func.body, "SIMT_VF") for func in mod.functions.values())


def _bytes(buffer: tirx.Buffer) -> int | None:
    bits = DataType(str(buffer.dtype)).bits
    for extent in buffer.shape:
        if not isinstance(extent, tirx.IntImm):
            return None
        bits *= int(extent.value)
    return (bits + 7) // 8
