"""The IR that real kernels have when they reach a pass of the stock chain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

import tilelang
import tilelang.ascend.transform as ascend_transform
import tvm
from tvm_ffi import get_global_func

import tilelang_ascend_sched
from benchmarks.front_passes import modules
from examples import WORKLOADS
from tests.kernels.small import SMALL
from tilelang_ascend_sched.pipeline import PASSES

NAMES = tuple(info.name for info in PASSES)

KERNELS = {**SMALL, **WORKLOADS}
"""Small kernels of each kind of structure, which lower in an instant, and the examples."""


@cache
def stages(kernel: str) -> dict[str, tvm.IRModule]:
    """The module of a kernel before each pass, up to one that refuses it."""
    seen: dict[str, tvm.IRModule] = {}
    with (
        tilelang_ascend_sched.disabled(),
        _replaced(_recorders(seen)),
        tvm.target.Target("ascend"),
        suppress(tvm.error.InternalError),
    ):
        tilelang.lower(KERNELS[kernel].build(), target="ascend")
    return seen


@cache
def early_stages(kernel: str) -> dict[str, tvm.IRModule]:
    """The same for the passes before scheduling alone, at a small part of the time."""
    return modules(KERNELS[kernel].build())


def lowered(function: tvm.tirx.PrimFunc, *ours: str) -> str:
    """The function's AscendC by the stock chain with the named passes replaced by ours."""
    makers = {name: get_global_func(f"tl.ascend_sched.transform.{name}") for name in ours}
    with tilelang_ascend_sched.disabled(), _replaced(makers), tvm.target.Target("ascend"):
        return tilelang.lower(function, target="ascend").kernel_source


@contextmanager
def _replaced(makers: dict[str, Callable[..., Any]]) -> Iterator[None]:
    """Has the stock pipeline call ``makers`` for the passes of those names."""
    stock = {name: getattr(ascend_transform, name) for name in makers}
    for name, make in makers.items():
        setattr(ascend_transform, name, make)
    try:
        yield
    finally:
        for name, make in stock.items():
            setattr(ascend_transform, name, make)


def _recorders(seen: dict[str, tvm.IRModule]) -> dict[str, Callable[..., Any]]:
    def record(name: str, stock: Callable[..., Any]) -> Callable[..., Any]:
        def make(*args: Any, **kwargs: Any) -> Callable[[tvm.IRModule], tvm.IRModule]:
            made = stock(*args, **kwargs)

            def run(mod: tvm.IRModule) -> tvm.IRModule:
                seen[name] = mod
                return made(mod)

            return run

        return make

    return {name: record(name, getattr(ascend_transform, name)) for name in NAMES}
