"""The folder that a run shares with its worker, which does not outlive the run for long."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = "ascend-sched-emulator-"
"""Of the folders' names; the number of the process follows."""


def parent() -> Path:
    """Memory-backed if the system has it: the arrays are shared with the worker as files."""
    return Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else Path(tempfile.gettempdir())


def _lock(folder: Path) -> int | None:
    """An open descriptor that holds the folder's lock until it is closed; None: it is held."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _remove_stale(place: Path) -> None:
    """Removes what killed processes left: the system dropped their locks."""
    for folder in sorted(place.glob(f"{PREFIX}*")):
        with contextlib.suppress(OSError):  # another user's, or just removed
            if folder.stat().st_uid != os.getuid():
                continue
            if (descriptor := _lock(folder)) is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(descriptor)


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A new folder, removed at the end; one left by a killed process goes at the next run."""
    place = parent()
    _remove_stale(place)
    made = Path(tempfile.mkdtemp(dir=place, prefix=f".{PREFIX}{os.getpid()}-"))
    named = place / made.name.removeprefix(".")
    descriptor = _lock(made)
    try:
        # Under its final name only when locked: another run must not take it for a stale one.
        made.rename(named)
        yield named
    finally:
        shutil.rmtree(named, ignore_errors=True)
        shutil.rmtree(made, ignore_errors=True)
        if descriptor is not None:
            os.close(descriptor)
