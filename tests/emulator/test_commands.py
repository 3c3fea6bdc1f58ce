"""The shell commands, as a user types them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tests.emulator.asc import handshake, line_of, load, store, vector_kernel
from tilelang_ascend_sched.emulator import scratch
from tilelang_ascend_sched.emulator.commands import check, run
from tilelang_ascend_sched.emulator.load import make_arguments

USAGE = ("Usage: ", "Try '")
COPY = [load("ub", "X", 256), handshake("MTE2", "MTE3"), store("ub", "Y", 256)]
ARRAYS = ["--arg", "X=64:float32:arange", "--arg", "Y=64:float32:zeros", "--blocks", "1"]


def invoke(command, *words: str):
    return CliRunner().invoke(command, list(words))


@pytest.fixture
def good(tmp_path) -> str:
    path = tmp_path / "good.asc"
    path.write_text(vector_kernel(*COPY))
    return str(path)


@pytest.fixture
def bad(tmp_path) -> str:
    path = tmp_path / "bad.asc"
    path.write_text(vector_kernel(COPY[0], COPY[2]))
    return str(path)


def test_check_of_a_right_kernel(good):
    done = invoke(check, good, *ARRAYS)
    assert done.exit_code == 0, done.output
    assert "no findings" in done.output


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_saved_text_as_editors_write_it(tmp_path, newline):
    """A byte order mark in front, either end of line, comments, statements without indentation."""
    text = "// saved\n/* by\n hand */\n" + vector_kernel(*COPY).replace("\n  ", " // x\n\n\t")
    path = tmp_path / "saved.asc"
    path.write_bytes(text.replace("\n", newline).encode("utf-8-sig"))
    done = invoke(check, str(path), *ARRAYS)
    assert done.exit_code == 0 and "no findings" in done.output


def test_text_that_is_no_text(tmp_path):
    path = tmp_path / "odd.asc"
    path.write_bytes("// caf\u00e9".encode("latin-1"))
    done = invoke(check, str(path), *ARRAYS)
    assert done.exit_code == 2 and "in UTF-8" in refusal(done)


def test_check_of_a_wrong_kernel(bad):
    done = invoke(check, bad, *ARRAYS)
    assert done.exit_code == 1
    text = Path(bad).read_text()
    assert "race" in done.output
    assert f"{line_of(text, 'gm2ub')}, {line_of(text, 'ub2gm')}" in done.output


def test_check_as_json(bad):
    done = invoke(check, bad, *ARRAYS, "--json", "--policy", "eager")
    data = json.loads(done.stdout)
    assert done.exit_code == 1 and data["ok"] is False
    (finding,) = [f for f in data["findings"] if f["kind"] == "race"]
    assert [s["pipe"] for s in finding["sites"]] == ["MTE2", "MTE3"]


def test_run_as_json_with_timeline(good, tmp_path):
    out = tmp_path / "out.json"
    done = invoke(run, good, *ARRAYS, "--json", "--timeline", str(out))
    data = json.loads(done.stdout)
    assert done.exit_code == 0 and data["ok"]
    assert data["arrays"]["Y"]["max"] == 63 and data["arrays"]["Y"] == data["arrays"]["X"]
    assert data["kernels"][0]["cycles"] >= data["kernels"][0]["floor"] > 0
    assert json.loads(out.read_text())["traceEvents"]


def test_run_prints_figures(good, tmp_path):
    picture = tmp_path / "out.svg"
    done = invoke(run, good, *ARRAYS, "--policy", "lazy", "--timeline", str(picture))
    assert done.exit_code == 0
    assert "modelled cycles" in done.output and "MTE3" in done.output
    assert picture.read_text().startswith("<svg")


KERNELS = """
import tilelang
import tilelang.ascend.language as T


def add(rows: int = 16):
    @T.prim_func
    def kernel(X: T.Tensor((rows, 64), T.float32), Y: T.Tensor((rows, 64), T.float32)):
        with T.Kernel(2) as block:
            x = T.alloc_shared((rows // 2, 64), T.float32)
            T.copy(X[block * (rows // 2), 0], x)
            with T.SimtVF(threads=128):
                for r, c in T.Parallel(rows // 2, 64):
                    x[r, c] = x[r, c] + 1
            T.copy(x, Y[block * (rows // 2), 0])

    return kernel


def needs(rows):
    return add(rows)


def fails():
    raise KeyError("x")


made = add()
number = 3
"""


@pytest.fixture
def module(tmp_path) -> str:
    path = tmp_path / "user_kernels.py"
    path.write_text(KERNELS)
    return str(path)


@pytest.mark.parametrize("name", ["add", "made"])
def test_kernel_of_a_python_file(module, name):
    words = ["--arg", "X=16x64:float32:zeros", "--arg", "Y=16x64:float32:zeros", "--json"]
    done = invoke(run, f"{module}:{name}", *words)
    data = json.loads(done.stdout)
    assert done.exit_code == 0, done.output
    assert data["arrays"]["Y"]["min"] == data["arrays"]["Y"]["max"] == 1
    assert data["kernels"][0]["blocks"] == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.py:f"], "no file nowhere.py"),
        (["{module}"], "say which kernel"),
        (["{module}:nothing"], "has no 'nothing'"),
        (["{module}:number"], "not a kernel or a function"),
        (["{module}:needs"], "cannot be called without arguments: it needs rows"),
        (["{module}:fails"], "fails: KeyError: 'x' (line"),
        (["{module}:made", "--arg", "X=16x64:float32"], "missing Y"),
        (["{module}:made", "--arg", "X=16x64:floot"], "unknown dtype floot"),
        (["{module}:made", "--arg", "X"], "expected NAME=VALUE"),
        (["{module}:made", "--arg", "X=16x64:float32:many"], "unknown fill many"),
        (["{module}:made", "--arg", "X=a"], "neither a shape with dtype"),
        (["{module}:made", "--arg", "X=1", "--arg", "X=1"], "given twice"),
        (["{module}:made", "--arg", "X=99999999x99999999:float32"], "--arg X: "),
        (["{module}:made", "--arg", "X={junk}"], "--arg X: cannot read"),
        (["{module}:made", "--timeline", "/nonexistent/o.json"], "cannot be written"),
        (["{module}:made", "--timeline", "o.png"], "neither in .json nor in .svg"),
        (["{module}:made", "--budget", "0"], "--budget"),
    ],
)
def test_wrong_use_is_one_line(module, tmp_path, words, message):
    junk = tmp_path / "junk.npy"
    junk.write_bytes(b"junk")
    done = invoke(check, *(word.format(module=module, junk=junk) for word in words))
    assert message in refusal(done)


def refusal(done) -> str:
    """The one line that says why the command could not do its work."""
    assert done.exit_code == 2 and not done.stdout, done.output
    lines = [line for line in done.stderr.splitlines() if line and not line.startswith(USAGE)]
    assert len(lines) == 1, done.stderr
    return lines[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(:", "SyntaxError"),
        ("import nonexistent_module", "No module named 'nonexistent_module' (line 1)"),
        ("{}['key']", "KeyError: 'key' (line 1)"),
        ("import sys\nsys.exit(7)", "SystemExit: 7 (line 2)"),
    ],
)
def test_failing_file_is_one_line(tmp_path, text, message):
    file = tmp_path / "failing_file.py"
    file.write_text(text)
    line = refusal(invoke(run, f"{file}:f"))
    assert str(file) in line and message in line


def test_kernel_that_tilelang_refuses(tmp_path):
    file = tmp_path / "refused.py"
    file.write_text(KERNELS.replace("T.copy(x, Y[block", "T.copy(X, Y[block"))
    words = ["--arg", "X=16x64:float32", "--arg", "Y=16x64:float32"]
    assert str(file) in refusal(invoke(run, f"{file}:add", *words))


def test_compiler_that_does_not_work(good, empty_cache, monkeypatch):
    monkeypatch.setenv("CXX", "/bin/false")
    assert "/bin/false --version` ended with status 1" in refusal(invoke(run, good, *ARRAYS))


def test_cache_folder_that_cannot_be_made(good, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TILELANG_ASCEND_SCHED_CACHE", str(tmp_path / "file"))
    line = refusal(invoke(run, good, *ARRAYS))
    assert str(tmp_path / "file") in line and "$TILELANG_ASCEND_SCHED_CACHE" in line


def test_no_blocks_and_step_budget(good, bad):
    none = invoke(run, good, *ARRAYS[:-1], "0")
    assert none.exit_code == 0 and "no block was run" in none.output
    spent = invoke(run, good, *ARRAYS, "--budget", "3")
    assert spent.exit_code == 1 and "3 scheduler steps" in " ".join(spent.output.split())
    assert "1 finding\n" in "\n".join(line.rstrip() for line in spent.output.splitlines()) + "\n"


def test_termination_leaves_nothing(tmp_path):
    endless = tmp_path / "endless.asc"
    endless.write_text(vector_kernel("while (true) { asc_sync_pipe(PIPE_MTE2); }"))
    command = [sys.executable, "-m", "tilelang_ascend_sched", "run", str(endless), *ARRAYS]
    with subprocess.Popen([*command, "--budget", str(2**62)]) as process:
        mine = f"{scratch.PREFIX}{process.pid}-*"
        while not (found := list(scratch.parent().glob(mine))):
            assert process.poll() is None
            time.sleep(0.05)
        process.terminate()
        assert process.wait() == 128 + signal.SIGTERM
    assert not any(path.exists() for path in found)


def test_stale_folder_is_removed_and_a_held_one_kept():
    stale = scratch.parent() / f"{scratch.PREFIX}{os.getpid()}-stale"
    stale.mkdir()
    with scratch.folder() as first:
        assert not stale.exists()
        with scratch.folder() as second:
            assert first.is_dir() and second.is_dir() and first != second
    assert not first.exists() and not second.exists()


def test_arguments_are_the_same_every_time(tmp_path):
    words = ["A=4x8:bfloat16", "B=8:int32", "C=3:float8_e4m3fn:ones", "n=0x10", "f=0.5"]
    first, second = make_arguments(words, 1), make_arguments(words[::-1], 1)
    assert all(np.array_equal(first[k], second[k]) for k in first)
    assert first["A"].dtype.name == "bfloat16" and first["n"] == 16 and first["f"] == 0.5
    assert not np.array_equal(first["A"], make_arguments(words, 2)["A"])
    np.save(tmp_path / "x.npy", np.arange(3))
    assert (make_arguments([f"X={tmp_path}/x.npy"])["X"] == np.arange(3)).all()
