"""Reversible replacement of attributes."""

from __future__ import annotations

from typing import Any

_ABSENT = object()


class Patches:
    """Attributes set on foreign objects, and what stood there before."""

    def __init__(self) -> None:
        self._saved: list[tuple[Any, str, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Set ``owner.name`` to ``value`` until :meth:`undo`."""
        self._saved.append((owner, name, vars(owner).get(name, _ABSENT)))
        setattr(owner, name, value)

    def undo(self) -> None:
        """Put everything back, last change first."""
        while self._saved:
            owner, name, value = self._saved.pop()
            if value is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
