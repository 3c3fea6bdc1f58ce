"""Finds the kernel that a ``FILE:NAME`` on the command line speaks of."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from pathlib import Path
from typing import Any

from tvm.tirx import PrimFunc


def load_prim_func(spec: str) -> PrimFunc:
    """The prim_func named by ``FILE:NAME``; see ``load_kernel``."""
    kernel = load_kernel(spec)
    if isinstance(kernel, PrimFunc):
        return kernel
    found = getattr(kernel, "prim_func", None)
    if not isinstance(found, PrimFunc):
        found = _call(kernel.get_tir, spec)
    return _prim_func(found, spec)


def load_kernel(spec: str) -> Any:
    """The prim_func or ``tilelang.jit`` object named by ``FILE:NAME``.

    NAME is one of these, or a function without required arguments that returns a prim_func. Raises
    ``ValueError`` in one line for anything else, and for what the file itself raises.
    """
    file, separator, name = spec.rpartition(":")
    if not separator or not file or not name:
        raise ValueError(f"{spec!r} is not FILE:NAME, such as examples/gemm_relu.py:gemm_relu")
    module = _load_module(file)
    if not hasattr(module, name):
        public = ", ".join(sorted(key for key in vars(module) if not key.startswith("_")))
        raise ValueError(f"{file} has no {name!r}; it defines {public or 'nothing'}")
    found = getattr(module, name)
    if isinstance(found, PrimFunc) or hasattr(found, "prim_func") or hasattr(found, "get_tir"):
        return found
    if not callable(found):
        raise ValueError(f"{spec} is a {type(found).__name__}, not a kernel or a function")
    if missing := _required(found):
        raise ValueError(f"{spec} cannot be called without arguments: it needs {missing}")
    return _prim_func(_call(found, spec), spec)


def one_line(error: BaseException) -> str:
    """What an exception says, in one line; its type where the message alone would not tell."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    # A message may have a table behind it, indented, and TVM puts a backtrace before its own.
    lines = [line for line in lines if not line[0].isspace()] or [line.strip() for line in lines]
    said = next((line for line in lines if "Check failed" in line), lines[-1] if lines else "")
    name = type(error).__name__
    if type(error) in (ValueError, RuntimeError) and said:
        return said
    if said.startswith(f"{name}: "):
        return said
    return f"{name}: {said}" if said else name


def _load_module(file: str) -> Any:
    path = Path(file).resolve()
    if not path.is_file():
        raise ValueError(f"no file {file}")
    # The user's file may import its neighbours, alone or as a package of examples.
    package_root = path.parent
    while (package_root / "__init__.py").is_file():
        package_root = package_root.parent
    name = ".".join(path.with_suffix("").relative_to(package_root).parts)
    for folder in (str(path.parent), str(package_root)):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) == str(path):
        return loaded
    module_spec = importlib.util.spec_from_file_location(name, path)
    if module_spec is None or module_spec.loader is None:
        raise ValueError(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[name] = module
    try:
        module_spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise ValueError(f"{file} cannot be imported: {_cause(error, path)}") from error
    return module


def _required(function: Any) -> str:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # builtins have none
        return ""
    skipped = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return ", ".join(p.name for p in parameters if p.default is p.empty and p.kind not in skipped)


def _call(function: Any, spec: str) -> Any:
    try:
        return function()
    except (Exception, SystemExit) as error:
        path = Path(spec.rpartition(":")[0]).resolve()
        raise ValueError(f"{spec} fails: {_cause(error, path)}") from error


def _prim_func(found: Any, spec: str) -> PrimFunc:
    if not isinstance(found, PrimFunc):
        raise ValueError(f"{spec} gives a {type(found).__name__}, not a prim_func")
    return found


def _cause(error: BaseException, path: Path) -> str:
    """The error, with the last line of the user's file that led to it."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename) == path]
    where = f" (line {lines[-1]})" if lines else ""
    return f"{one_line(error)}{where}"
