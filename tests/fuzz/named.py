"""Inputs that a refusal names, as the kernel can be called with them."""

from __future__ import annotations

import re
from contextlib import suppress

import numpy as np

from tests.fuzz import meaning
from tests.fuzz.model import INT

LONGEST = 64
"""Turns of one loop: what takes more is taken to go wrong in as many. They bound loops only."""
_INPUT = re.compile(r"(\w+)(?:\[(.*?)\])? = (-?\d+)(?: then [^,]*)?(?:, |$)")


def fill(
    arrays: dict[str, np.ndarray], text: str, n: int, places: int = meaning.LARGEST["P"]
) -> int:
    """Sets in ``arrays`` what ``text`` names, as in ``n = 4, P[0] = 2, Q[(n) % (8)] = 3``.

    An element in UB is named with the numbers that it has one after the other: each row of U, which
    it is loaded from, gets the first of them. Rows of X and Y are cut off as ``m`` says.
    places: the largest element that P gets. Returns ``n``, as it is if not named.
    """
    named = [(name, index, int(value)) for name, index, value in _INPUT.findall(text)]
    n = next((_length(value) for name, _, value in named if name == "n"), n)
    for index, value in ((int(i), value) for name, i, value in named if name.startswith(INT)):
        with suppress(IndexError):
            arrays["U"][..., index] = _length(value)
    for rows in (value for name, _, value in named if name == "m"):
        arrays |= {name: arrays[name][: max(rows, 0)] for name in ("X", "Y")}
    # An index may be an element itself: those of plain indices come first.
    for name, index, value in sorted(named, key=lambda each: not each[1].isdigit()):
        if name not in ("P", "Q"):
            continue
        fitting = min(max(value, 0), places) if name == "P" else _length(value)
        with suppress(IndexError, NameError):
            arrays[name][_number(index, arrays, n)] = fitting
    return n


def _number(index: str, arrays: dict[str, np.ndarray], n: int) -> int:
    """What an index comes to, which the check writes with Python's operators."""
    names = {"__builtins__": {}, "n": n, "min": min, "P": arrays["P"], "Q": arrays["Q"]}
    return int(eval(index, names))


def _length(value: int) -> int:
    return min(max(value, 0), LONGEST)
