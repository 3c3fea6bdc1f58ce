"""Device functions written out as the passes would leave them, for the check to read."""

from __future__ import annotations

import tilelang  # noqa: F401  # puts tvm on the path
from tvm import tirx
from tvm.ir import Op, PointerType, PrimType
from tvm.tirx import PrimExpr, PrimFunc, Stmt, Var

TILE = 1024
"""Bytes that one load, store or vector instruction here touches."""


def _handle(name: str, scope: str) -> Var:
    return Var(name, PointerType(PrimType("float32"), scope))


X, Y = _handle("X", "global"), _handle("Y", "global")
_UB = _handle("ub", "shared.dyn")
_TILES = tirx.decl_buffer([16 * TILE // 4], "float32", "ub", _UB)
_NUMBERS = tirx.decl_buffer([16 * TILE // 4], "int32", "ub", _UB)


def seq(*stmts: Stmt) -> Stmt:
    return tirx.SeqStmt(list(stmts)) if len(stmts) > 1 else stmts[0]


def loop(extent: int | PrimExpr, body) -> Stmt:
    """``body`` maps the loop variable to a statement."""
    dtype = "int32" if isinstance(extent, int) else extent.dtype
    var = Var("i", dtype)
    return tirx.For(var, tirx.const(0, dtype), extent, tirx.ForKind.SERIAL, body(var))


def when(condition: PrimExpr, *then: Stmt) -> Stmt:
    return tirx.IfThenElse(condition, seq(*then), None)


def either(condition: PrimExpr, then: Stmt, otherwise: Stmt) -> Stmt:
    return tirx.IfThenElse(condition, then, otherwise)


def set_flag(event: str, flag: int | PrimExpr) -> Stmt:
    return _issue("tl.ascend_set_flag", event, flag)


def wait_flag(event: str, flag: int | PrimExpr) -> Stmt:
    return _issue("tl.ascend_wait_flag", event, flag)


def handshake(event: str, flag: int | PrimExpr) -> Stmt:
    return seq(set_flag(event, flag), wait_flag(event, flag))


def barrier(pipe: str) -> Stmt:
    return _issue("tl.ascend_pipe_barrier", pipe)


def lock(pipe: str, number: int | PrimExpr) -> Stmt:
    return _issue("tl.ascend_get_buf", pipe, number, 0)


def unlock(pipe: str, number: int | PrimExpr) -> Stmt:
    return _issue("tl.ascend_rls_buf", pipe, number, 0)


def cross_set(mode: int, pipe: str, flag: int | PrimExpr) -> Stmt:
    return _issue("tl.ascend_cross_core_set_flag", mode, pipe, flag)


def cross_wait(mode: int, pipe: str, flag: int | PrimExpr) -> Stmt:
    return _issue("tl.ascend_cross_core_wait_flag", mode, pipe, flag)


def load(ub: int | PrimExpr, gm: int | PrimExpr, tensor: Var = X) -> Stmt:
    """MTE2: one tile from GM, tile number ``gm``, to UB, tile number ``ub``."""
    to, source = _pointer(_UB, ub, 2), _pointer(tensor, gm, 1)
    return _issue("tl.ascend_copy_gm_to_ubuf", to, source, 0, 1, TILE, 0, 0, 0, 0, TILE, TILE)


def part_load(start: int | PrimExpr, end: int | PrimExpr) -> Stmt:
    """MTE2: from element ``start`` to ``end`` of tile 0 of UB, both cut off at the ends of it."""
    first, last = _inside(start), _inside(end)
    to, source = _address(_UB, first, 2), _pointer(X, 0, 1)
    name = "tl.ascend_copy_gm_to_ubuf"
    return _issue(name, to, source, 0, 1, (last - first) * 4, 0, 0, 0, 0, TILE, TILE)


def part_store(start: int | PrimExpr, end: int | PrimExpr) -> Stmt:
    """MTE3: from the same elements."""
    first, last = _inside(start), _inside(end)
    to, source = _pointer(Y, 0, 2), _address(_UB, first, 1)
    return _issue("tl.ascend_copy_ubuf_to_gm", to, source, 0, 1, (last - first) * 4, 0, TILE, TILE)


def store(gm: int | PrimExpr, ub: int | PrimExpr, tensor: Var = Y) -> Stmt:
    """MTE3: one tile from UB to GM."""
    to, source = _pointer(tensor, gm, 2), _pointer(_UB, ub, 1)
    return _issue("tl.ascend_copy_ubuf_to_gm", to, source, 0, 1, TILE, 0, TILE, TILE)


def multiply() -> Stmt:
    """M: 16 by 16 numbers, from the start of L0A and L0B to that of L0C."""
    to, left, right = (_pointer(_handle(name, f"shared.{name}"), 0, 1) for name in _L0)
    return _issue("tl.ascend_mad", to, left, right, 16, 16, 16, 0)


def vector(to: int | PrimExpr, source: int | PrimExpr) -> Stmt:
    """V: reads a tile of UB and writes one, and half a column of the next."""
    first, second = _pointer(_UB, source, 1), _pointer(_UB, to, 2)
    return _issue("tl.ascend_nd2nz_scatter", first, second, 16, 16, "float", "float")


def write(element: int | PrimExpr, number: PrimExpr | None = None) -> Stmt:
    """S: one element of UB, a whole number if one is given."""
    if number is not None:
        return tirx.BufferStore(_NUMBERS, number, [element])
    return tirx.BufferStore(_TILES, tirx.const(1.0, "float32"), [element])


def read(element: int | PrimExpr) -> PrimExpr:
    """S: one whole number of UB."""
    return tirx.BufferLoad(_NUMBERS, [element])


def real(element: int | PrimExpr) -> PrimExpr:
    """S: one number of UB, of which nothing is ever known."""
    return tirx.BufferLoad(_TILES, [element])


def again() -> Stmt:
    """``continue``: the rest of the turn is left out."""
    return tirx.Evaluate(tirx.Call("void", Op.get("tirx.continue_loop"), []))


def element(index: PrimExpr) -> PrimExpr:
    """A number of X, which must not be written."""
    return tirx.BufferLoad(tirx.decl_buffer([1 << 20], "int32", "X", X), [index])


def opaque(name: str) -> Stmt:
    return tirx.Evaluate(tirx.Call("void", Op.get("tirx.call_extern"), [tirx.StringImm(name)]))


def kernel(*stmts: Stmt, scalars: tuple[Var, ...] = ()) -> PrimFunc:
    body = seq(tirx.AllocBuffer(_TILES), *stmts)
    return PrimFunc([X, Y, *scalars], body).with_attr("global_symbol", "kernel")


def core(name: str, *stmts: Stmt) -> Stmt:
    """What one kind of core executes: ``name`` is CUBE, or VECTOR, with one AIV."""
    notes = {"vector_count": tirx.IntImm("int32", 1)} if name == "VECTOR" else None
    block = tirx.SBlock([], [], [], name, seq(*stmts), annotations=notes)
    return tirx.SBlockRealize([], tirx.const(True, "bool"), block)


def packed(*stmts: tuple[Stmt, Stmt]) -> tuple[PrimFunc, PrimFunc]:
    """A kernel after and before its buffers are packed, of statements by :func:`placed`."""
    buffers = [tirx.decl_buffer([TILE // 4], "float32", v.name, v) for v in _BUFFERS]
    before = seq(*(tirx.AllocBuffer(buffer) for buffer in buffers), *(old for _, old in stmts))
    return (
        kernel(*(new for new, _ in stmts)),
        PrimFunc([X, Y], before).with_attr("global_symbol", "kernel"),
    )


_L0 = ("l0c", "l0a", "l0b")
_BUFFERS = [_handle(name, "shared.dyn") for name in ("a", "b", *(f"c{i}" for i in range(63)))]


def placed(
    buffer: int, place: float, *, load_from: int | None = None, store_to: int = 0
) -> tuple[Stmt, Stmt]:
    """A load into, or a store from, a whole buffer that is packed at tile ``place``.

    Half a tile is a place too. The statement after packing, and before.
    """

    def made(data: Var, offset: int) -> Stmt:
        if load_from is not None:
            to, source = _address(data, offset, 2), _pointer(X, load_from, 1)
            name, sizes = "tl.ascend_copy_gm_to_ubuf", (0, 1, TILE, 0, 0, 0, 0, TILE, TILE)
        else:
            to, source = _pointer(Y, store_to, 2), _address(data, offset, 1)
            name, sizes = "tl.ascend_copy_ubuf_to_gm", (0, 1, TILE, 0, TILE, TILE)
        return _issue(name, to, source, *sizes)

    return made(_UB, int(place * TILE // 4)), made(_BUFFERS[buffer], 0)


def _inside(element: int | PrimExpr) -> int | PrimExpr:
    if isinstance(element, int):
        return min(max(element, 0), TILE // 4)
    return tirx.max(tirx.min(element, TILE // 4), 0)


def number(buffer: int, place: int) -> tuple[PrimExpr, PrimExpr]:
    """The first number in a buffer that is packed at tile ``place``; after packing, and before."""

    def read(data: Var, offset: int) -> PrimExpr:
        numbers = tirx.decl_buffer([16 * TILE // 4], "int32", data.name, data)
        return tirx.BufferLoad(numbers, [tirx.IntImm("int32", offset)])

    return read(_UB, place * TILE // 4), read(_BUFFERS[buffer], 0)


def _pointer(data: Var, tile: int | PrimExpr, rights: int) -> PrimExpr:
    return _address(data, tile * (TILE // 4), rights)


def _address(data: Var, offset: int | PrimExpr, rights: int) -> PrimExpr:
    annotation = tirx.Call("float32", Op.get("tirx.type_annotation"), [])
    args = [annotation, data, offset, TILE // 4, rights]
    return tirx.Call("handle", Op.get("tirx.tvm_access_ptr"), args)


def _issue(name: str, *args: object) -> Stmt:
    operands = [tirx.StringImm(arg) if isinstance(arg, str) else arg for arg in args]
    return tirx.Evaluate(tirx.Call("void", Op.get(name), operands))
