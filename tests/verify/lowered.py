"""Device functions of kernels that TileLang's own passes lowered."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import tilelang
import tilelang.ascend.transform as ascend_transform
import tvm
from tvm.tirx import PrimFunc

import tilelang_ascend_sched
from examples import WORKLOADS
from tests.kernels.small import SMALL
from tilelang_ascend_sched.verify import device_functions, named

KERNELS = {**SMALL, **WORKLOADS}


@cache
def device(name: str) -> PrimFunc:
    """The device function of a small kernel, or of a workload at its full size."""
    return stock(KERNELS[name].build)[0]


@cache
def small(name: str) -> tuple[PrimFunc, PrimFunc]:
    """The device function of a kernel at its small size, and that before packing."""
    return stock(partial(KERNELS[name].build, **KERNELS[name].tiny))


@cache
def stock(build: Callable[..., Any]) -> tuple[PrimFunc, PrimFunc]:
    """The device function of ``build()``, which must have one, and that before packing."""
    seen: list[tvm.IRModule] = []
    before: list[tvm.IRModule] = []
    original = ascend_transform.MergeUBAllocations

    def construct(**options: Any) -> Callable[[tvm.IRModule], tvm.IRModule]:
        def run(mod: tvm.IRModule) -> tvm.IRModule:
            before.append(mod)
            return original(**options)(mod)

        return run

    with tilelang_ascend_sched.disabled():
        original = ascend_transform.MergeUBAllocations
        ascend_transform.MergeUBAllocations = construct
        try:
            lower_with(build(), seen.append)
        finally:
            ascend_transform.MergeUBAllocations = original
    (func,) = device_functions(seen[-1])
    unpacked = named(before[-1], func)
    assert unpacked is not None
    return func, unpacked


def lower_with(func: PrimFunc, see: Callable[[tvm.IRModule], tvm.IRModule | None]) -> str:
    """The AscendC text of ``func`` by TileLang's own passes.

    ``see`` gets the module that the check reads, and may return another one to go on with.
    """
    original = ascend_transform.RewriteFlagToBuf

    def construct() -> Callable[[tvm.IRModule], tvm.IRModule]:
        def run(mod: tvm.IRModule) -> tvm.IRModule:
            rewritten = original()(mod)
            return see(rewritten) or rewritten

        return run

    with tilelang_ascend_sched.disabled(), tvm.target.Target("ascend"):
        original = ascend_transform.RewriteFlagToBuf
        ascend_transform.RewriteFlagToBuf = construct
        try:
            return tilelang.lower(func, target="ascend").kernel_source
        finally:
            ascend_transform.RewriteFlagToBuf = original
