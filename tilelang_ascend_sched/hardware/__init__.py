"""The machine model: a JSON file of figures, each with its unit and source.

``ascend950.json`` is what passes use unless the pass-config key ``tl.ascend_sched.hardware`` names
another file of the same form, say one with calibrated figures or of another chip.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from tvm_ffi import get_global_func, register_global_func

BUILTIN = Path(__file__).with_name("ascend950.json")
"""The package's own hardware file."""


@register_global_func("tl.ascend_sched.hardware.builtin", override=True)
def _builtin() -> str:
    return str(BUILTIN)


def check(path: str) -> str:
    """Read a hardware file, the package's own if ``path`` is empty; returns the machine's name.

    Raises ``ValueError`` naming file, line and key for anything that is missing, unknown, of the
    wrong type or unit, or negative.
    """
    return get_global_func("tl.ascend_sched.hardware.check")(path or str(BUILTIN))


def capacities(path: str = "", simt: bool = False) -> dict[str, int]:
    """Bytes of each on-chip memory (``UB``, ``L1``, ``L0A``, ...) that a kernel can have.

    ``path`` is as at :func:`check`; ``simt``: the kernel has a SIMT function, which takes some UB.
    Raises ``ValueError`` as :func:`check` does.
    """
    check(path)
    rows = json.loads(Path(path or BUILTIN).read_text())["capacities"]
    ub_with_simt = rows.pop("ub_with_simt")
    if simt:
        rows["ub"] = ub_with_simt
    return {name.upper(): row["value"] for name, row in rows.items()}


def limits(path: str = "") -> tuple[dict[str, int], list[str]]:
    """What programs must keep to: bytes of each memory and numbers of flags and locks, by the keys
    of the file's ``capacities`` and ``synchronization``; and the pipes that complete in order.

    ``path`` and errors are as at :func:`check`.
    """
    check(path)
    data = json.loads(Path(path or BUILTIN).read_text())
    rows = {**data["capacities"], **data["synchronization"]}
    in_order = [name for name, pipe in data["pipes"].items() if pipe["completes_in_order"]]
    return {name: row["value"] for name, row in rows.items()}, in_order


def digest(path: str) -> str:
    """SHA-256 of a hardware file's content, of the package's own if ``path`` is empty.

    Raises ``ValueError`` if there is no such file.
    """
    try:
        content = Path(path or BUILTIN).read_bytes()
    except OSError as error:
        raise ValueError(f"{path}: the hardware file cannot be read: {error.strerror}") from error
    return hashlib.sha256(content).hexdigest()
