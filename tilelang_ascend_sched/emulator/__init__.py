"""Runs generated AscendC on the CPU: numbers, races, deadlocks, cycles.

``emulate`` is the way in; the generated text is compiled unchanged but for UB addresses and vector
function calls, against stub headers of our own, and executed by a native worker process.
"""

from __future__ import annotations

from tilelang_ascend_sched.emulator.api import emulate
from tilelang_ascend_sched.emulator.build import CompileError
from tilelang_ascend_sched.emulator.job import POLICIES, Settings
from tilelang_ascend_sched.emulator.result import Finding, KernelRun, Result, Site

__all__ = [
    "POLICIES",
    "CompileError",
    "Finding",
    "KernelRun",
    "Result",
    "Settings",
    "Site",
    "emulate",
]
