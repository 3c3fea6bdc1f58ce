"""Small native libraries built from the emulator's headers."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
EMULATOR = HERE.parents[1] / "tilelang_ascend_sched" / "emulator"


@pytest.fixture(scope="session")
def build_native(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., ctypes.CDLL]:
    """``build_native("numbers.cc", ...)`` compiles sources of ``native/`` into one library."""
    folder = tmp_path_factory.mktemp("native")

    def build(*sources: str | Path) -> ctypes.CDLL:
        output = folder / f"{Path(sources[0]).stem}.so"
        command = ["g++", "-std=c++20", "-O1", "-shared", "-fPIC", "-fno-strict-aliasing"]
        command += ["-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas"]
        command += [
            "-I",
            str(EMULATOR / "include"),
            "-I",
            str(EMULATOR),
            "-I",
            str(HERE / "native"),
        ]
        command += [str(HERE / "native" / s) for s in sources] + ["-o", str(output)]
        subprocess.run(command, check=True, timeout=300)
        return ctypes.CDLL(str(output))

    return build
