"""Lowered programs with one synchronization statement changed, as text that can be run."""

from __future__ import annotations

import random
from dataclasses import dataclass

import tilelang
from tilelang.ascend import transform as ascend_transform
from tilelang.backend.module import create_backend_context
from tilelang.engine.lower import device_codegen_without_compile, get_device_call
from tvm import IRModule, tirx
from tvm.target import Target
from tvm.tirx import PrimFunc

from tests.verify.mutate import Mutant, mutants


@dataclass(frozen=True)
class Changed:
    """A mutant, and its AscendC text."""

    mutant: Mutant
    text: str


def pick(func: PrimFunc, module: IRModule, count: int, seed: int) -> list[Changed]:
    """``count`` of the mutants of a program's device function, or all if there are not as many."""
    every = list(mutants(func))
    chosen = random.Random(seed).sample(every, min(count, len(every)))
    name = str(func.attrs["global_symbol"])
    changed = []
    for number, mutant in enumerate(chosen):
        text = finish(_replaced(module, mutant.func)).replace(name, f"{name}_mutant{number}")
        changed.append(Changed(mutant, text))
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


def _replaced(module: IRModule, func: PrimFunc) -> IRModule:
    (var,) = (v for v, f in module.functions.items() if "tirx.is_entry_func" not in f.attrs)
    functions = dict(module.functions.items()) | {var: func.without_attr("global_symbol")}
    return IRModule(functions, attrs=module.attrs)
