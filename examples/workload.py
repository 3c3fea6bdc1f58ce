"""What benchmarks and tests need to know of an example kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Tolerance:
    """An output ``x`` is right where ``|x - expected| <= atol + rtol * |expected|``."""

    rtol: float
    atol: float
    why: str


EXACT = Tolerance(0.0, 0.0, "no rounding happens between input and output")


@dataclass(frozen=True)
class Workload:
    """One kernel with its data and its expected results.

    ``build``, ``inputs`` and the keywords of ``tiny`` share one vocabulary of sizes: without
    keywords they mean the size at which the kernel is benchmarked, with ``**tiny`` one small
    enough to be executed on a CPU in seconds.
    """

    name: str
    build: Callable[..., Any]
    """Returns the prim_func."""
    inputs: Callable[..., dict[str, np.ndarray]]
    """``inputs(rng, **sizes)``: what the kernel reads, by parameter name. An output that the kernel
    adds to counts as read."""
    reference: Callable[..., dict[str, np.ndarray]]
    """``reference(**inputs)``: what the kernel writes, by parameter name, computed with numpy."""
    tolerances: Mapping[str, Tolerance]
    """By output name."""
    tiny: Mapping[str, int] = field(default_factory=dict)

    def arguments(self, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """All arrays of a call: copies of ``inputs``, and outputs that hold only set bits.

        Those are NaN in every floating-point type and -1 in integers, so that a value which the
        kernel never stores is noticed.
        """
        arrays = {name: array.copy() for name, array in inputs.items()}
        for name, expected in self.reference(**inputs).items():
            if name not in arrays:
                arrays[name] = np.full(expected.nbytes, 255, np.uint8).view(expected.dtype)
                arrays[name] = arrays[name].reshape(expected.shape)
        return arrays

    def mismatch(self, name: str, actual: np.ndarray, expected: np.ndarray) -> str | None:
        """Describes how output ``name`` differs from what is expected, or None if it is right."""
        if actual.shape != expected.shape or actual.dtype != expected.dtype:
            got = f"{actual.dtype}{list(actual.shape)}"
            return f"{name}: {got} where {expected.dtype}{list(expected.shape)} is expected"
        got, want = actual.astype(np.float64), expected.astype(np.float64)
        tolerance = self.tolerances[name]
        with np.errstate(invalid="ignore"):
            off = ~(np.abs(got - want) <= tolerance.atol + tolerance.rtol * np.abs(want))
        off &= ~(got == want)  # equal infinities
        if not off.any():
            return None
        at = np.unravel_index(np.argmax(off), off.shape)
        index = ", ".join(map(str, at))
        return (
            f"{name}: {off.sum()} of {off.size} values differ, "
            f"first at [{index}]: {got[at]:.6g} where {want[at]:.6g} is expected"
        )
