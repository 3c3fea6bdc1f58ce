"""Refuses to start next to a TileLang or tvm-ffi that the native library was not built for."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

TILELANG_VERSION = "0.1.15"
"""The only TileLang release whose C++ ABI and pass annotations the plugin knows."""

TVM_FFI_SERIES = ("0.1.11", "0.1.12")
"""Series of apache-tvm-ffi that TileLang 0.1.15 itself accepts (``>=0.1.11,<0.1.13``)."""


def _found(distribution: str, lookup: Callable[[str], str]) -> str:
    try:
        return lookup(distribution)
    except PackageNotFoundError:
        return "not installed"


def check_versions(lookup: Callable[[str], str] = version) -> None:
    """Raise ``ImportError`` unless the installed TileLang and tvm-ffi fit.

    ``lookup`` maps a distribution name to its version; it is a parameter so that tests can
    present other installations.
    """
    tilelang = _found("tilelang", lookup)
    if tilelang.split("+")[0] != TILELANG_VERSION:
        raise ImportError(
            f"tilelang_ascend_sched needs tilelang=={TILELANG_VERSION}, found {tilelang}: "
            f"pip install tilelang=={TILELANG_VERSION}"
        )
    ffi = _found("apache-tvm-ffi", lookup)
    release = ".".join(ffi.split("+")[0].split(".")[:3])
    if release.partition(".post")[0] not in TVM_FFI_SERIES:
        needed = " or ".join(TVM_FFI_SERIES)
        raise ImportError(
            f"tilelang_ascend_sched needs apache-tvm-ffi {needed}, found {ffi}: "
            f"pip install apache-tvm-ffi=={TVM_FFI_SERIES[0]}"
        )
