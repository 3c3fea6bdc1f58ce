"""One lowering: the snapshot of switch and options it runs under, and the report it fills.

The solver and the C++ passes are called from deep inside TVM without a handle to the lowering
they serve; a context variable carries it, so lowerings on several threads do not mix.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from tvm import IRModule

from ..options import Options
from ..pipeline import PASSES
from ..report import LoopReport, Note, PassReport, ScheduleReport
from ..report.loops import Region, buffers, has_simt, regions
from ..verify import PROVEN, REFUSED, VerifyReport, device_functions, named, verify
from .memory import Memory


class ScheduleWarning(UserWarning):
    """A kernel's schedule is worse than it could be; the message says where and why."""


class ScheduleError(RuntimeError):
    """With ``tl.ascend_sched.strict``: what would have been a :class:`ScheduleWarning`."""


class VerifyError(ValueError):
    """The check of the lowered kernel found a run that goes wrong; the message says which."""


class Session:
    """State of one lowering.

    on: whether the plugin was on when the lowering began.
    owners: pass name -> whether our pass runs, all False if the plugin is off.
    """

    def __init__(self, kernel: str, on: bool, options: Options) -> None:
        self.on = on
        self.options = options
        self.owners = options.owners() if on else {info.name: False for info in PASSES}
        self.report = ScheduleReport(kernel)
        self.hinted: IRModule | None = None
        self.unpacked: IRModule | None = None
        self.memory = Memory.of("", False)
        self._regions: list[Region] = []
        self._refused: VerifyReport | None = None

    def runs(self, name: str) -> None:
        """Note that pass ``name`` is about to run, and stop here if strictness asks for it."""
        self.check_strict()
        owner = "ours" if self.owners[name] else "stock"
        self.report.passes.append(PassReport(name, owner))

    def check_strict(self) -> None:
        """Raise :class:`ScheduleError` if strict and something degraded so far."""
        degraded = self.report.degraded
        if self.options.strict and degraded:
            raise ScheduleError(self._message(degraded))

    def time_pass(self, name: str, seconds: float) -> None:
        """Record how long pass ``name`` took, in seconds."""
        for entry in reversed(self.report.passes):
            if entry.name == name and entry.seconds is None:
                entry.seconds = seconds
                return

    def expect_regions(self, mod: IRModule) -> None:
        """Read from the module that AutoSchedule is about to schedule what will be asked for."""
        self._regions = regions(mod)
        self.memory = Memory.of(self.options.hardware, has_simt(mod))
        self.report.capacities = self.memory.capacities

    def next_region(self, kind: str, tasks: int) -> Region:
        """The region that the solver is asked for now; it has ``tasks`` tasks.

        A region that does not match what was expected gets a neutral name: names are for
        reading, no decision rests on them.
        """
        if self._regions:
            region = self._regions[0]
            if region.kind == kind and len(region.tasks) == tasks:
                del self._regions[0]
                return region
        names = tuple(f"task {index}" for index in range(tasks))
        return Region(kind, f"{kind} {len(self.report.loops)}", None, names, ("",) * tasks)

    def read_buffers(self, mod: IRModule) -> None:
        """Read the chosen versions from the module that AutoSchedule has scheduled."""
        self.report.buffers = buffers(mod)

    def add_loop(self, loop: LoopReport) -> None:
        """Add the solver's result for one region."""
        self.report.loops.append(loop)

    def check_kernels(self, mod: IRModule) -> None:
        """Check the lowered kernels of ``mod`` as the ``verify`` option says."""
        if not self.on or self.options.verify == "off":
            return
        # Synchronization written by hand is the user's, though our last two passes see it too.
        scheduled = any(entry.name == "AutoSchedule" for entry in self.report.passes)
        ours = scheduled and any(entry.owner == "ours" for entry in self.report.passes)
        refuses = self.options.verify == "refuse" or (self.options.verify == "auto" and ours)
        for kernel in device_functions(mod):
            started = time.perf_counter()
            report = verify(
                kernel,
                unpacked=named(self.unpacked, kernel),
                hinted=self.hinted,
                hardware=self.options.hardware,
            )
            seconds = time.perf_counter() - started
            if report.verdict == REFUSED and refuses:
                # Raised when the lowering ends: TVM would make another error of it here.
                self._refused = self._refused or report
            else:
                self.note(_verify_note(report, seconds))

    def note(self, note: Note) -> None:
        """Add a note to the report."""
        self.report.notes.append(note)

    def finish(self) -> None:
        """End a lowering: warn once of what degraded, write the report file.

        Raises :class:`VerifyError` if the check refused a kernel.
        """
        if self._refused is not None:
            raise VerifyError(str(self._refused))
        self.check_strict()
        degraded = self.report.degraded
        if degraded:
            warnings.warn(self._message(degraded), ScheduleWarning, stacklevel=2)
        if self.options.report:
            target = Path(self.options.report)
            partial = target.with_name(target.name + ".partial")
            partial.write_text(self.report.to_json() + "\n")
            partial.replace(target)

    def _message(self, degraded: list[Note]) -> str:
        lines = [f"{note.source}: {note.message}" for note in degraded]
        return f"kernel {self.report.kernel}: " + "; ".join(lines)


def _verify_note(report: VerifyReport, seconds: float) -> Note:
    data = {
        "verdict": report.verdict,
        "assumptions": list(report.assumptions),
        "unused_hints": list(report.unused_hints),
        "paths": report.paths,
        "instructions": report.instructions,
        "seconds": seconds,
    }
    if report.verdict == PROVEN:
        return Note("verify", "info", f"{report.kernel}: synchronization proven", data)
    told = "wrong" if report.verdict == REFUSED else "not proven"
    message = f"{report.kernel}: synchronization {told}: {report.findings[0]}"
    return Note("verify", "degraded", message, data)


_current: ContextVar[Session | None] = ContextVar("tilelang_ascend_sched_session", default=None)


def current() -> Session | None:
    """The lowering that this code serves, or None outside any lowering."""
    return _current.get()


@contextmanager
def active(session: Session) -> Iterator[Session]:
    """Make ``session`` the current lowering."""
    token = _current.set(session)
    try:
        yield session
    finally:
        _current.reset(token)
