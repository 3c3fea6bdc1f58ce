"""What the native library exports, needs, and registers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import tvm
from tvm_ffi import get_global_func

import tilelang_ascend_sched

LIBRARY = Path(tilelang_ascend_sched.__path__[0]) / "lib" / "libtilelang_ascend_sched.so"

OPTIONS = {
    "strict": True,
    "passes": "ours",
    "verify": "on",
    "hardware": "",
    "engine": "auto",
    "objective": "time",
    "budget": 1,
    "seed": 1,
    "report": "",
}


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_nothing_is_exported() -> None:
    """TileLang could call an exported inline function of a TVM header in place of its own."""
    assert run("nm", "-D", "--defined-only", str(LIBRARY)) == ""


def test_other_libraries_are_found_by_name_alone() -> None:
    dynamic = run("readelf", "-d", str(LIBRARY))
    assert "RPATH" not in dynamic and "RUNPATH" not in dynamic
    needed = {line.split("[")[1].rstrip("]") for line in dynamic.splitlines() if "(NEEDED)" in line}
    assert needed <= {
        "libtilelang.so",
        "libtvm_compiler.so",
        "libtvm_runtime.so",
        "libtvm_ffi.so",
        "libstdc++.so.6",
        "libm.so.6",
        "libgcc_s.so.1",
        "libc.so.6",
        "ld-linux-x86-64.so.2",
    }


@pytest.mark.parametrize("name", ["RestoreWhileLoops", "RewriteFlagToBuf"])
def test_passes_are_named_as_the_stock_ones(name: str) -> None:
    made = get_global_func(f"tl.ascend_sched.transform.{name}")()
    assert made.info.name == f"tl.{name}"


@pytest.mark.parametrize("name", OPTIONS)
def test_the_options_are_known_and_typed(name: str) -> None:
    key = f"tl.ascend_sched.{name}"
    with tvm.transform.PassContext(config={key: OPTIONS[name]}) as context:
        assert context.config[key] == OPTIONS[name]
    with pytest.raises(AttributeError, match=key):
        tvm.transform.PassContext(config={key: 1.5})


def test_unknown_options_are_refused_with_the_list_of_those_known() -> None:
    with pytest.raises(AttributeError) as error:
        tvm.transform.PassContext(config={"tl.ascend_sched.xyz": 1})
    assert all(f"tl.ascend_sched.{name}" in str(error.value) for name in OPTIONS)
