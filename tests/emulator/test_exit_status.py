"""Every command: 0 if all is well, 1 for a bad verdict, 2 if it could not do its work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import tilelang_ascend_sched as sched
from tests.emulator.asc import handshake, load, store, vector_kernel
from tilelang_ascend_sched.cli import main

KERNEL = """
import tilelang.ascend.language as T

@T.prim_func
def right(X: T.Tensor((8, 256), T.float32), Y: T.Tensor((8, 256), T.float32)):
    with T.Kernel(1):
        x = T.alloc_shared((256,), T.float32)
        for i in T.serial(8):
            T.copy(X[i, 0], x)
            T.copy(x, Y[i, 0])

@T.prim_func
def wrong(X: T.Tensor((8, 256), T.float32), Y: T.Tensor((8, 256), T.float32)):
    with T.Kernel(1):
        with T.Vector():
            x = T.alloc_shared((256,), T.float32)
            for i in T.serial(8):
                T.copy(X[i, 0], x)
                T.ascend_set_flag("MTE2_MTE3", 0)
                T.ascend_wait_flag("MTE2_MTE3", 0)
                T.copy(x, Y[i, 0])

@T.prim_func
def refused(X: T.Tensor((8, 256), T.float32), Y: T.Tensor((8, 256), T.float32)):
    with T.Kernel(1):
        T.copy(X, Y)
"""
COPY = [load("ub", "X", 256), handshake("MTE2", "MTE3"), store("ub", "Y", 256)]
ARRAYS = "--arg X=64:float32 --arg Y=64:float32 --blocks 1"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "kernels_of_status.py").write_text(KERNEL)
    (tmp_path / "right.asc").write_text(vector_kernel(*COPY))
    (tmp_path / "wrong.asc").write_text(vector_kernel(COPY[0], COPY[2]))
    (tmp_path / "empty.json").write_text("{}")
    return tmp_path


CASES = [
    ("passes", 0),
    ("passes --owners Nothing=ours", 2),
    ("passes --nothing", 2),
    ("toy demo", 0),
    ("toy --nothing", 2),
    ("report {kernels}:right", 0),
    ("report {kernels}:nothing", 2),
    ("report {kernels}:refused", 2),
    ("report {kernels}:right --config tl.ascend_sched.engine=magic", 2),
    ("report {kernels}:wrong --config tl.ascend_sched.verify=refuse "
     "--config tl.enable_auto_schedule=false", 1),
    ("report", 2),
    ("verify {kernels}:right", 0),
    ("verify {kernels}:wrong --unscheduled", 1),
    ("verify {kernels}:nothing", 2),
    ("verify {kernels}:refused", 2),
    ("verify", 2),
    ("solve {folder}/empty.json", 2),
    ("solve {folder}/absent.json", 2),
    ("solve", 2),
    ("run {folder}/right.asc " + ARRAYS, 0),
    ("run {folder}/wrong.asc " + ARRAYS, 1),
    ("run {folder}/right.asc", 2),
    ("run {folder}/absent.asc", 2),
    ("run {kernels}:refused --arg X=8x256:float32 --arg Y=8x256:float32", 2),
    ("check {folder}/right.asc --policy eager " + ARRAYS, 0),
    ("check {folder}/wrong.asc --policy eager " + ARRAYS, 1),
    ("check {folder}/right.asc --policy sometimes", 2),
    ("nothing", 2),
]  # fmt: skip


@pytest.mark.parametrize(("words", "status"), CASES, ids=[words.strip() for words, _ in CASES])
def test_status(folder, words, status):
    words = words.format(folder=folder, kernels=folder / "kernels_of_status.py")
    with sched.enabled():
        done = CliRunner().invoke(main, words.split())
    assert done.exit_code == status, done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    if status == 2:
        assert done.stderr and not done.stdout


@pytest.mark.parametrize(
    "words",
    [
        "report {kernels}:right --json",
        "verify {kernels}:right --json",
        "run {folder}/right.asc --json " + ARRAYS,
        "check {folder}/wrong.asc --json " + ARRAYS,
    ],
)
def test_json_is_the_same_every_time(folder, words):
    words = words.format(folder=folder, kernels=folder / "kernels_of_status.py")
    with sched.enabled():
        first, second = (CliRunner().invoke(main, words.split()).stdout for _ in range(2))
    assert json.loads(first) and first == second
