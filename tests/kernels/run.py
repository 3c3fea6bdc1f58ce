"""Lowers a workload and runs the generated text in the emulator."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import tilelang_ascend_sched as sched
from examples import Workload
from tilelang_ascend_sched.emulator import emulate, launch


@cache
def lowered(build: Callable[..., Any], ours: bool, **sizes: int) -> launch.Lowered:
    """The kernel lowered with our passes or with TileLang's own, once in a process."""
    with sched.enabled() if ours else sched.disabled():
        return launch.lower(build(**sizes))


def complaints(
    workload: Workload, text: launch.Lowered, policy: str, seed: int = 0, **sizes: int
) -> list[str]:
    """What the emulator finds and which outputs are wrong; ``text`` is the kernel of ``sizes``."""
    inputs = workload.inputs(np.random.default_rng(seed), **sizes)
    arrays = workload.arguments(inputs)
    symbols = {
        extent: length
        for parameter in text.parameters
        for extent, length in zip(parameter.shape, arrays[parameter.name].shape, strict=True)
        if isinstance(extent, str)
    }
    (only,) = text.launches
    result = emulate(
        text.text,
        policy=policy,
        seed=seed,
        blocks=only.blocks(symbols),
        arguments=arrays | symbols,
    )
    wrong = [
        workload.mismatch(name, arrays[name], expected)
        for name, expected in workload.reference(**inputs).items()
    ]
    return [*map(str, result.findings), *filter(None, wrong)]
