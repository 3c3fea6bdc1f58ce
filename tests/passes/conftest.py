from __future__ import annotations

from collections.abc import Iterator

import pytest
from tvm_ffi import get_global_func, register_global_func

import tilelang_ascend_sched  # noqa: F401  # puts TileLang's TVM on the path of the tests here

NOTE = "tl.ascend_sched.note"


@pytest.fixture
def notes() -> Iterator[list[tuple]]:
    """What passes tell the schedule report while the test runs."""
    before = get_global_func(NOTE, allow_missing=True)
    told: list[tuple] = []
    register_global_func(NOTE, lambda *note: told.append(note), override=True)
    yield told
    if before is not None:
        register_global_func(NOTE, before, override=True)
