"""Small AscendC texts for the emulator's tests."""

from __future__ import annotations

import numpy as np

from tilelang_ascend_sched.emulator import Result, emulate

HEADER = "#include <tl_templates/ascend/common.h>\n#include <tl_templates/ascend/debug.h>\n"

LOAD = (
    "asc_copy_gm2ub_align((__ubuf__ uint8_t*)({ub}), (__gm__ uint8_t*)({gm}), 1, {n}, 0, 0, 0, "
    "static_cast<asc_load_l2_cache_mode>(0), {n}, {n});"
)
STORE = (
    "asc_copy_ub2gm_align((__gm__ uint8_t*)({gm}), (__ubuf__ uint8_t*)({ub}), 1, {n}, "
    "static_cast<asc_store_l2_cache_mode>(4), {n}, {n});"
)


def load(ub: str, gm: str, n: int | str) -> str:
    """GM to UB, ``n`` bytes."""
    return LOAD.format(ub=ub, gm=gm, n=n)


def store(ub: str, gm: str, n: int | str) -> str:
    """UB to GM, ``n`` bytes."""
    return STORE.format(ub=ub, gm=gm, n=n)


def set_flag(a: str, b: str, i: int | str = 0) -> str:
    return f"asc_sync_notify(PIPE_{a}, PIPE_{b}, static_cast<event_t>({i}));"


def wait_flag(a: str, b: str, i: int | str = 0) -> str:
    return f"asc_sync_wait(PIPE_{a}, PIPE_{b}, static_cast<event_t>({i}));"


def handshake(a: str, b: str, i: int = 0) -> str:
    return set_flag(a, b, i) + " " + wait_flag(a, b, i)


def vector_kernel(*body: str, functions: str = "", parameters: str = "") -> str:
    """A kernel of one AIV with arrays X and Y of float and a UB buffer ``ub`` of float."""
    extra = f", {parameters}" if parameters else ""
    lines = "\n".join(f"  {line}" for line in body)
    return (
        f"{HEADER}{functions}"
        f'extern "C" __global__ __vector__ void k(__gm__ float* X, __gm__ float* Y{extra}) {{\n'
        f"  asc_init();\n  __ubuf__ float *ub = (__ubuf__ float *)0;\n{lines}\n}}\n"
    )


def line_of(text: str, part: str) -> int:
    """The number of the only line of ``text`` that holds ``part``."""
    found = [i for i, line in enumerate(text.splitlines(), 1) if part in line]
    assert len(found) == 1, (part, found)
    return found[0]


def run(text: str, n: int = 64, blocks: int = 1, **options) -> tuple[Result, np.ndarray]:
    """Runs a ``vector_kernel`` with X = 0, 1, 2, ... and Y zero; returns the result and Y."""
    x = np.arange(n * blocks, dtype=np.float32)
    y = np.zeros(n * blocks, np.float32)
    result = emulate(text, X=x, Y=y, blocks=blocks, **options)
    return result, y
