"""Lowering one kernel to AscendC text, with its schedule report, no NPU or toolkit needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

import tilelang
from tvm.ir.instrument import DumpIR
from tvm.ir.transform import PassContext
from tvm.target import Target
from tvm.tirx import PrimFunc

from .plug.api import pinned
from .plug.reports import latest_here
from .report import ScheduleReport


@dataclass(frozen=True)
class Lowered:
    """A lowered kernel.

    source: the AscendC text.
    artifact: what ``tilelang.lower`` returned.
    report: what the plugin decided; None if it was off.
    """

    source: str
    artifact: Any
    report: ScheduleReport | None


@contextmanager
def dump_ir(directory: str | PathLike[str], **pass_configs: Any) -> Iterator[None]:
    """A ``with`` block in which ``tilelang.lower`` writes the TIR after every pass.

    ``tl.enable_dump_ir`` is read by ``tilelang.compile`` alone; this is the same for
    ``tilelang.lower``: one file a pass, ``NNN_<pass name>.py``, in ``directory``.
    """
    instruments = [DumpIR(dump_dir=fspath(directory))]
    with PassContext(opt_level=3, config=pass_configs, instruments=instruments):
        yield


def lower(
    func: PrimFunc,
    *,
    pass_configs: Mapping[str, Any] | None = None,
    dump_ir: str | PathLike[str] | None = None,
) -> Lowered:
    """Lower ``func`` for ``target="ascend"``.

    ``pass_configs`` are TileLang's and the plugin's pass-config keys; ``dump_ir`` names a
    directory that gets the TIR after every pass. Raises what TileLang raises for a kernel it
    refuses, ``ValueError`` for a bad option.
    """
    instruments = [] if dump_ir is None else [DumpIR(dump_dir=fspath(dump_ir))]
    context = PassContext(opt_level=3, config=dict(pass_configs or {}), instruments=instruments)
    with pinned() as on, context, Target("ascend"):
        artifact = tilelang.lower(func, target="ascend")
    report = latest_here() if on else None
    return Lowered(artifact.kernel_source, artifact, report)
