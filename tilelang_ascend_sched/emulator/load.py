"""Reads what ``run`` and ``check`` are given: a kernel, and its arguments from ``--arg`` words."""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tilelang_ascend_sched.emulator.arrays import numpy_dtype
from tilelang_ascend_sched.target import load_kernel

_ARRAY = re.compile(r"^(?P<shape>\d+(?:x\d+)*):(?P<dtype>\w+)(?::(?P<fill>\w+))?$")
_FILLS = ("normal", "zeros", "ones", "arange")


def load(spec: str) -> Any:
    """A prim_func or ``tilelang.jit`` object for ``FILE.py:NAME``, the text of any other file.

    ValueError, in one line: there is no such file or name, or the file fails.
    """
    if Path(spec).is_file():
        if spec.endswith(".py"):
            raise ValueError(f"{spec}: say which kernel, {spec}:NAME")
        try:
            return Path(spec).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise ValueError(f"{spec} is neither a Python file nor AscendC text in UTF-8") from None
    if ":" not in spec:
        raise ValueError(f"no file {spec}")
    return load_kernel(spec)


def make_arguments(words: Sequence[str], seed: int = 0) -> dict[str, Any]:
    """``NAME=256x2048:bfloat16``, with ``:zeros``, ``:ones``, ``:arange`` or ``:normal`` (seeded,
    what an array without a word gets); ``NAME=file.npy``; ``NAME=5`` for a scalar."""
    made: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name or not value:
            raise ValueError(f"--arg {word}: expected NAME=VALUE")
        if name in made:
            raise ValueError(f"--arg {name} is given twice")
        made[name] = _argument(name, value, seed)
    return made


def _argument(name: str, value: str, seed: int) -> Any:
    if match := _ARRAY.match(value):
        shape = tuple(int(d) for d in match["shape"].split("x"))
        return _array(name, shape, match["dtype"], match["fill"] or "normal", seed)
    if value.endswith(".npy"):
        if not Path(value).is_file():
            raise ValueError(f"--arg {name}: no file {value}")
        return _saved(name, value)
    try:
        return int(value, 0)
    except ValueError:
        pass
    try:
        return float(value)
    except ValueError:
        raise ValueError(
            f"--arg {name}: `{value}` is neither a shape with dtype (16x64:float32), nor a .npy "
            "file, nor a number"
        ) from None


def _saved(name: str, path: str) -> np.ndarray:
    try:
        found = np.load(path)
    except (ValueError, OSError, EOFError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"--arg {name}: cannot read {path} as .npy: {reason}") from None
    if not isinstance(found, np.ndarray):
        raise ValueError(f"--arg {name}: {path} does not hold one array")
    return found


def _check_size(name: str, shape: tuple[int, ...], kind: np.dtype) -> None:
    size = math.prod(shape) * kind.itemsize
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if size > memory:
        raise ValueError(f"--arg {name}: {size:,} bytes are more than this machine's {memory:,}")


def _array(name: str, shape: tuple[int, ...], dtype: str, fill: str, seed: int) -> np.ndarray:
    try:
        kind = numpy_dtype(dtype)
    except TypeError:
        raise ValueError(f"--arg {name}: unknown dtype {dtype}") from None
    if fill not in _FILLS:
        raise ValueError(f"--arg {name}: unknown fill {fill}, choose from {', '.join(_FILLS)}")
    _check_size(name, shape, kind)
    if fill == "zeros":
        return np.zeros(shape, kind)
    if fill == "ones":
        return np.ones(shape, kind)
    if fill == "arange":
        return np.arange(np.prod(shape)).reshape(shape).astype(kind)
    # Each array its own stream, whatever the order of the words.
    stream = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    random = np.random.default_rng([seed, stream])
    if kind.kind in "iu":
        return random.integers(0, 100, shape).astype(kind)
    return random.standard_normal(shape, np.float32).astype(kind)


def summary(arguments: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Shape, dtype, checksum and extremes of each array, for comparing two runs."""
    found = {}
    for name, value in arguments.items():
        if not isinstance(value, np.ndarray):
            continue
        wide = value.astype(np.float64)
        found[name] = {
            "shape": list(value.shape),
            "dtype": value.dtype.name,
            "sha256": hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()[:16],
            "min": float(np.nanmin(wide)) if wide.size and not np.isnan(wide).all() else None,
            "max": float(np.nanmax(wide)) if wide.size and not np.isnan(wide).all() else None,
            "nan": int(np.isnan(wide).sum()),
        }
    return found
