"""Print, as a CMake list, the version and directory of the installed tilelang and apache-tvm-ffi.

Neither package is imported: importing tilelang costs seconds and needs torch. A package that is not
installed is printed as ``none;none``.
"""

from __future__ import annotations

from importlib import metadata


def locate(distribution: str, package: str) -> tuple[str, str]:
    """The version and the directory of an installed package."""
    try:
        found = metadata.distribution(distribution)
    except metadata.PackageNotFoundError:
        return "none", "none"
    return found.version, str(found.locate_file(package))


print(";".join((*locate("tilelang", "tilelang"), *locate("apache-tvm-ffi", "tvm_ffi"))))
