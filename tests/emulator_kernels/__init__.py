"""Kernels that put the emulator's instructions to work, more of them than the examples use."""

from __future__ import annotations

from examples import Workload
from tests.emulator_kernels.cube import CUBE
from tests.emulator_kernels.mixed import MIXED
from tests.emulator_kernels.simd import SIMD
from tests.emulator_kernels.vector import VECTOR

KERNELS: dict[str, Workload] = {w.name: w for w in (*CUBE, *VECTOR, *SIMD, *MIXED)}
