"""Compiles the worker once and each kernel's text, and caches both by content."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

from tilelang_ascend_sched.emulator.source import FILE_NAME, Source

HERE = Path(__file__).parent
_COMMON = ["-std=c++20", "-O2", "-fno-strict-aliasing", "-ffp-contract=off"]
# Addresses of L1 and L0 start at 0; unrolling pragmas are the device compiler's.
_KERNEL_FLAGS = [
    *_COMMON,
    "-fPIC",
    "-g1",
    "-fno-delete-null-pointer-checks",
    "-fsanitize=thread",
    "-Wno-unknown-pragmas",
    "-Wno-psabi",
]
_LINK_FLAGS = [f"-Wl,--wrap={n}" for n in ("exit", "_exit", "_Exit", "quick_exit", "pthread_exit")]
# The Cube's arithmetic wants the host's widest vectors.
_WORKER_FLAGS = [*_COMMON, "-march=native", "-Wno-psabi"]
_PRELUDE = """#include <tl_templates/ascend/common.h>
#include <tl_templates/ascend/debug.h>
#include "emu/kernel.h"
"""


class CompileError(RuntimeError):
    """The host compiler refused the kernel's text; one line, naming what is not modelled."""


def cache_dir() -> Path:
    """``$TILELANG_ASCEND_SCHED_CACHE``, or a folder in the user's cache directory."""
    if override := os.environ.get("TILELANG_ASCEND_SCHED_CACHE"):
        return Path(override)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "tilelang_ascend_sched"


@lru_cache(maxsize=1)
def wheel_sources() -> Path:
    """``tilelang/src`` of the installed wheel, which holds the device templates."""
    import importlib.util

    spec = importlib.util.find_spec("tilelang")
    if spec is None or spec.origin is None:
        raise RuntimeError("tilelang is not installed: its device templates are needed")
    return Path(spec.origin).parent / "src"


def _folder(*names: str) -> Path:
    """A folder of the cache. RuntimeError: it cannot be made or written."""
    folder = cache_dir().joinpath(*names)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK | os.X_OK)
    except OSError:
        writable = False
    if not writable:
        raise RuntimeError(
            f"cannot write the cache folder {folder}: "
            "name another one in $TILELANG_ASCEND_SCHED_CACHE"
        )
    return folder


def compiler() -> str:
    """Path of g++ (or of ``$CXX``). RuntimeError if there is none."""
    wanted = os.environ.get("CXX", "g++")
    path = shutil.which(wanted)
    if path is None:
        raise RuntimeError(
            f"no host C++ compiler: `{wanted}` is not on PATH; install g++ 12 or newer, "
            "or name one in $CXX"
        )
    return path


@lru_cache(maxsize=4)
def _compiler_identity(path: str) -> str:
    try:
        version = subprocess.run([path, "--version"], capture_output=True, text=True)
    except OSError as error:
        raise RuntimeError(f"the C++ compiler {path} does not start: {error.strerror}") from None
    if version.returncode != 0:
        raise RuntimeError(
            f"`{path} --version` ended with status {version.returncode}: "
            "name a C++ compiler, g++ 12 or newer, in $CXX"
        )
    # What -march=native means here.
    target = subprocess.run(
        [path, "-march=native", "-Q", "--help=target"], capture_output=True, text=True
    )
    return version.stdout + target.stdout


def _files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.suffix in (".h", ".cc"))


def _identity(*folders: Path) -> str:
    """Of all C++ files in the folders: names and contents."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in _files(folder):
            digest.update(f"{path.relative_to(folder)}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


@lru_cache(maxsize=1)
def _kernel_headers() -> str:
    return _identity(HERE / "include", wheel_sources() / "tl_templates" / "ascend")


@lru_cache(maxsize=1)
def _worker_headers() -> str:
    include = HERE / "include" / "emu"
    headers = [*include.glob("*.h"), *include.glob("numeric/*.h"), *HERE.glob("runtime/*.h")]
    return "".join(p.read_text() for p in sorted(headers))


def _key(*parts: str | bytes) -> str:
    digest = hashlib.sha256()
    for part in (_compiler_identity(compiler()), *parts):
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()[:32]


def _run(command: Iterable[str | Path]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, env=environment
    )


_KEPT = {"objects": 200, "worker": 8, "prelude": 8, "kernels": 5000}
"""Entries of each folder of the cache; the least recently used go when there are more."""


def _publish(made: Path, target: Path) -> Path:
    """Puts a finished file in its place in one step; another process may have done the same."""
    os.replace(made, target)
    return target


def _cached(target: Path) -> bool:
    """Whether the cache has it; noted as used."""
    with contextlib.suppress(OSError):
        os.utime(target)
        return True
    return False


def _prune(folder: Path) -> None:
    aged = []
    for entry in folder.iterdir():
        with contextlib.suppress(OSError):  # another process prunes too
            aged.append((entry.stat().st_mtime, entry))
    aged.sort(key=lambda item: item[0], reverse=True)
    for _, entry in aged[_KEPT[folder.name] :]:
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)


def _includes() -> list[str]:
    return ["-I", str(HERE / "include"), "-I", str(wheel_sources())]


def _worker_object(source: Path) -> Path:
    folder = _folder("objects")
    key = _key("object", source.name, source.read_text(), _worker_headers(), *_WORKER_FLAGS)
    target = folder / f"{key}.o"
    if _cached(target):
        return target
    _prune(folder)
    with tempfile.TemporaryDirectory(dir=folder, prefix="build-") as scratch:
        made = Path(scratch) / "made.o"
        include = ["-I", str(HERE), "-I", str(HERE / "include")]
        done = _run([compiler(), *_WORKER_FLAGS, *include, "-c", source, "-o", made])
        if done.returncode != 0:
            raise RuntimeError(f"cannot build the emulator: {_first_error(done.stderr)}")
        return _publish(made, target)


def worker() -> Path:
    """The executable that runs compiled kernels."""
    sources = sorted((HERE / "runtime").glob("*.cc"))
    with ThreadPoolExecutor(max_workers=2) as pool:
        objects = list(pool.map(_worker_object, sources))
    folder = _folder("worker")
    target = folder / _key("worker", *(o.name for o in objects))
    if _cached(target):
        return target
    _prune(folder)
    with tempfile.TemporaryDirectory(dir=folder, prefix="build-") as scratch:
        made = Path(scratch) / "worker"
        done = _run([compiler(), "-rdynamic", *objects, "-ldl", "-o", made])
        if done.returncode != 0:
            raise RuntimeError(f"cannot link the emulator: {_first_error(done.stderr)}")
        return _publish(made, target)


def _prelude() -> Path:
    """A precompiled header of everything that each kernel's text includes."""
    key = _key("prelude", _kernel_headers(), _PRELUDE, *_KERNEL_FLAGS)
    folder = _folder("prelude", key)
    header, compiled = folder / "prelude.h", folder / "prelude.h.gch"
    if _cached(compiled):
        os.utime(folder)
        return header
    _prune(folder.parent)
    with tempfile.TemporaryDirectory(dir=folder, prefix="build-") as scratch:
        text = Path(scratch) / "prelude.h"
        text.write_text(_PRELUDE)
        made = Path(scratch) / "made.gch"
        done = _run(
            [compiler(), *_KERNEL_FLAGS, *_includes(), "-x", "c++-header", text, "-o", made]
        )
        if done.returncode != 0:
            raise RuntimeError(f"cannot build the emulator's headers: {_first_error(done.stderr)}")
        _publish(text, header)
        _publish(made, compiled)
    return header


def kernel_library(source: Source) -> Path:
    """The shared library of the kernels of ``source``.

    CompileError: the compiler refused it, mostly because an instruction is not modelled.
    """
    flags = [*_KERNEL_FLAGS, "-x", "c++"]
    key = _key("kernel", _kernel_headers(), source.text, *flags, *_LINK_FLAGS)
    folder = _folder("kernels")
    target = folder / f"{key}.so"
    if _cached(target):
        return target
    _prune(folder)
    prelude = _prelude()
    with tempfile.TemporaryDirectory(dir=folder, prefix="build-") as scratch:
        # Line tables give some places under this name, not under that of the text's #line.
        text = Path(scratch) / FILE_NAME
        text.write_text(source.text)
        made, linked = Path(scratch) / "kernel.o", Path(scratch) / "kernel.so"
        done = _run([compiler(), *flags, "-include", prelude, *_includes(), "-c", text, "-o", made])
        if done.returncode != 0:
            raise CompileError(explain(done.stderr, source))
        done = _run([compiler(), "-shared", *_LINK_FLAGS, made, "-o", linked])
        if done.returncode != 0:
            raise CompileError(f"cannot link the kernel: {_first_error(done.stderr)}")
        return _publish(linked, target)


_DIAGNOSTIC = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<what>.*)$"
)
_UNKNOWN = re.compile(
    r"'(?P<name>[\w:]+)' (?:was not declared|is not a member|has not been declared|"
    r"does not name a type)|(?:no matching function for call to|too (?:few|many) arguments to "
    r"function) '(?:\w+ )?(?P<call>[\w:]+)"
)


def _first_error(stderr: str) -> str:
    for line in stderr.splitlines():
        if "error" in line:
            return line
    return stderr.strip().splitlines()[-1] if stderr.strip() else "no message"


def explain(stderr: str, source: Source) -> str:
    """One line for the first error that is the kernel's own."""
    errors = [m for line in stderr.splitlines() if (m := _DIAGNOSTIC.match(line))]
    if not errors:
        return f"the host compiler refused the kernel: {_first_error(stderr)}"
    first = next((e for e in errors if e["file"] == FILE_NAME), errors[0])
    where = f"{first['file']}:{first['line']}"
    text = source.line(int(first["line"])) if first["file"] == FILE_NAME else ""
    if unknown := _UNKNOWN.search(first["what"]):
        name = unknown["name"] or unknown["call"]
        problem = "is not modelled" if unknown["name"] else "is not modelled with these arguments"
        return f"{where}: `{name}` {problem} by the emulator" + (f": {text}" if text else "")
    return f"{where}: {first['what']}" + (f": {text}" if text else "")
