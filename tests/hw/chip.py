"""Hardware files of chips that are not the Ascend 950."""

from __future__ import annotations

import json
from pathlib import Path

from tilelang_ascend_sched import hardware


def machine(folder: Path, **figures: int) -> str:
    """A hardware file with some figures of its own, each named by section and key."""
    whole = json.loads(hardware.BUILTIN.read_text())
    for name, value in figures.items():
        section, _, key = name.partition("__")
        whole[section][key]["value"] = value
    file = folder / "chip.json"
    file.write_text(json.dumps(whole))
    return str(file)
