"""Lowering one kernel to AscendC text, with its schedule report, no NPU or toolkit needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import tilelang
from tvm.ir.instrument import DumpIR
from tvm.ir.transform import PassContext
from tvm.target import Target
from tvm.tirx import PrimFunc

from .options import Options
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
    with PassContext(opt_level=3, config=pass_configs, instruments=[_dumper(directory)]):
        yield


def _dumper(directory: str | PathLike[str]) -> DumpIR:
    if Path(directory).is_file():
        raise ValueError(f"cannot dump TIR into {fspath(directory)!r}: it is a file, not a folder")
    return DumpIR(dump_dir=fspath(directory))


def lower(
    kernel: Any,
    *,
    pass_configs: Mapping[str, Any] | None = None,
    dump_ir: str | PathLike[str] | None = None,
) -> Lowered:
    """Lower ``kernel`` for ``target="ascend"``.

    kernel: a prim_func, or a ``tilelang.jit`` object whose function needs no arguments.
    pass_configs: TileLang's and the plugin's pass-config keys, above those of a jit object.
    dump_ir: a directory that gets the TIR after every pass.

    Raises what TileLang raises for a kernel it refuses, ``ValueError`` for anything else than a
    kernel and for a bad option.
    """
    func = kernel.get_tir() if hasattr(kernel, "get_tir") else kernel
    if not isinstance(func, PrimFunc):
        raise ValueError(
            f"expected a prim_func or a tilelang.jit object, got {type(func).__name__}"
        )
    config = {**(getattr(kernel, "pass_configs", None) or {}), **(pass_configs or {})}
    Options.from_config(config)
    instruments = [] if dump_ir is None else [_dumper(dump_ir)]
    context = PassContext(opt_level=3, config=config, instruments=instruments)
    with pinned() as on, context, Target("ascend"):
        artifact = tilelang.lower(func, target="ascend")
    report = latest_here() if on else None
    return Lowered(artifact.kernel_source, artifact, report)
