from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilelang_ascend_sched as sched
from examples import WORKLOADS
from tilelang_ascend_sched.emulator import Result, Settings, api, launch


@dataclass(frozen=True)
class Lowered:
    """A workload lowered once, to be run as it is or with its text changed."""

    workload: Any
    lowered: launch.Lowered
    inputs: dict[str, np.ndarray]
    expected: dict[str, np.ndarray]

    @property
    def text(self) -> str:
        return self.lowered.text

    def run(
        self, text: str | None = None, *, blocks: int | None = None, **settings: Any
    ) -> tuple[Result, dict[str, np.ndarray]]:
        arrays = {name: array.copy() for name, array in self.inputs.items()}
        for name, array in self.expected.items():
            arrays.setdefault(name, np.full_like(array, np.nan if array.dtype.kind == "f" else 1))
        lowered = replace(self.lowered, text=text) if text is not None else self.lowered
        return api.run_lowered(lowered, arrays, blocks, Settings(**settings)), arrays

    def wrong(self, arrays: dict[str, np.ndarray]) -> list[str]:
        found = [self.workload.mismatch(n, arrays[n], e) for n, e in self.expected.items()]
        return [message for message in found if message]


def lower_workload(name: str, **sizes: int) -> Lowered:
    workload = WORKLOADS[name]
    inputs = workload.inputs(np.random.default_rng(7), **sizes)
    with sched.disabled():
        lowered = launch.lower(workload.build(**sizes))
    return Lowered(workload, lowered, inputs, workload.reference(**inputs))


@pytest.fixture(scope="session")
def gemm() -> Lowered:
    """gemm_relu at its full size."""
    return lower_workload("gemm_relu")


@pytest.fixture(autouse=True)
def stock_passes() -> Iterator[None]:
    """The emulator is judged on what TileLang itself generates."""
    with sched.disabled():
        yield


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TILELANG_ASCEND_SCHED_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
