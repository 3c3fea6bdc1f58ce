"""Exact, checked, visible scheduling for TileLang's Ascend backend.

Importing the package turns the plugin on: from then on ``tilelang.compile`` and
``tilelang.lower`` with ``target="ascend"`` use its passes and its solver. :func:`disable` and
:func:`enable` switch it for the whole process, :func:`enabled` and :func:`disabled` for a ``with``
block; a lowering keeps the state it began with.
"""

from __future__ import annotations

from . import startup  # noqa: F401  # checks versions, loads the native library

# isort: split
from .lowering import Lowered, dump_ir, lower
from .options import Options
from .plug.api import disable, disabled, enable, enabled, is_enabled
from .plug.reports import last_report
from .plug.session import ScheduleError, ScheduleWarning, VerifyError
from .report import ScheduleReport
from .version import __version__

__all__ = [
    "Lowered",
    "Options",
    "ScheduleError",
    "ScheduleReport",
    "ScheduleWarning",
    "VerifyError",
    "__version__",
    "disable",
    "disabled",
    "dump_ir",
    "enable",
    "enabled",
    "is_enabled",
    "last_report",
    "lower",
]

enable()
