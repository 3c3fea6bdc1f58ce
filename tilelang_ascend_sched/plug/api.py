"""The process's one switch, as functions."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager

from tvm_ffi import register_global_func

from ..report import Note
from ..solver.ffi import solve_json
from . import session
from .bindings import Bindings

_bindings = Bindings()


def enable() -> None:
    """Turn the plugin on in the whole process."""
    _bindings.switch.set(True)


def disable() -> None:
    """Turn the plugin off in the whole process and leave TileLang as it was found.

    Lowerings that already run keep the plugin until they end.
    """
    _bindings.switch.set(False)


def enabled() -> AbstractContextManager[None]:
    """A ``with`` block in which the plugin is on, in the whole process."""
    return _bindings.switch.override(True)


def disabled() -> AbstractContextManager[None]:
    """A ``with`` block in which the plugin is off, in the whole process."""
    return _bindings.switch.override(False)


def pinned() -> AbstractContextManager[bool]:
    """A ``with`` block that holds the present state for its own thread; yields whether it is on."""
    return _bindings.switch.pinned()


def is_enabled() -> bool:
    """Whether a lowering that begins now has the plugin on."""
    return _bindings.switch.is_on()


# Both names are ours alone and stay registered: TVM may keep a reference to a global function
# until the interpreter ends, so it must live that long.
@register_global_func("tl.ascend_sched.note", override=True)
def _note(source: str, kernel: str, kind: str, message: str, data: str) -> None:
    """A C++ pass tells the schedule report something; ``data`` is JSON.

    ``kernel`` is the function's name inside the pass; the report has the user's name for it.
    """
    lowering = session.current()
    if lowering is not None:
        lowering.note(Note(source, kind, message, json.loads(data) if data else {}))


@register_global_func("tl.ascend_sched.solve", override=True)
def _solve(problem: str) -> str:
    """Solve one scheduling problem, JSON in and out."""
    return solve_json(problem)
