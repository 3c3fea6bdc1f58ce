"""The check of lowered kernels: what it found, under which assumptions.

The check itself is native code in ``cpp/verify`` and shares nothing with the passes that plan. It
reads a device function after ``RewriteFlagToBuf``, when addresses and flag ids are final.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from os.path import basename
from typing import Any

import tilelang
from tvm import IRModule
from tvm.ir.instrument import pass_instrument
from tvm.ir.transform import PassContext
from tvm.target import Target
from tvm.tirx import PrimFunc
from tvm_ffi import get_global_func

from .hardware import limits

PROVEN, REFUSED, NOT_PROVEN = "proven", "refused", "not_proven"
"""Verdicts: every run is right; some run is wrong; neither could be shown."""

LAST_PASS = "tl.RewriteFlagToBuf"
"""After this pass the code is what the check reads."""

PACKING_PASS = "tl.MergeUBAllocations"
"""Before this pass every buffer on chip has a variable of its own."""

HINTS_PASSES = ("tl.NormalizeConflictHints", "tl.AscendLowerTileOp")
"""Before the first of these the module still holds the hints. A kernel that is not scheduled skips
the first."""


@dataclass(frozen=True)
class Site:
    """One statement at one turn of its loops.

    statement: the instruction's name; file, line: where the user wrote it, if ``relation`` is "at";
    else a pass or a tile operator made it, next "before" or "after" that line of the user's, or
    "in" the loop that begins there. "" and 0 if no line is known. turns: loop variables' turns,
    counted from 0, innermost loop first.
    """

    statement: str
    file: str
    line: int
    relation: str
    core: str
    pipe: str
    turns: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        place = f" {self.relation} {basename(self.file)}:{self.line}" if self.line else ""
        turns = ", ".join(f"{name} turn {turn}" for name, turn in self.turns)
        return f"{self.core} {self.pipe}: {self.statement}{place}" + (
            f" ({turns})" if turns else ""
        )


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong (``certain``), or that keeps the kernel from being proven.

    kind: race, set twice, left set, deadlock, lock, range, capacity, shared bytes, no core; or not
        modelled, not periodic, budget, undecided id, ambiguous flag, buffers unknown.
    first, second: the second comes later. Of a deadlock the first waits for the second, of a flag
        that may be set while it is set the second sets it.
    memory, tensor, buffer, begin, end: the bytes that both statements of a race touch; `x, y` if
        they touch them as two buffers.
    distance: by how many turns of each common loop the second statement is later.
    missing, supply: the order that is not given, and what would give it.
    inputs: run-time inputs with which it happens, where it depends on them.
    """

    kind: str
    certain: bool
    message: str
    first: Site | None
    second: Site | None
    memory: str
    tensor: str
    buffer: str
    begin: int
    end: int
    distance: str
    missing: str
    supply: str
    inputs: str

    def __str__(self) -> str:
        sites = (self.first,) if self.kind == "deadlock" else (self.second, self.first)
        places = [site for site in sites if site is not None and site.line]
        place = f"{basename(places[0].file)}:{places[0].line}: " if places else ""
        where = f" in {self.memory}" if self.memory else ""
        if self.tensor:
            where += f" tensor {self.tensor}"
        if self.memory and not self.tensor:
            where += f" bytes {self.begin} to {self.end}"
        if self.buffer:
            where += f" ({self.buffer})"
        level = "error" if self.certain else "not proven"
        lines = [f"{place}{level}: {self.kind}{where}: {self.message}"]
        lines += [f"  first   {self.first}"] if self.first is not None else []
        lines += [f"  second  {self.second}"] if self.second is not None else []
        lines += [f"  distance {self.distance}"] if self.distance else []
        lines += [f"  missing {self.missing}"] if self.missing else []
        lines += [f"  supply  {self.supply}"] if self.supply else []
        lines += [f"  with    {self.inputs}"] if self.inputs else []
        return "\n".join(lines)


@dataclass(frozen=True)
class VerifyReport:
    """What the check says of one kernel.

    paths: ways through the kernel that were walked, for kernels that depend on run-time inputs.
    instructions: instructions walked, over all paths.
    assumptions: what the proof rests on, with the hints that it needs.
    unused_hints: ``T.assume_no_conflict`` that the proof does without, and why.
    """

    kernel: str
    verdict: str
    findings: tuple[Finding, ...]
    assumptions: tuple[str, ...]
    unused_hints: tuple[str, ...]
    paths: int
    instructions: int

    def __str__(self) -> str:
        title = f"{self.kernel}: {self.verdict.replace('_', ' ')}"
        assumed = [f"  assuming that {text}" for text in self.assumptions]
        unused = [f"  without {text}" for text in self.unused_hints]
        return "\n".join([title, *map(str, self.findings), *assumed, *unused])


def verify(
    kernel: PrimFunc,
    *,
    unpacked: PrimFunc | None = None,
    hinted: IRModule | None = None,
    skips: bool = True,
    hardware: str = "",
) -> VerifyReport:
    """Check one device function as ``RewriteFlagToBuf`` leaves it.

    unpacked: the function before ``MergeUBAllocations``, which knows the buffers apart.
    hinted: the module before ``NormalizeConflictHints``, which still holds the hints.
    skips: pass over turns of loops that are like those before; else loops whose number of turns is
        known are executed in full.
    hardware: path of the hardware file whose memories, ids and pipes count; empty: the package's.
        ValueError if that file is not right.
    A bad kernel is a verdict, not an exception.
    """
    check = get_global_func("tl.ascend_sched.verify")
    data = json.loads(check(kernel, unpacked, hinted, skips, *limits(hardware)))
    return VerifyReport(
        data["kernel"],
        data["verdict"],
        tuple(map(_finding, data["findings"])),
        tuple(data["assumptions"]),
        tuple(data["unused_hints"]),
        data["paths"],
        data["instructions"],
    )


def device_functions(mod: IRModule) -> list[PrimFunc]:
    """The device functions of a lowered module, by name, which is their ``global_symbol``."""
    found = sorted(mod.functions.items(), key=lambda item: str(item[0].name_hint))
    return [
        func.with_attr("global_symbol", str(var.name_hint))
        for var, func in found
        if "tirx.is_entry_func" not in func.attrs
    ]


def named(mod: IRModule | None, device: PrimFunc) -> PrimFunc | None:
    """The function of ``mod`` that has become ``device``, if there is one."""
    if mod is None:
        return None
    name = str(device.attrs["global_symbol"])
    found = [func for var, func in mod.functions.items() if str(var.name_hint) == name]
    return found[0] if found else None


def verify_lowered(
    func: PrimFunc, *, pass_configs: Mapping[str, Any] | None = None
) -> list[VerifyReport]:
    """Lower ``func`` and check every device function that comes of it.

    Raises what TileLang raises for a kernel that it refuses.
    """
    grabbed = Grab()
    config = dict(pass_configs or {})
    context = PassContext(opt_level=3, config=config, instruments=[grabbed])
    with context, Target("ascend"):
        tilelang.lower(func, target="ascend")
    return [
        verify(
            device,
            unpacked=named(grabbed.unpacked, device),
            hinted=grabbed.hinted,
            hardware=str(config.get("tl.ascend_sched.hardware", "")),
        )
        for device in device_functions(grabbed.mod)
    ]


@pass_instrument
class Grab:
    """Keeps what the check needs of a kernel that is lowered: ``mod``, ``unpacked``, ``hinted``."""

    mod: IRModule
    unpacked: IRModule | None = None
    hinted: IRModule | None = None

    def run_before_pass(self, mod: IRModule, info: Any) -> None:
        """See PassInstrument."""
        if info.name in HINTS_PASSES and self.hinted is None:
            self.hinted = mod
        elif info.name == PACKING_PASS:
            self.unpacked = mod

    def run_after_pass(self, mod: IRModule, info: Any) -> None:
        """See PassInstrument."""
        if info.name == LAST_PASS:
            self.mod = mod


def _finding(data: dict[str, Any]) -> Finding:
    return Finding(**{**data, "first": _site(data["first"]), "second": _site(data["second"])})


def _site(data: dict[str, Any] | None) -> Site | None:
    if data is None:
        return None
    return Site(**{**data, "turns": tuple((name, turn) for name, turn in data["turns"])})
