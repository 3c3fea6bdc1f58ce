"""Runs a lowered workload of any number of launches."""

from __future__ import annotations

import numpy as np

from examples import Workload
from tilelang_ascend_sched.emulator import Settings, api, launch


def complaints(
    workload: Workload, text: launch.Lowered, policy: str, seed: int = 0, **sizes: int
) -> list[str]:
    """What the emulator finds and which outputs are wrong; ``text`` is the kernel of ``sizes``."""
    inputs = workload.inputs(np.random.default_rng(seed), **sizes)
    arrays = workload.arguments(inputs)
    result = api.run_lowered(text, arrays, None, Settings(policy=policy, seed=seed))
    wrong = [
        workload.mismatch(name, arrays[name], expected)
        for name, expected in workload.reference(**inputs).items()
    ]
    return [*map(str, result.findings), *filter(None, wrong)]
