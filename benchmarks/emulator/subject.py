"""An example kernel lowered once, to be run as it is or with its text changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import tilelang_ascend_sched
from examples import WORKLOADS, Workload
from tilelang_ascend_sched.emulator import Result, Settings, api, launch

SIDES = ("ours", "stock")
"""Whose passes schedule."""


@dataclass(frozen=True)
class Subject:
    """A lowered example kernel with its data and its expected results."""

    workload: Workload
    lowered: launch.Lowered
    inputs: Mapping[str, np.ndarray]
    expected: Mapping[str, np.ndarray]

    @property
    def text(self) -> str:
        """The generated AscendC."""
        return self.lowered.text

    def run(
        self, text: str | None = None, *, blocks: int | None = None, **settings: Any
    ) -> tuple[Result, dict[str, np.ndarray]]:
        """Runs the kernel, or ``text`` in its place; returns the arrays as it left them too."""
        arrays = self.workload.arguments(self.inputs)
        lowered = self.lowered if text is None else replace(self.lowered, text=text)
        return api.run_lowered(lowered, arrays, blocks, Settings(**settings)), arrays

    def wrong(self, arrays: Mapping[str, np.ndarray]) -> list[str]:
        """How the outputs differ from what is expected."""
        found = [self.workload.mismatch(n, arrays[n], e) for n, e in self.expected.items()]
        return [message for message in found if message]

    def error(self, arrays: Mapping[str, np.ndarray]) -> tuple[float, float]:
        """The largest difference of an output value from what is expected, and the largest share
        of its tolerance; inf for a NaN."""
        largest = share = 0.0
        for name, wanted in self.expected.items():
            got, want = arrays[name].astype(np.float64), wanted.astype(np.float64)
            tolerance = self.workload.tolerances[name]
            with np.errstate(invalid="ignore", divide="ignore"):
                off = np.where(got == want, 0.0, np.abs(got - want))
                off[np.isnan(off)] = np.inf
                allowed = tolerance.atol + tolerance.rtol * np.abs(want)
                part = np.where(off == 0, 0.0, off / allowed)
            largest = max(largest, float(off.max(initial=0.0)))
            share = max(share, float(part.max(initial=0.0)))
        return largest, share


def lower(name: str, side: str, *, seed: int = 7, **sizes: int) -> Subject:
    """Lowers the example ``name`` by the passes of ``side``. Raises what the lowering raises."""
    workload = WORKLOADS[name]
    inputs = workload.inputs(np.random.default_rng(seed), **sizes)
    ours = side == "ours"
    switched = tilelang_ascend_sched.enabled if ours else tilelang_ascend_sched.disabled
    with switched():
        lowered = launch.lower(workload.build(**sizes))
    return Subject(workload, lowered, inputs, workload.reference(**inputs))
