"""Verify, the emulator's race check and numpy agree on random kernels.

``FUZZ_EXAMPLES`` sets how many are tried; ``FUZZ_PASSES`` whose passes lower them.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings

import tilelang_ascend_sched as sched
from tests.fuzz.programs import ROWS, WIDTH, Program, programs
from tilelang_ascend_sched.emulator import emulate, launch, source
from tilelang_ascend_sched.verify import REFUSED, verify_lowered

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "24"))
PASSES = os.environ.get("FUZZ_PASSES", "ours")
POLICIES = ("random", "lazy", "starve:MTE2", "starve:V")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


def load(source: str, folder: Path) -> Callable[[], Any]:
    """``build`` of the source, imported from a file: TileLang reads kernels as files."""
    name = f"fuzzed_{abs(hash(source)):x}"
    path = folder / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module.build


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(program=programs())
def test_all_three_agree(folder: Path, program: Program) -> None:
    note(program.source())
    build = load(program.source(), folder)
    configs = {"tl.ascend_sched.passes": PASSES, "tl.ascend_sched.verify": "off"}
    (report,) = verify_lowered(build(), pass_configs=configs)
    assert report.verdict != REFUSED, str(report)
    with sched.enabled() if PASSES == "ours" else sched.disabled():
        text = launch.lower(build()).text
    read = {p.name for kernel in source.read(text).kernels for p in kernel.parameters}
    rng = np.random.default_rng(0)
    x = rng.integers(-4, 5, (ROWS, WIDTH)).astype(np.float32)
    for n in (0, 1, 4) if program.dynamic else (0,):
        for seed, policy in enumerate(POLICIES):
            y = np.zeros((ROWS, WIDTH), np.float32)
            expected = program.run(x, y, n)
            every: dict[str, Any] = {"X": x, "Y": y, "n": n, "N": np.zeros((n, WIDTH), np.float32)}
            arguments = {name: value for name, value in every.items() if name in read}
            result = emulate(text, policy=policy, seed=seed, blocks=1, arguments=arguments)
            assert [str(finding) for finding in result.findings] == [], policy
            np.testing.assert_array_equal(y, expected, err_msg=f"{policy}, n = {n}")
