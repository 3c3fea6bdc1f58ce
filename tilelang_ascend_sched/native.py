"""Finds and loads the native library with the C++ passes."""

from __future__ import annotations

import ctypes
import functools
import hashlib
from pathlib import Path

LIBRARY = "libtilelang_ascend_sched.so"


@functools.cache
def library_path() -> Path:
    """Path of the native library.

    In an editable install the Python files and the library lie in different folders; both are on
    the package's ``__path__``. Raises ``ImportError`` if the library was not built.
    """
    import tilelang_ascend_sched

    folders = [Path(entry) / "lib" for entry in tilelang_ascend_sched.__path__]
    for folder in folders:
        if (folder / LIBRARY).is_file():
            return folder / LIBRARY
    raise ImportError(
        f"{LIBRARY} is not in {', '.join(map(str, folders))}: build it with `make build` "
        "or `pip install --no-build-isolation .`"
    )


@functools.cache
def load() -> ctypes.CDLL:
    """Load the library once; its static initializers register passes and options with TVM.

    ``RTLD_LOCAL`` keeps its symbols away from TileLang's own libraries, which must be loaded
    before. Raises ``ImportError`` if it cannot be loaded.
    """
    import tilelang  # noqa: F401  # brings libtvm_ffi, libtvm_* and libtilelang into the process

    try:
        return ctypes.CDLL(str(library_path()), mode=ctypes.RTLD_LOCAL)
    except OSError as error:
        raise ImportError(f"{LIBRARY} does not load beside this TileLang: {error}") from error


@functools.cache
def digest() -> str:
    """SHA-256 of the library's bytes: part of every cache key while the plugin is on."""
    return hashlib.sha256(library_path().read_bytes()).hexdigest()
