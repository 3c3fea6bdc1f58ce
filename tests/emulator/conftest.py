from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import tilelang_ascend_sched as sched
from benchmarks.emulator.subject import Subject, lower


@pytest.fixture(scope="session")
def gemm() -> Subject:
    """gemm_relu at its full size."""
    return lower("gemm_relu", "stock")


@pytest.fixture(autouse=True)
def stock_passes() -> Iterator[None]:
    """The emulator is judged on what TileLang itself generates."""
    with sched.disabled():
        yield


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TILELANG_ASCEND_SCHED_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
