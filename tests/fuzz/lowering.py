"""Lowers programs with TileLang's passes, ours, or a mixture of both."""

from __future__ import annotations

import importlib.util
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tilelang
from tvm import IRModule
from tvm.ir.transform import PassContext
from tvm.target import Target
from tvm.tirx import PrimFunc

import tilelang_ascend_sched as sched
from tests.fuzz.model import Program
from tests.fuzz.source import write
from tilelang_ascend_sched.options import Options
from tilelang_ascend_sched.pipeline import PASSES
from tilelang_ascend_sched.verify import Grab, VerifyReport, device_functions, named, verify

STOCK, MIXED = "stock", "mixed"
"""In place of a value of ``tl.ascend_sched.passes``: TileLang without us, and each program lowered
with a choice of our passes by its name."""
WARNINGS = (
    "the synchronization ring is malformed",
    "reverse ordering too loose to bound flag reuse",
    "dependency cycle (reverse distance <= 0)",
)
"""What TileLang's InsertSync says of a flag that it does not know to be right, and emits."""


@dataclass(frozen=True)
class Lowered:
    """A program's AscendC text and what the check reads. warned: InsertSync was not sure."""

    program: Program
    text: str
    module: IRModule
    unpacked: IRModule | None
    hinted: IRModule | None
    warned: bool

    @property
    def device(self) -> PrimFunc:
        (func,) = device_functions(self.module)
        return func

    def check(self, func: PrimFunc) -> VerifyReport:
        """Of the device function, or of a mutant of it."""
        return verify(func, unpacked=named(self.unpacked, func), hinted=self.hinted)


class Refused(Exception):
    """TileLang or one of our passes refused the kernel."""


def mixture(name: str) -> str:
    """Of a program's name: whose pass each is, of those that there are two of."""
    rng = random.Random(name)
    both = [info.name for info in PASSES if info.ours]
    chosen = [f"{each}=ours" for each in both if rng.random() < 0.5]
    return ",".join(["stock", *chosen])


def ours(passes: str) -> frozenset[str]:
    """Names of the passes that are ours under ``passes``; of a mixture, those sure to be."""
    if passes in (STOCK, MIXED):
        return frozenset()
    return frozenset(name for name, mine in Options(passes=passes).owners().items() if mine)


def lower(program: Program, folder: Path, passes: str) -> Lowered:
    """``passes``: a value of ``tl.ascend_sched.passes``, ``STOCK`` or ``MIXED``."""
    grab = Grab()
    config: dict[str, Any] = {"tl.enable_auto_schedule": program.scheduled}
    for key, value in program.configs:
        if passes != STOCK or not key.startswith("tl.ascend_sched."):
            config[key] = value
    if passes != STOCK:
        chosen = mixture(program.name) if passes == MIXED else passes
        config |= {"tl.ascend_sched.passes": chosen, "tl.ascend_sched.verify": "off"}
    with heard() as lines:
        try:
            with sched.disabled() if passes == STOCK else sched.enabled():
                func = build(program, folder)
                with PassContext(opt_level=3, config=config, instruments=[grab]), Target("ascend"):
                    text = tilelang.lower(func, target="ascend").kernel_source
        except Exception as error:
            raise Refused(f"{type(error).__name__}: {error}") from error
    warned = any(warning in line for line in lines for warning in WARNINGS)
    return Lowered(program, text, grab.mod, grab.unpacked, grab.hinted, warned)


def build(program: Program, folder: Path) -> PrimFunc:
    """The program as a prim_func, imported from a file in ``folder``: TileLang reads files."""
    path = folder / f"{program.name}.py"
    path.write_text(write(program))
    spec = importlib.util.spec_from_file_location(f"fuzzed_{program.name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.build()


@contextmanager
def heard() -> Iterator[list[str]]:
    """The lines that native code meanwhile writes as warnings; known once all is over."""
    lines: list[str] = []
    sys.stderr.flush()
    stream = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield lines
        finally:
            os.dup2(stream, 2)
            os.close(stream)
            file.seek(0)
            lines += file.read().decode(errors="replace").splitlines()
