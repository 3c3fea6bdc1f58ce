"""Lowers a prim_func and reads from the result how its kernels are launched."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ArrayParameter:
    """A tensor parameter of the prim_func. A dimension is an integer or the name of a variable."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]


@dataclass(frozen=True)
class ScalarParameter:
    """A scalar parameter of the prim_func."""

    name: str
    dtype: str


@dataclass(frozen=True)
class Launch:
    """One kernel launch of the host function."""

    kernel: str
    blocks: Callable[[Mapping[str, int]], int]
    """Number of blocks from the values of the symbolic dimensions and scalars."""


@dataclass(frozen=True)
class Lowered:
    """A prim_func's AscendC text and how its host function launches the kernels in it."""

    text: str
    parameters: tuple[ArrayParameter | ScalarParameter, ...]
    launches: tuple[Launch, ...]


def prim_func_of(kernel: Any) -> Any:
    """The prim_func in what a user may hand over. ValueError if there is none."""
    from tvm import tirx

    if isinstance(kernel, tirx.PrimFunc):
        return kernel
    inner = getattr(kernel, "prim_func", None)
    if isinstance(inner, tirx.PrimFunc):
        return inner
    if hasattr(kernel, "get_tir"):
        return kernel.get_tir()
    raise ValueError(
        f"expected a prim_func, a tilelang.jit kernel or AscendC text, got {type(kernel).__name__}"
    )


def _dimension(extent: Any) -> int | str:
    from tvm import tirx

    if isinstance(extent, (int, tirx.IntImm)):
        return int(extent)
    if isinstance(extent, tirx.Var):
        return extent.name
    return str(extent)


def _parameters(func: Any) -> tuple[ArrayParameter | ScalarParameter, ...]:
    found: list[ArrayParameter | ScalarParameter] = []
    for var in func.params:
        if var in func.buffer_map:
            buffer = func.buffer_map[var]
            shape = tuple(_dimension(d) for d in buffer.shape)
            found.append(ArrayParameter(buffer.data.name, str(buffer.dtype), shape))
        else:
            found.append(ScalarParameter(var.name, str(var.dtype)))
    return tuple(found)


def _launch_order(host: Any, names: set[str]) -> list[str]:
    from tvm import tirx

    order: list[str] = []

    def visit(node: Any) -> None:
        callee = node.args[0] if isinstance(node, tirx.Call) and node.args else None
        if isinstance(callee, tirx.StringImm) and callee.value in names:
            order.append(callee.value)

    for _, func in host.functions.items():
        tirx.stmt_functor.post_order_visit(func.body, visit)
    return order


def _block_count(extent: Any) -> Callable[[Mapping[str, int]], int]:
    from tvm import arith, tirx

    if isinstance(extent, (int, tirx.IntImm)):
        return lambda _: int(extent)

    def count(values: Mapping[str, int]) -> int:
        variables: dict[str, Any] = {}

        def visit(node: Any) -> None:
            if isinstance(node, tirx.Var):
                variables[node.name] = node

        tirx.stmt_functor.post_order_visit(tirx.Evaluate(extent), visit)
        missing = sorted(set(variables) - set(values))
        if missing:
            raise ValueError(f"the number of blocks depends on {', '.join(missing)}, not given")
        replaced = {var: tirx.IntImm(var.dtype, values[name]) for name, var in variables.items()}
        value = arith.Analyzer().simplify(tirx.stmt_functor.substitute(extent, replaced))
        return int(value)

    return count


def lower(kernel: Any, edit: Callable[[Any], Any] | None = None) -> Lowered:
    """Lowers for Ascend, with the plugin's passes when it is on, without compiling.

    edit: makes the prim_func that is lowered of the kernel's own.
    """
    import tilelang
    import tvm

    func = prim_func_of(kernel)
    if edit is not None:
        func = edit(func)
    configs = getattr(kernel, "pass_configs", None) or {}
    with contextlib.ExitStack() as stack:
        stack.enter_context(tvm.target.Target("ascend"))
        if configs:  # of a tilelang.jit kernel; otherwise the caller's pass context holds
            named = {getattr(key, "value", key): value for key, value in configs.items()}
            stack.enter_context(tvm.transform.PassContext(opt_level=3, config=named))
        artifact = tilelang.lower(func, target="ascend")
    device = {gv.name_hint: f for gv, f in artifact.device_mod.functions.items()}
    kernels = {
        str(f.attrs["global_symbol"]) if "global_symbol" in f.attrs else name: f
        for name, f in device.items()
    }
    order = _launch_order(artifact.host_mod, set(kernels)) or sorted(kernels)
    launches = []
    for name in order:
        extents = kernels[name].attrs["thread_extent"]
        launches.append(Launch(name, _block_count(extents["blockIdx.x"])))
    return Lowered(artifact.kernel_source, _parameters(func), tuple(launches))
