"""What a run of the emulator has to say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

PIPES = ("S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX")
CORES = ("AIC", "AIV0", "AIV1")


@dataclass(frozen=True)
class Site:
    """An instruction in the text: its core, its pipe and where it stands."""

    core: str
    pipe: str
    instruction: str
    file: str
    line: int
    call_site: int
    """Line of the kernel's text, when ``file`` is a template that it calls; else 0."""

    @property
    def kernel_line(self) -> int:
        """The line of the kernel's own text, 0 if unknown."""
        return self.line if self.file == "kernel.asc" else self.call_site


@dataclass(frozen=True)
class Finding:
    """Something wrong. ``kind`` is one of deadlock, race, race-same-pipe, race-simt, wrong-hint,
    never-written, out-of-range, wild-pointer, flag-set-twice, flag-left-set, flag-overflow,
    lock-left-held, barrier, capacity, alignment, blind-spot, budget, error."""

    kind: str
    message: str
    block: int
    """The first block it was seen in; -1 between blocks."""
    sites: tuple[Site, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


@dataclass(frozen=True)
class KernelRun:
    """One kernel launch. Tables go by block, then core, then pipe (``CORES``, ``PIPES``)."""

    name: str
    executed: tuple[tuple[tuple[int, ...], ...], ...]
    """Instructions that started."""
    syncs: tuple[tuple[int, ...], ...]
    """Synchronization instructions executed, by block and core."""
    closure: int = 0
    """With ``Settings.closure``: a digest of what happens before each access. Synchronization that
    can go without changing it orders nothing."""
    times: tuple[dict[str, Any], ...] = ()
    events: tuple[tuple[Any, ...], ...] = field(default=(), repr=False)
    critical_path: tuple[int, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Result:
    """Findings and figures of one call of ``emulate``."""

    findings: tuple[Finding, ...]
    kernels: tuple[KernelRun, ...]
    source: str = field(default="", repr=False)
    """The AscendC text that ran."""
    printed: str = field(default="", repr=False)
    """What the kernels printed, in no particular order of blocks."""

    @property
    def ok(self) -> bool:
        """Nothing is wrong."""
        return not self.findings

    def of_kind(self, *kinds: str) -> list[Finding]:
        """The findings of these kinds."""
        return [f for f in self.findings if f.kind in kinds]

    def executed_syncs(self) -> Iterator[int]:
        """Synchronization instructions of each block, all cores and kernels together."""
        for kernel in self.kernels:
            for block in kernel.syncs:
                yield sum(block)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(v) for v in value) if isinstance(value, list) else value


PLACE = re.compile(r"\b(?P<place>code\+0x[0-9a-f]+)/(?P<known>\d+)\b")
"""How the worker names a place in the kernel's machine code, and the last line known before."""


def _finding(data: dict[str, Any], lines: Mapping[str, int]) -> Finding:
    def named(match: re.Match[str]) -> str:
        if line := lines.get(match["place"]):
            return str(line)
        return f"{match['known']} or later" if match["known"] != "0" else "?"

    sites = []
    for site in data["sites"]:
        if match := PLACE.fullmatch(site["file"]):
            line = lines.get(match["place"]) or int(match["known"])
            site = {**site, "file": "kernel.asc", "line": line}
        sites.append(Site(**site))
    return Finding(data["kind"], PLACE.sub(named, data["message"]), data["block"], tuple(sites))


def _same_place(finding: Finding) -> Any:
    """Two places in machine code may be of one line."""
    if not finding.sites:
        return finding
    sites = (
        (s.core[:3], s.pipe, s.instruction, s.file, s.line, s.call_site) for s in finding.sites
    )
    return finding.kind, *sites


def from_json(data: dict[str, Any], source: str, printed: str, lines: Mapping[str, int]) -> Result:
    """Reads the worker's result; ``lines``: of the places in machine code that it names."""
    findings = {}
    for told in data["findings"]:
        finding = _finding(told, lines)
        findings.setdefault(_same_place(finding), finding)
    kernels = tuple(
        KernelRun(
            k["name"],
            _tuples(k["executed"]),
            _tuples(k["syncs"]),
            k["closure"],
            tuple(k["times"]),
            _tuples(k["events"]),
            tuple(k["critical_path"]),
        )
        for k in data["kernels"]
    )
    return Result(tuple(findings.values()), kernels, source, printed)
