"""An example kernel lowered once, as the check reads it and as the emulator does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tvm import IRModule
from tvm.ir.transform import PassContext
from tvm.tirx import PrimFunc

from benchmarks.emulator import subject
from tests.fuzz.mutants import finish
from tests.verify.mutate import replaced
from tilelang_ascend_sched.verify import Grab, VerifyReport, device_functions, named, verify

UNCHECKED = {"tl.ascend_sched.verify": "off"}
"""Pass configuration: what is wrong shall not end the lowering."""


@dataclass(frozen=True)
class Subject:
    """A lowered example kernel with its data.

    module, unpacked, hinted: what the check reads, see :class:`Grab`.
    """

    emulated: subject.Subject
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

    def text(self, func: PrimFunc, name: str) -> str:
        """The AscendC text with ``func`` for the device function, as a kernel of that name."""
        old = str(func.attrs["global_symbol"])
        return finish(replaced(self.module, func)).replace(old, name)

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
    return Subject(emulated, grab.mod, grab.unpacked, grab.hinted)
