"""TileLang's kernel cache on disk, with a stand-in for the toolkit's compiler and linker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

STAND_IN = """#!/bin/sh
# Copies its last input to what -o names.
while [ $# -gt 0 ]; do
  [ "$1" = -o ] && exec cp "$input" "$2"
  input=$1
  shift
done
exit 1
"""

COMPILE = """
import json, sys
import tilelang
import tilelang_ascend_sched as plugin
from tests.plug.kernels import scale

for state, configs in json.loads(sys.argv[1]):
    with plugin.enabled() if state else plugin.disabled():
        tilelang.compile(scale(), target="ascend", pass_configs=configs)
try:
    plugin.last_report()
    print("lowered")
except LookupError:
    print("from cache or off")
"""


def compile_kernels(folder: Path, *kernels: tuple[bool, dict]) -> str:
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    for name in ("bisheng", "ld.lld"):
        (tools / name).write_text(STAND_IN)
        (tools / name).chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "TILELANG_CACHE_DIR": str(folder / "cache"),
    }
    environment.pop("BISHENG_HOME", None)
    run = subprocess.run(
        [sys.executable, "-c", COMPILE, json.dumps(kernels)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip().splitlines()[-1]


def entries(folder: Path) -> set[str]:
    return {path.parent.name for path in (folder / "cache").rglob("device_kernel.asc")}


def test_each_state_has_its_own_entry_and_finds_it_again(tmp_path: Path):
    assert compile_kernels(tmp_path, (False, {})) == "from cache or off"
    stock = entries(tmp_path)
    assert len(stock) == 1
    assert compile_kernels(tmp_path, (True, {})) == "lowered"
    both = entries(tmp_path)
    assert len(both) == 2 and stock < both
    assert compile_kernels(tmp_path, (True, {}), (False, {})) == "from cache or off"
    assert entries(tmp_path) == both
    configs = {"tl.ascend_sched.passes": "stock", "tl.ascend_sched.objective": "ii"}
    assert compile_kernels(tmp_path, (True, configs)) == "lowered"
    assert len(entries(tmp_path)) == 3
