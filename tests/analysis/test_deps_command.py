"""The command ``deps``."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from tilelang_ascend_sched.cli import main
from tilelang_ascend_sched.deps import Body, Dependences, Edge, Task
from tilelang_ascend_sched.deps_graphviz import graphviz

RING = f"{Path(__file__).parents[2] / 'examples' / 'manual_ring.py'}:manual_ring"


def test_a_ring_waits_two_iterations(tmp_path: Path) -> None:
    dot = tmp_path / "ring.dot"
    result = CliRunner().invoke(main, ["deps", RING, "--json", "--dot", str(dot)])
    assert result.exit_code == 0, result.output
    (kernel,) = json.loads(result.output)
    loop = kernel["bodies"][1]
    carried = {edge["distance"] for edge in loop["edges"] if edge["distance"]}
    assert carried == {2}
    assert dot.read_text().startswith("digraph dependences {")


def test_what_is_no_kernel_ends_with_status_two() -> None:
    result = CliRunner().invoke(main, ["deps", "nowhere.py:kernel"])
    assert result.exit_code == 2
    assert "nowhere.py" in result.output


def test_output_does_not_depend_on_the_order_of_hashes(tmp_path: Path) -> None:
    printed = []
    for seed in ("1", "2"):
        dot = tmp_path / seed
        command = [sys.executable, "-m", "tilelang_ascend_sched", "deps", RING, "--json"]
        done = subprocess.run(
            [*command, "--dot", str(dot)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            timeout=300,
        )
        printed.append((done.stdout, dot.read_bytes()))
    assert printed[0][0]
    assert printed[0] == printed[1]


_STATEMENT = re.compile(
    r"digraph \w+ \{|subgraph \w+ \{|\}|node \[[\w=, ]+\];|label=TEXT;"
    r"|\w+( -> \w+)? \[(\w+=(\w+|TEXT)(, )?)+\];"
)


def test_graphviz_text_quotes_what_it_is_given() -> None:
    odd = 'a "b" \\ {c} -> [d]; // e'
    tasks = tuple(Task(odd, 0, unit, False, latency=7, pipe="V") for unit in range(2))
    edges = tuple(Edge(0, 1, 0, 1, kind, odd, 1) for kind in ("RAW", "exclusion"))
    text = graphviz((Dependences(tasks, (Body(odd, None, 0, None, edges, 0, 0),)),))
    strings = re.findall(r'"(?:[^"\\]|\\.)*"', text)
    assert len(strings) == 5
    for string in strings:
        assert 'a \\"b\\" \\\\ {c} -> [d]; // e' in string
    # With each string as one word, nothing of the odd names is left over.
    for line in re.sub(r'"(?:[^"\\]|\\.)*"', "TEXT", text).splitlines():
        assert _STATEMENT.fullmatch(line.strip()), line
