"""The switch: on or off for the whole process, from any thread.

While the plugin is on, or a lowering that began under it still runs, the bindings of
:mod:`.bindings` stand inside TileLang; else TileLang is exactly as it was found. A lowering reads
the switch once, when it begins (:func:`pinned`), and keeps to it whatever other threads do.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Switch:
    """A process-wide on/off state with scoped overrides.

    ``install`` and ``uninstall`` are called under the lock, when the first need for the bindings
    arises and when the last one ends.
    """

    def __init__(self, install: Callable[[], None], uninstall: Callable[[], None]) -> None:
        self._install = install
        self._uninstall = uninstall
        self._lock = threading.RLock()
        self._base = False
        self._overrides: list[tuple[object, bool]] = []
        self._users = 0
        self._installed = False
        self._pinned: ContextVar[bool | None] = ContextVar("tilelang_ascend_sched_on", default=None)

    def set(self, on: bool) -> None:
        """Turn the plugin on or off."""
        with self._lock:
            self._base = on
            self._settle()

    @contextmanager
    def override(self, on: bool) -> Iterator[None]:
        """Turn the plugin on or off for the duration of a ``with`` block, in the whole process.

        Blocks of several threads may overlap; the one entered last rules, and each takes only
        its own override away.
        """
        entry = (object(), on)
        with self._lock:
            self._overrides.append(entry)
            self._settle()
        try:
            yield
        finally:
            with self._lock:
                self._overrides.remove(entry)
                self._settle()

    def is_on(self) -> bool:
        """Whether a piece of work that begins here and now has the plugin on."""
        pinned = self._pinned.get()
        if pinned is not None:
            return pinned
        with self._lock:
            return self._wanted()

    @contextmanager
    def pinned(self) -> Iterator[bool]:
        """Hold the present state for a piece of work; yields whether the plugin is on in it."""
        with self._lock:
            on = self.is_on()
            self._users += on
        token = self._pinned.set(on)
        try:
            yield on
        finally:
            self._pinned.reset(token)
            with self._lock:
                self._users -= on
                self._settle()

    def _wanted(self) -> bool:
        return self._overrides[-1][1] if self._overrides else self._base

    def _settle(self) -> None:
        needed = self._wanted() or self._users > 0
        if needed and not self._installed:
            self._install()
        elif not needed and self._installed:
            self._uninstall()
        self._installed = needed
