"""The commands ``passes`` and ``report``, and what FILE:NAME may be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tilelang_ascend_sched.cli import main
from tilelang_ascend_sched.pipeline import PASSES
from tilelang_ascend_sched.target import load_prim_func

KERNELS = "tests/plug/kernels.py"


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, list(arguments))
    assert result.exit_code == code, result.output
    return result.output


def test_passes_are_listed_in_order():
    output = run("passes")
    at = [output.index(info.name) for info in PASSES]
    assert at == sorted(at)
    (row,) = [line for line in output.splitlines() if "RewriteFlagToBuf" in line]
    assert "ours" in row


def test_passes_shows_what_an_option_selects():
    output = run("passes", "--owners", "stock")
    assert "ours" not in output
    assert "no pass 'Nothing'" in run("passes", "--owners", "Nothing=ours", code=2)


@pytest.mark.parametrize("name", ["scale", "jit_scale"])
def test_report_of_functions_and_jit_objects(name: str):
    report = json.loads(run("report", f"{KERNELS}:{name}", "--json"))
    assert report["kernel"] == "scale"
    (loop,) = [loop for loop in report["loops"] if loop["kind"] == "loop"]
    assert (loop["name"], loop["verdict"]) == ("i", "optimal")


def test_report_as_tables():
    output = run("report", "examples/gemm_relu.py:gemm_relu")
    for text in ("Schedule of gemm_relu", "II bound", "optimal", "L0C", "RewriteFlagToBuf"):
        assert text in output


def test_report_takes_pass_configs():
    arguments = ("report", f"{KERNELS}:scale", "--json", "--config")
    report = json.loads(run(*arguments, "tl.ascend_sched.passes=stock"))
    assert {entry["owner"] for entry in report["passes"]} == {"stock"}
    assert "allowed are auto" in run(*arguments, "tl.ascend_sched.engine=magic", code=2)
    assert "write KEY=VALUE" in run(*arguments, "engine", code=2)


def test_prim_func_in_a_file(tmp_path: Path):
    file = tmp_path / "mine.py"
    file.write_text(
        "import tilelang.ascend.language as T\n"
        "@T.prim_func\n"
        "def kernel(A: T.Tensor((4, 256), T.float32), B: T.Tensor((4, 256), T.float32)):\n"
        "    with T.Kernel(1):\n"
        "        tile = T.alloc_shared((256,), T.float32)\n"
        "        for i in T.serial(4):\n"
        "            T.copy(A[i, 0], tile)\n"
        "            T.copy(tile, B[i, 0])\n"
        "number = 3\n"
        "def needs(argument):\n"
        "    return kernel\n"
        "def nothing():\n"
        "    return None\n"
    )
    assert load_prim_func(f"{file}:kernel").attrs["global_symbol"] == "kernel"
    for name, complaint in {
        "number": "not a kernel",
        "needs": "without arguments",
        "nothing": "NoneType, not a prim_func",
        "absent": "has no 'absent'",
    }.items():
        with pytest.raises(ValueError, match=complaint):
            load_prim_func(f"{file}:{name}")


@pytest.mark.parametrize("spec", ["nofile.py:f", "no_colon.py", ":f", "README.md:f"])
def test_bad_specs_are_one_line(spec: str):
    with pytest.raises((ValueError,), match=r"FILE:NAME|no file|not a Python file") as error:
        load_prim_func(spec)
    assert "\n" not in str(error.value)
