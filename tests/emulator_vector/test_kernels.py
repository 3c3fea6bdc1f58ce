"""Lowered kernels with vector bodies of many kinds against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator_vector.kernels import KERNELS
from tilelang_ascend_sched.emulator import emulate


@pytest.mark.parametrize("name", KERNELS)
def test_kernel(name):
    kernel = KERNELS[name]()
    arrays = {n: a.copy() for n, a in kernel.inputs.items()}
    for n, e in kernel.expected.items():
        arrays.setdefault(n, np.zeros_like(e))
    result = emulate(kernel.func, arguments=arrays)
    assert result.ok, result.findings
    for n, e in kernel.expected.items():
        actual, wanted = arrays[n].astype(np.float64), e.astype(np.float64)
        if np.isinf(kernel.rtol):
            assert 0.35 < actual.mean() < 0.65 and np.unique(actual).size > 100
        else:
            np.testing.assert_allclose(
                actual, wanted, rtol=kernel.rtol, atol=kernel.rtol, err_msg=n
            )
