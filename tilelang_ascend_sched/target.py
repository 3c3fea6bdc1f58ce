"""Finds the prim_func that a ``FILE:NAME`` on the command line speaks of."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

from tvm.tirx import PrimFunc


def load_prim_func(spec: str) -> PrimFunc:
    """The prim_func named by ``FILE:NAME``.

    NAME is a prim_func, a ``tilelang.jit`` object, or a function without required arguments that
    returns a prim_func. Raises ``ValueError`` in one line for anything else.
    """
    file, separator, name = spec.rpartition(":")
    if not separator or not file or not name:
        raise ValueError(f"{spec!r} is not FILE:NAME, such as examples/gemm_relu.py:gemm_relu")
    module = _load_module(file)
    if not hasattr(module, name):
        public = ", ".join(sorted(key for key in vars(module) if not key.startswith("_")))
        raise ValueError(f"{file} has no {name!r}; it defines {public}")
    found = getattr(module, name)
    if not isinstance(found, PrimFunc):
        found = _call(found, spec)
    if not isinstance(found, PrimFunc):
        raise ValueError(f"{spec} gives a {type(found).__name__}, not a prim_func")
    return found


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
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _call(found: Any, spec: str) -> Any:
    make = getattr(found, "get_tir", found)  # tilelang.jit objects have get_tir
    if not callable(make):
        raise ValueError(f"{spec} is a {type(found).__name__}, not a kernel or a function")
    try:
        return make()
    except TypeError as error:
        raise ValueError(f"{spec} cannot be called without arguments: {error}") from error
