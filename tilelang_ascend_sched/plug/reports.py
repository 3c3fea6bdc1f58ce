"""The reports of the latest lowerings, for whoever lowered through TileLang's own functions."""

from __future__ import annotations

import threading
from collections import deque
from contextvars import ContextVar

from ..report import ScheduleReport

_KEPT = 64
_lock = threading.Lock()
_reports: deque[ScheduleReport] = deque(maxlen=_KEPT)
_here: ContextVar[ScheduleReport | None] = ContextVar("tilelang_ascend_sched_report", default=None)


def remember(report: ScheduleReport) -> None:
    """Keep ``report`` as the latest one."""
    with _lock:
        _reports.append(report)
    _here.set(report)


def latest_here() -> ScheduleReport | None:
    """The report of the latest lowering on this thread, whatever other threads lower."""
    return _here.get()


def last_report(kernel: str | None = None) -> ScheduleReport:
    """The report of the latest lowering in this process, or of the latest one of ``kernel``.

    The last 64 are kept. A kernel that came out of a cache was not lowered and has none. Raises
    ``LookupError`` if there is none.
    """
    with _lock:
        for report in reversed(_reports):
            if kernel is None or report.kernel == kernel:
                return report
    wanted = "any kernel" if kernel is None else f"kernel {kernel!r}"
    raise LookupError(f"no schedule report of {wanted}: nothing was lowered with the plugin on")
