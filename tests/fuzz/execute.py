"""Runs many small kernels that are compiled together: most of a compilation is its start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tilelang_ascend_sched.emulator import build, job, source
from tilelang_ascend_sched.emulator.arrays import array_argument, dtype_of, scalar_bits
from tilelang_ascend_sched.emulator.job import KernelCall, Settings
from tilelang_ascend_sched.emulator.result import Result

STEPS = 2_000_000
"""Scheduler steps that a kernel may take: some hundred times what the longest one needs."""


class Batch:
    """Kernels of different names, compiled as one text. CompileError: one of them is refused."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.source = source.read("\n".join(texts))
        build.kernel_library(self.source)
        self.single = {}
        for text in texts:
            one = source.read(text)
            (kernel,) = one.kernels
            # Whether there is a SIMT function decides how much of UB a kernel has.
            mine = replace(self.source, has_simt=one.has_simt, kernels=one.kernels)
            self.single[text] = (mine, kernel)

    def parameters(self, text: str) -> list[str]:
        """Names of a kernel's parameters."""
        return [p.name for p in self.single[text][1].parameters]

    def run(
        self,
        text: str,
        arguments: Mapping[str, Any],
        *,
        blocks: int,
        policy: str,
        seed: int,
        steps: int = STEPS,
        closure: bool = False,
    ) -> Result:
        """Runs one of the kernels; arrays are written in place. steps, closure: see Settings."""
        whole, kernel = self.single[text]
        values: list[Any] = []
        for p in kernel.parameters:
            given = arguments[p.name]
            if p.is_array:
                values.append(array_argument(p.name, given, dtype_of(p.ctype), None))
            else:
                values.append(scalar_bits(p.name, p.ctype, given))
        call = KernelCall(kernel.name, kernel.kind, blocks, tuple(values))
        arrays = [value for value in values if not isinstance(value, int)]
        settings = Settings(
            policy=policy, seed=seed, step_budget=steps, workers=1, time=False, closure=closure
        )
        return job.run(whole, arrays, [call], settings)
