"""Short names for the TIR that the pass tests are written in, and a reader of its sync calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import tilelang  # noqa: F401  # puts its TVM on the path
import tvm
from tilelang.transform import _ffi_api as stock_passes
from tvm import tirx
from tvm.tirx import PrimFunc, Stmt
from tvm_ffi import get_global_func

import tilelang_ascend_sched  # noqa: F401  # loads the native library

Code = TypeVar("Code", PrimFunc, tvm.IRModule)


def ours(name: str) -> Callable[[Code], Code]:
    """Our pass as a function from functions to functions, or modules to modules."""
    return _on_code(get_global_func(f"tl.ascend_sched.transform.{name}")())


def stock(name: str) -> Callable[[Code], Code]:
    return _on_code(getattr(stock_passes, name)())


def _on_code(made: Callable[[tvm.IRModule], tvm.IRModule]) -> Callable[[Code], Code]:
    def run(code: Code) -> Code:
        if isinstance(code, PrimFunc):
            return made(tvm.IRModule({"main": code}))["main"]
        return made(code)

    return run


def call(op: str, *args: Any) -> Stmt:
    """The statement ``tl.<op>(*args)``; Python numbers become int32."""
    args = [tirx.IntImm("int32", a) if isinstance(a, int) else a for a in args]
    args = [tirx.StringImm(a) if isinstance(a, str) else a for a in args]
    return tirx.Evaluate(tirx.call_intrin("void", tirx.op.Op.get(f"tl.{op}"), *args))


def set_flag(event: str, flag: Any) -> Stmt:
    return call("ascend_set_flag", event, flag)


def wait_flag(event: str, flag: Any) -> Stmt:
    return call("ascend_wait_flag", event, flag)


def lock(pipe: str, lock_id: Any, mode: int = 0) -> Stmt:
    return call("ascend_get_buf", pipe, lock_id, mode)


def unlock(pipe: str, lock_id: Any, mode: int = 0) -> Stmt:
    return call("ascend_rls_buf", pipe, lock_id, mode)


def seq(*stmts: Stmt) -> Stmt:
    return stmts[0] if len(stmts) == 1 else tirx.SeqStmt(list(stmts))


def var(name: str) -> tirx.Var:
    return tirx.Var(name, "int32")


def loop(index: tirx.Var, extent: Any, *body: Stmt, annotations: Any = None) -> Stmt:
    return tirx.For(
        index,
        tirx.IntImm("int32", 0),
        extent if isinstance(extent, tirx.PrimExpr) else tirx.IntImm("int32", extent),
        tirx.ForKind.SERIAL,
        seq(*body),
        annotations=annotations or {},
    )


def when(condition: Any, *body: Stmt) -> Stmt:
    return tirx.IfThenElse(condition, seq(*body), None)


def section(core: str, *body: Stmt) -> Stmt:
    """The code of one core, ``CUBE`` or ``VECTOR``."""
    return tirx.SBlock([], [], [], core, seq(*body))


def kernel(*body: Stmt, params: tuple[Any, ...] = ()) -> PrimFunc:
    return PrimFunc(list(params), seq(*body)).with_attr("global_symbol", "main")


def kernel_root(*body: Stmt, params: tuple[Any, ...] = ()) -> PrimFunc:
    """A function around one kernel whose root block holds ``body``."""
    return kernel(tirx.SBlock([], [], [], "tilelang_root", seq(*body)), params=params)


def root_of(function: PrimFunc) -> tirx.SBlock:
    return function.body


SYNC = {
    "tl.ascend_set_flag": "set",
    "tl.ascend_wait_flag": "wait",
    "tl.ascend_get_buf": "lock",
    "tl.ascend_rls_buf": "unlock",
}


def sync_calls(function: PrimFunc) -> list[tuple[str, str, str]]:
    """All sync calls in program order as (kind, event or pipe, id), the id as TIR prints it."""
    return [(kind, name, str(index)) for kind, name, index, _ in walk_sync(function.body)]


def walk_sync(body: Stmt) -> Iterator[tuple[str, str, tirx.PrimExpr, tirx.Call]]:
    found: list[tuple[str, str, tirx.PrimExpr, tirx.Call]] = []

    def visit(node: Any) -> None:
        if isinstance(node, tirx.Call) and getattr(node.op, "name", "") in SYNC:
            found.append((SYNC[node.op.name], node.args[0].value, node.args[1], node))

    tirx.stmt_functor.post_order_visit(body, visit)
    yield from found
