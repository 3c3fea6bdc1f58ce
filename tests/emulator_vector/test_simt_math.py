"""Every mathematical function of TileLang in a SIMT body, by type, against numpy.

One kernel for each type computes all the functions that can be lowered for it.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import ml_dtypes
import numpy as np
import pytest

import tilelang_ascend_sched as sched
from tilelang_ascend_sched.emulator import emulate

THREADS = 128

Function: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray]
TYPES = {
    "float32": np.dtype(np.float32),
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "int32": np.dtype(np.int32),
    "uint32": np.dtype(np.uint32),
}

HEAD = """import tilelang.ascend.language as T


def build():
    @T.prim_func
    def functions(
        X: T.Tensor(({n},), T.{dtype}),
        Y: T.Tensor(({n},), T.{dtype}),
        Z: T.Tensor(({count}, {n}), T.{dtype}),
    ):
        with T.Kernel(1):
            x = T.alloc_shared(({n},), T.{dtype})
            y = T.alloc_shared(({n},), T.{dtype})
            z = T.alloc_shared(({count}, {n}), T.{dtype})
            T.copy(X, x)
            T.copy(Y, y)
            with T.SimtVF(threads={n}):
                for i in T.Parallel({n}):
{body}
            T.copy(z, Z)

    return functions
"""

INTRINSICS: dict[str, Function] = {
    "T.sqrt(x[i])": lambda x, y: np.sqrt(x),
    "T.rsqrt(x[i])": lambda x, y: 1 / np.sqrt(x),
    "T.exp(y[i])": lambda x, y: np.exp(y),
    "T.exp2(y[i])": lambda x, y: np.exp2(y),
    "T.exp10(y[i])": lambda x, y: 10.0**y,
    "T.log(x[i])": lambda x, y: np.log(x),
    "T.log2(x[i])": lambda x, y: np.log2(x),
    "T.log10(x[i])": lambda x, y: np.log10(x),
    "T.log1p(x[i])": lambda x, y: np.log1p(x),
    "T.tanh(y[i])": lambda x, y: np.tanh(y),
    "T.tan(y[i])": lambda x, y: np.tan(y),
    "T.sin(y[i])": lambda x, y: np.sin(y),
    "T.cos(y[i])": lambda x, y: np.cos(y),
    "T.atan(y[i])": lambda x, y: np.arctan(y),
    "T.atan2(y[i], x[i])": lambda x, y: np.arctan2(y, x),
    "T.erf(y[i])": lambda x, y: np.vectorize(math.erf)(y),
    "T.floor(y[i])": lambda x, y: np.floor(y),
    "T.ceil(y[i])": lambda x, y: np.ceil(y),
    "T.abs(y[i])": lambda x, y: np.abs(y),
    "T.round(y[i])": lambda x, y: np.copysign(np.floor(np.abs(y) + 0.5), y),
    "T.trunc(y[i])": lambda x, y: np.trunc(y),
    "T.sigmoid(y[i])": lambda x, y: 1 / (1 + np.exp(-y)),
}
ARITHMETIC: dict[str, Function] = {
    "x[i] + y[i]": lambda x, y: x + y,
    "x[i] * y[i]": lambda x, y: x * y,
    "x[i] / (y[i] + 4)": lambda x, y: x / (y + 4),
    "T.max(x[i], y[i])": np.maximum,
    "T.min(x[i], y[i])": np.minimum,
    "T.if_then_else(y[i] > 0, x[i], y[i])": lambda x, y: np.where(y > 0, x, y),
    "T.clamp(y[i], -1, 1)": lambda x, y: np.clip(y, -1, 1),
}
ONLY_FLOAT32: dict[str, Function] = {"T.pow(x[i], y[i])": np.power}
INTEGERS: dict[str, Function] = {
    "x[i] + y[i]": np.add,
    "x[i] * y[i]": np.multiply,
    "T.floordiv(x[i], y[i] + 100)": lambda x, y: x // (y + 100),
    "T.floormod(x[i], y[i] + 100)": lambda x, y: x % (y + 100),
    "T.truncdiv(x[i], y[i] + 100)": lambda x, y: np.trunc(x / (y + 100)),
    "T.truncmod(x[i], y[i] + 100)": lambda x, y: np.fmod(x, y + 100),
    "T.max(x[i], y[i])": np.maximum,
    "T.min(x[i], y[i])": np.minimum,
    "T.bitwise_and(x[i], y[i])": np.bitwise_and,
    "T.bitwise_or(x[i], y[i])": np.bitwise_or,
    "T.bitwise_xor(x[i], y[i])": np.bitwise_xor,
    "T.bitwise_not(y[i])": lambda x, y: ~y,
    "T.shift_left(x[i], 3)": lambda x, y: x << 3,
    "T.shift_right(y[i], 2)": lambda x, y: y >> 2,
    "T.if_then_else(x[i] > y[i], x[i], y[i])": np.maximum,
}
SIGNED: dict[str, Function] = {"T.abs(y[i])": lambda x, y: np.abs(y)}


def functions(dtype: str) -> dict[str, Function]:
    """By how the kernel writes them. TileLang refuses its intrinsics for bfloat16."""
    return {
        "float32": INTRINSICS | ARITHMETIC | ONLY_FLOAT32,
        "float16": INTRINSICS | ARITHMETIC,
        "bfloat16": ARITHMETIC,
        "int32": INTEGERS | SIGNED,
        "uint32": INTEGERS,
    }[dtype]


def kernel(dtype: str, folder: Path):
    names = list(functions(dtype))
    body = "\n".join(f"{' ' * 20}z[{k}, i] = {name}" for k, name in enumerate(names))
    path = folder / f"functions_{dtype}.py"
    path.write_text(HEAD.format(n=THREADS, count=len(names), dtype=dtype, body=body))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.build()


@pytest.mark.parametrize("dtype", TYPES)
def test_functions(dtype, tmp_path):
    element = TYPES[dtype]
    rng = np.random.default_rng(1)
    if element.kind in "iu":
        low = -99 if element.kind == "i" else 0
        x, y = (rng.integers(low, 99, THREADS).astype(element) for _ in range(2))
        wide = [x.astype(np.int64), y.astype(np.int64)]
    else:
        x = rng.uniform(0.1, 4, THREADS).astype(element)
        y = rng.uniform(-2.5, 2.5, THREADS).astype(element)
        wide = [x.astype(np.float64), y.astype(np.float64)]
    z = np.zeros((len(functions(dtype)), THREADS), element)
    with sched.disabled():
        result = emulate(kernel(dtype, tmp_path), X=x, Y=y, Z=z)
    assert result.ok, result.findings
    step = 0 if element.kind in "iu" else float(ml_dtypes.finfo(element).eps)
    wrong = []
    for (name, function), got in zip(functions(dtype).items(), z, strict=True):
        wanted = function(*wide)
        if element.kind in "iu":
            fine = (got == wanted.astype(np.int64).astype(element)).all()
        else:
            fine = np.allclose(got.astype(np.float64), wanted, rtol=4 * step, atol=2 * step)
        if not fine:
            wrong.append((name, got[:3], wanted[:3]))
    assert wrong == []
