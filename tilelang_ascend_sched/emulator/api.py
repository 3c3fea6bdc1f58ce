"""``emulate``: a prim_func or AscendC text, run on the CPU with arguments by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tilelang_ascend_sched.emulator import hints, job, launch, source
from tilelang_ascend_sched.emulator.arrays import (
    ArrayArgument,
    array_argument,
    dtype_of,
    numpy_dtype,
    scalar_bits,
)
from tilelang_ascend_sched.emulator.job import KernelCall, Settings
from tilelang_ascend_sched.emulator.result import Result


def emulate(
    kernel: Any,
    *,
    policy: str = "eager",
    seed: int = 0,
    blocks: int | None = None,
    settings: Settings | None = None,
    arguments: Mapping[str, Any] | None = None,
    **named: Any,
) -> Result:
    """Runs every block of ``kernel`` and returns findings and figures.

    kernel: a prim_func, a ``tilelang.jit`` kernel, or AscendC text.
    policy: eager, lazy, random, or ``starve:PIPE``; with ``seed`` it chooses the interleaving.
    blocks: number of blocks; needed for text, otherwise taken from the launch.
    settings: everything else; its policy and seed are replaced by those given here.
    named, arguments: arrays and scalars by parameter name, for names that Python or this function
      uses itself in ``arguments``. Arrays are numpy arrays (``ml_dtypes`` where numpy has no type)
      or CPU torch tensors, and are written in place.

    ValueError: wrong name, shape, dtype, policy or block count. CompileError (a RuntimeError): an
    instruction that is not modelled. RuntimeError: no host compiler. What the kernel does wrong is
    a finding of the result, not an exception.
    """
    from dataclasses import replace

    chosen = replace(settings or Settings(), policy=policy, seed=seed)
    chosen.check()
    if blocks is not None:
        job.check_integer("blocks", blocks, 0)
    given = {**(arguments or {}), **named}
    if isinstance(kernel, str):
        return _run_text(kernel, given, blocks, chosen)
    return _run_kernel(kernel, given, blocks, chosen)


def _run_kernel(
    kernel: Any, given: Mapping[str, Any], blocks: int | None, chosen: Settings
) -> Result:
    declared = hints.hints_of(launch.prim_func_of(kernel))
    before = _copies(given) if declared else {}
    result = run_lowered(launch.lower(kernel), given, blocks, chosen)

    def rerun(left_out: Sequence[hints.Hint]) -> Result:
        lowered = launch.lower(kernel, lambda func: hints.without(func, left_out))
        return run_lowered(lowered, _copies(before), blocks, chosen)

    return hints.judge(result, declared, rerun)


def _copies(given: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays of their own; one array given twice stays one."""
    made: dict[int, Any] = {}
    for value in given.values():
        if id(value) not in made:
            clone = getattr(value, "clone", None) or getattr(value, "copy", None)
            made[id(value)] = clone() if clone else value
    return {name: made[id(value)] for name, value in given.items()}


def _check_names(given: Mapping[str, Any], needed: list[str], optional: set[str]) -> None:
    unknown = sorted(set(given) - set(needed) - optional)
    missing = [name for name in needed if name not in given]
    if unknown or missing:
        parts = []
        if missing:
            parts.append(f"missing {', '.join(missing)}")
        if unknown:
            parts.append(f"unknown {', '.join(unknown)}")
        raise ValueError(f"arguments: {' and '.join(parts)}; the kernel has {', '.join(needed)}")


def _run_text(text: str, given: Mapping[str, Any], blocks: int | None, chosen: Settings) -> Result:
    read = source.read(text)
    if blocks is None:
        raise ValueError("AscendC text does not tell the number of blocks: pass blocks=")
    names: list[str] = []
    for kernel in read.kernels:
        names += [p.name for p in kernel.parameters if p.name not in names]
    _check_names(given, names, set())
    arrays: dict[str, ArrayArgument] = {}
    calls = []
    for kernel in read.kernels:
        values: list[ArrayArgument | int] = []
        for p in kernel.parameters:
            if not p.is_array:
                values.append(scalar_bits(p.name, p.ctype, given[p.name]))
                continue
            if p.name not in arrays:
                arrays[p.name] = array_argument(p.name, given[p.name], dtype_of(p.ctype), None)
            values.append(arrays[p.name])
        calls.append(KernelCall(kernel.name, kernel.kind, blocks, tuple(values)))
    return job.run(read, list(arrays.values()), calls, chosen)


def _bind_shape(
    parameter: launch.ArrayParameter, value: Any, symbols: dict[str, int]
) -> tuple[int, ...]:
    """The shape the argument must have; a symbolic dimension is bound where it is first met."""
    actual = tuple(getattr(value, "shape", ()))
    wanted = []
    for i, extent in enumerate(parameter.shape):
        if isinstance(extent, str):
            if extent not in symbols and i < len(actual):
                symbols[extent] = int(actual[i])
            extent = symbols.get(extent, -1)
        wanted.append(extent)
    return tuple(wanted)


def _stored_shape(parameter: launch.ArrayParameter, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Two 4-bit values share a byte."""
    if parameter.dtype.startswith("float4") and not parameter.dtype.endswith("x2"):
        return (*shape[:-1], (shape[-1] + 1) // 2)
    return shape


def run_lowered(
    lowered: launch.Lowered, given: Mapping[str, Any], blocks: int | None, chosen: Settings
) -> Result:
    """Runs what ``launch.lower`` gave; the text may have been changed since."""
    read = source.read(lowered.text)
    parameters = {p.name: p for p in lowered.parameters}
    symbols: dict[str, int] = {}
    optional = {
        d
        for p in lowered.parameters
        if isinstance(p, launch.ArrayParameter)
        for d in p.shape
        if isinstance(d, str)
    }
    _check_names(given, list(parameters), optional - set(parameters))
    for name in optional & set(given):
        symbols[name] = int(given[name])
    arrays: dict[str, ArrayArgument] = {}
    for p in lowered.parameters:
        if isinstance(p, launch.ScalarParameter):
            symbols[p.name] = given[p.name]
    for p in lowered.parameters:
        if isinstance(p, launch.ArrayParameter):
            shape = _stored_shape(p, _bind_shape(p, given[p.name], symbols))
            arrays[p.name] = array_argument(p.name, given[p.name], numpy_dtype(p.dtype), shape)
    texts = {k.name: k for k in read.kernels}
    calls = []
    for item in lowered.launches:
        text = texts[item.kernel]
        values: list[ArrayArgument | int] = []
        for p in text.parameters:
            if p.is_array:
                if p.name not in arrays:
                    raise ValueError(f"kernel {text.name}: no argument for its parameter {p.name}")
                values.append(arrays[p.name])
            else:
                if p.name not in symbols:
                    raise ValueError(f"kernel {text.name}: no value for its parameter {p.name}")
                values.append(scalar_bits(p.name, p.ctype, symbols[p.name]))
        count = item.blocks(symbols) if blocks is None else blocks
        calls.append(KernelCall(text.name, text.kind, count, tuple(values)))
    return job.run(read, list(arrays.values()), calls, chosen)
