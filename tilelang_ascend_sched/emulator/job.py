"""Runs compiled kernels in the worker process."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from tilelang_ascend_sched.emulator import build, code, scratch
from tilelang_ascend_sched.emulator.arrays import ArrayArgument, distinct
from tilelang_ascend_sched.emulator.result import PIPES, Finding, Result, Site, from_json
from tilelang_ascend_sched.emulator.source import FILE_NAME, Source

POLICIES = ("eager", "lazy", "random", *(f"starve:{pipe}" for pipe in PIPES))

_LIMITS = {
    "seed": (0, 2**64 - 1),
    "step_budget": (1, 2**63 - 1),
    "idle_seconds": (1, 2**31 - 1),
    "workers": (0, 64),
    "timeline_block": (-1, 2**31 - 1),
}


def check_integer(name: str, value: object, least: int, most: int = 2**31 - 1) -> None:
    """ValueError names an argument that is not an integer or out of its range."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name}={value!r} is not an integer")
    if not least <= value <= most:
        raise ValueError(f"{name}={value} is not in {least}..{most}")


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
    closure: bool = False
    """Digest what happens before each access, for ``KernelRun.closure``."""

    def check(self) -> None:
        """ValueError names the setting that is wrong and what is allowed."""
        if self.policy not in POLICIES:
            raise ValueError(f"unknown policy {self.policy!r}: choose from {', '.join(POLICIES)}")
        for name, (least, most) in _LIMITS.items():
            check_integer(name, getattr(self, name), least, most)

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
    for name in (
        "seed",
        "race",
        "time",
        "step_budget",
        "idle_seconds",
        "timeline_block",
        "closure",
    ):
        lines.append(f"{name} {int(getattr(settings, name))}")
    lines.append(f"workers {settings.processes}")
    return lines


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
    with scratch.folder() as folder:
        for i, argument in enumerate(arrays):
            argument.save(folder, i)
        job, result = folder / "job", folder / "result.json"
        lines = _job_lines(library, result, source, arrays, index, calls, settings)
        job.write_text("\n".join(lines) + "\n")
        done = subprocess.run([str(worker), str(job)], capture_output=True, text=True)
        if not result.exists():
            raise RuntimeError(_worker_failure(done, source))
        data = json.loads(result.read_text())
        lines = code.lines_of(library, json.dumps(data["findings"]))
        outcome = from_json(data, source.original, done.stdout, lines)
        for argument in arrays:
            argument.load()
    return replace(outcome, findings=_blind_spots(library, source) + outcome.findings)


@lru_cache(maxsize=64)
def _blind_spots(library: Path, source: Source) -> tuple[Finding, ...]:
    """What the text does that the emulator has no eyes for: the same in every run of it."""
    found = [
        (line, f"{name}: its loads and stores are not seen, nor are those of what it calls")
        for name, line in code.unseen_calls(library, source)
    ]
    found += [
        (line, "assembly: its loads and stores are not seen") for line in code.assembly(source)
    ]
    return tuple(
        Finding(
            "blind-spot",
            f"line {line} calls {what}",
            -1,
            (Site("", "S", what.partition(":")[0], FILE_NAME, line, 0),),
        )
        for line, what in sorted(found)
    )


def _worker_failure(done: subprocess.CompletedProcess[str], source: Source) -> str:
    unresolved = re.search(r"undefined symbol: (\S+)", done.stderr)
    if unresolved and unresolved[1].startswith("__tsan_atomic"):
        return "the kernel uses atomic operations of C++, which are not modelled by the emulator"
    if unresolved:
        name = code.plain_name(unresolved[1])
        line = code.first_call(name, source)
        where = f"{FILE_NAME}:{line}: " if line else "the kernel: "
        return f"{where}`{name}` is called, which nothing defines"
    message = done.stderr.strip().splitlines()
    return f"the emulator's worker ended with status {done.returncode}" + (
        f": {message[-1]}" if message else ""
    )
