"""Lowered programs with one synchronization statement changed, as text that can be run."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import dataclass

import tilelang
from tilelang.ascend import transform as ascend_transform
from tilelang.backend.module import create_backend_context
from tilelang.engine.lower import device_codegen_without_compile, get_device_call
from tvm import IRModule, tirx
from tvm.error import InternalError
from tvm.target import Target
from tvm.tirx import PrimFunc

from tests.verify.mutate import Mutant, mutants, replaced


@dataclass(frozen=True)
class Changed:
    """A mutant, and its AscendC text."""

    mutant: Mutant
    text: str


def pick(func: PrimFunc, module: IRModule, count: int, seed: int) -> list[Changed]:
    """``count`` of the mutants of a program's device function, or all if there are not as many.

    Not those in which a flag's id comes before the variable that it is made of.
    """
    every = list(mutants(func))
    random.Random(seed).shuffle(every)
    name = str(func.attrs["global_symbol"])
    changed: list[Changed] = []
    for mutant in every:
        if len(changed) == count:
            break
        with suppress(InternalError):
            text = finish(replaced(module, mutant.func))
            changed.append(Changed(mutant, text.replace(name, f"{name}_mutant{len(changed)}")))
    return changed


def finish(module: IRModule) -> str:
    """The AscendC text of a module as ``RewriteFlagToBuf`` leaves it."""
    rest = (
        ascend_transform.AscendThreadSync("shared"),
        ascend_transform.AscendThreadSync("shared.dyn"),
        tilelang.transform.MergeIfStmt(),
        tilelang.transform.MakePackedAPI(),
        tilelang.transform.Simplify(),
        tilelang.transform.LowerDeviceKernelLaunch(),
        tirx.transform.Filter(get_device_call()),
    )
    with Target("ascend"):
        context = create_backend_context("ascend", None, "auto")
        for step in rest:
            module = step(module)
        return device_codegen_without_compile(module, context).inspect_source()
