"""Runs compiled kernels in the worker process."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tilelang_ascend_sched.emulator import build
from tilelang_ascend_sched.emulator.arrays import ArrayArgument, distinct
from tilelang_ascend_sched.emulator.result import PIPES, Result, from_json
from tilelang_ascend_sched.emulator.source import Source

POLICIES = ("eager", "lazy", "random", *(f"starve:{pipe}" for pipe in PIPES))


@dataclass(frozen=True)
class Settings:
    """How to run. ``policy`` and ``seed`` choose the interleaving; findings of the race check and
    cycles do not depend on them."""

    policy: str = "eager"
    seed: int = 0
    race: bool = True
    time: bool = True
    step_budget: int = 200_000_000
    """Scheduler steps of one block (of all blocks, when they run at once)."""
    idle_seconds: int = 60
    """CPU seconds that code between two instructions may take."""
    workers: int = 0
    """Processes that blocks are dealt out to; 0: one a CPU, at most 2."""
    timeline_block: int = -1
    """The block whose events are kept; -1: the slowest."""

    def check(self) -> None:
        """ValueError names the setting that is wrong and what is allowed."""
        if self.policy not in POLICIES:
            raise ValueError(f"unknown policy {self.policy!r}: choose from {', '.join(POLICIES)}")
        if self.seed < 0:
            raise ValueError(f"seed {self.seed} is negative")
        if self.step_budget < 1 or self.idle_seconds < 1:
            raise ValueError("step_budget and idle_seconds must be at least 1")

    @property
    def processes(self) -> int:
        """How many worker processes blocks are dealt out to."""
        return self.workers or min(os.cpu_count() or 1, 2)


@dataclass(frozen=True)
class KernelCall:
    """``arguments``: an array, or the 8 bytes of a scalar."""

    name: str
    kind: str
    blocks: int
    arguments: tuple[ArrayArgument | int, ...]


def _job_lines(
    library: Path,
    result: Path,
    source: Source,
    arrays: Sequence[ArrayArgument],
    index: Mapping[int, int],
    calls: Sequence[KernelCall],
    settings: Settings,
) -> list[str]:
    lines = [f"library {library}", f"result {result}"]
    lines += [f"array {a.name} {a.bytes} {a.path}" for a in arrays]
    for call in calls:
        flags = f"{int(source.has_simt)} {int(source.between_blocks)}"
        lines.append(f"kernel {call.name} {call.kind} {call.blocks} {flags}")
        for argument in call.arguments:
            if isinstance(argument, int):
                lines.append(f"arg bits {argument}")
            else:
                lines.append(f"arg array {index[id(argument)]}")
    lines.append("policy " + settings.policy.replace(":", " "))
    for name in ("seed", "race", "time", "step_budget", "idle_seconds", "timeline_block"):
        lines.append(f"{name} {int(getattr(settings, name))}")
    lines.append(f"workers {settings.processes}")
    return lines


def _scratch_folder() -> str | None:
    """Memory-backed if the system has it: the arrays are shared with the worker as files."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def run(
    source: Source,
    arrays: Sequence[ArrayArgument],
    calls: Sequence[KernelCall],
    settings: Settings,
) -> Result:
    """Compiles, runs and writes the arrays back. RuntimeError: the worker itself failed."""
    arrays, index = distinct(arrays)
    library = build.kernel_library(source)
    worker = build.worker()
    with tempfile.TemporaryDirectory(dir=_scratch_folder(), prefix="ascend-emulator-") as name:
        folder = Path(name)
        for i, argument in enumerate(arrays):
            argument.save(folder, i)
        job, result = folder / "job", folder / "result.json"
        lines = _job_lines(library, result, source, arrays, index, calls, settings)
        job.write_text("\n".join(lines) + "\n")
        done = subprocess.run([str(worker), str(job)], capture_output=True, text=True)
        if not result.exists():
            raise RuntimeError(_worker_failure(done))
        outcome = from_json(json.loads(result.read_text()), source.original, done.stdout)
        for argument in arrays:
            argument.load()
    return outcome


def _worker_failure(done: subprocess.CompletedProcess[str]) -> str:
    unresolved = re.search(r"undefined symbol: (\S+)", done.stderr)
    if unresolved:
        return f"the kernel calls `{unresolved[1]}`, which the emulator does not define"
    message = done.stderr.strip().splitlines()
    return f"the emulator's worker ended with status {done.returncode}" + (
        f": {message[-1]}" if message else ""
    )
