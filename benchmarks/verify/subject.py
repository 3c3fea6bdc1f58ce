"""An example kernel lowered once, as the check reads it and as the emulator does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import tilelang
from tvm import IRModule
from tvm.error import InternalError
from tvm.ir.transform import PassContext
from tvm.target import Target
from tvm.tirx import PrimFunc

import tilelang_ascend_sched
from benchmarks.emulator import subject
from tests.fuzz.mutants import finish
from tests.verify.mutate import replaced
from tilelang_ascend_sched.verify import Grab, VerifyReport, device_functions, named, verify

UNCHECKED = {"tl.ascend_sched.verify": "off"}
"""Pass configuration: what is wrong shall not end the lowering."""


@dataclass(frozen=True)
class Read:
    """What the check reads of a lowered kernel, see :class:`Grab`."""

    module: IRModule
    unpacked: IRModule | None
    hinted: IRModule | None

    @property
    def device(self) -> PrimFunc:
        """The one device function."""
        (func,) = device_functions(self.module)
        return func

    def check(self, func: PrimFunc | None = None) -> VerifyReport:
        """Of the device function, or of a changed one in its place."""
        func = func or self.device
        return verify(func, unpacked=named(self.unpacked, func), hinted=self.hinted)


@dataclass(frozen=True)
class Subject(Read):
    """A lowered example kernel with its data."""

    emulated: subject.Subject

    def text(self, func: PrimFunc, name: str) -> str | None:
        """The AscendC text with ``func`` for the device function, as a kernel of that name.

        None if there is no such text: a variable is used before it is set.
        """
        try:
            text = finish(replaced(self.module, func))
        except InternalError:
            return None
        return text.replace(str(func.attrs["global_symbol"]), name)

    def arguments(self) -> tuple[dict[str, np.ndarray | int], int]:
        """New arrays and scalars by name, and how many blocks are launched."""
        lowered = self.emulated.lowered
        arrays = self.emulated.workload.arguments(self.emulated.inputs)
        symbols = {
            extent: length
            for parameter in lowered.parameters
            for extent, length in zip(parameter.shape, arrays[parameter.name].shape, strict=True)
            if isinstance(extent, str)
        }
        (launch,) = lowered.launches
        return arrays | symbols, launch.blocks(symbols)


def lower(name: str, side: str, **sizes: int) -> Subject:
    """Lowers the example ``name`` by the passes of ``side``. Raises what the lowering raises."""
    grab = Grab()
    with PassContext(opt_level=3, config=UNCHECKED, instruments=[grab]):
        emulated = subject.lower(name, side, **sizes)
    return Subject(grab.mod, grab.unpacked, grab.hinted, emulated)


def lower_only(build: Callable[[], PrimFunc], side: str) -> Read:
    """Lowers a kernel by the passes of ``side``. Raises what the lowering raises."""
    grab = Grab()
    switched = tilelang_ascend_sched.enabled if side == "ours" else tilelang_ascend_sched.disabled
    context = PassContext(opt_level=3, config=UNCHECKED, instruments=[grab])
    with switched(), context, Target("ascend"):
        tilelang.lower(build(), target="ascend")
    return Read(grab.mod, grab.unpacked, grab.hinted)
