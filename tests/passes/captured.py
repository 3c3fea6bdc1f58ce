"""The IR that real kernels have when they reach a pass of the stock chain."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache

import tilelang
import tilelang.ascend.transform as ascend_transform
import tvm

import tilelang_ascend_sched
from examples import WORKLOADS
from tilelang_ascend_sched.pipeline import PASSES

NAMES = tuple(info.name for info in PASSES)

QUICK = ("gemm_relu", "streams_2", "while_sum", "dynamic_add")
"""Kernels that lower within a second or two and together meet loops, guards and `while`."""


@cache
def stages(workload: str) -> dict[str, tvm.IRModule]:
    """The module of an example kernel before each pass, up to one that refuses it."""
    seen: dict[str, tvm.IRModule] = {}
    with (
        tilelang_ascend_sched.disabled(),
        _recording(seen),
        tvm.target.Target("ascend"),
        suppress(tvm.error.InternalError),
    ):
        tilelang.lower(WORKLOADS[workload].build(), target="ascend")
    return seen


@contextmanager
def _recording(seen: dict[str, tvm.IRModule]) -> Iterator[None]:
    stock = {name: getattr(ascend_transform, name) for name in NAMES}

    def record(name: str):
        def make(*args, **kwargs):
            made = stock[name](*args, **kwargs)

            def run(mod: tvm.IRModule) -> tvm.IRModule:
                seen[name] = mod
                return made(mod)

            return run

        return make

    for name in NAMES:
        setattr(ascend_transform, name, record(name))
    try:
        yield
    finally:
        for name in NAMES:
            setattr(ascend_transform, name, stock[name])
