"""Finds the kernel that ``FILE:NAME`` means and makes its arguments from ``--arg`` words."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tilelang_ascend_sched.emulator.arrays import numpy_dtype

_ARRAY = re.compile(r"^(?P<shape>\d+(?:x\d+)*):(?P<dtype>\w+)(?::(?P<fill>\w+))?$")
_FILLS = ("normal", "zeros", "ones", "arange")


def load_kernel(target: str) -> Any:
    """A prim_func, a ``tilelang.jit`` kernel, or text. ValueError: no such file or name."""
    path, _, name = target.partition(":")
    file = Path(path)
    if not file.is_file():
        raise ValueError(f"no file {path}")
    if file.suffix != ".py":
        if name:
            raise ValueError(f"{path} is not a Python file, so it has no {name}")
        return file.read_text()
    if not name:
        raise ValueError(f"{path}: say which kernel, {path}:NAME")
    module = _import(file)
    if not hasattr(module, name):
        raise ValueError(f"{path} has no {name}")
    return _kernel(getattr(module, name), f"{path}:{name}")


def _import(file: Path) -> Any:
    sys.path.insert(0, str(file.parent.resolve()))
    try:
        spec = importlib.util.spec_from_file_location(file.stem, file)
        if spec is None or spec.loader is None:
            raise ValueError(f"{file} cannot be imported")
        module = importlib.util.module_from_spec(spec)
        sys.modules[file.stem] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.pop(0)


def _kernel(value: Any, where: str) -> Any:
    from tvm import tirx

    if isinstance(value, tirx.PrimFunc) or hasattr(value, "prim_func") or hasattr(value, "get_tir"):
        return value
    if callable(value):
        made = value()
        if isinstance(made, tirx.PrimFunc):
            return made
    raise ValueError(
        f"{where} is neither a prim_func, nor a tilelang.jit kernel, nor a function without "
        "arguments that returns a prim_func"
    )


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
        return np.load(value)
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


def _array(name: str, shape: tuple[int, ...], dtype: str, fill: str, seed: int) -> np.ndarray:
    try:
        kind = numpy_dtype(dtype)
    except TypeError:
        raise ValueError(f"--arg {name}: unknown dtype {dtype}") from None
    if fill not in _FILLS:
        raise ValueError(f"--arg {name}: unknown fill {fill}, choose from {', '.join(_FILLS)}")
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
