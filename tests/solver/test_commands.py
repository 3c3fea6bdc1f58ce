"""The commands: the worked example's figures, and solving a saved problem."""

from __future__ import annotations

import json
import re
from pathlib import Path

from click.testing import CliRunner, Result

from tests.solver.problems import chains
from tilelang_ascend_sched.cli import main
from tilelang_ascend_sched.solver import Verdict, solve
from tilelang_ascend_sched.solver.toy import lateness, problem


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def test_toy_figures() -> None:
    one, two = solve(problem(versions=1)), solve(problem())
    assert (one.ii, two.ii) == (55, 28)
    assert two.versions == (2,) and two.starts == (0, 40, 55, 85)
    assert two.verdict is Verdict.OPTIMAL
    assert two.binding.tasks == (0, 1) and two.binding.buffers == (0,)
    wrong = solve(problem(load_latency=16))
    assert wrong.ii == 16
    assert lateness(wrong.starts, problem()) == [(0, 1, 24)]
    assert lateness(two.starts, problem()) == []


def test_toy_commands_print_them() -> None:
    demo = _run("toy", "demo").output
    assert "ii 55" in demo and "ii 28" in demo and "a_l1: 2 versions, 2000 bytes" in demo
    sensitivity = _run("toy", "sensitivity").output
    assert "II 16" in sensitivity and "24 cycles before loadA" in sensitivity.replace("\n", " ")
    compare = _run("toy", "--z3").output
    assert len(re.findall(r"28 .*0, 40, 55, 85.*optimal", compare)) == 2


def test_printed_constraints_are_smtlib_that_z3_solves() -> None:
    import z3

    text = _run("toy", "--print-smt").output
    solver = z3.Solver(ctx=z3.Context())
    solver.from_string(text)
    assert solver.check() == z3.sat
    harder = z3.Solver(ctx=z3.Context())
    harder.from_string(re.sub(r"\b28\b", "27", text))
    assert harder.check() == z3.unsat


def test_solve_prints_tables_and_json(tmp_path: Path) -> None:
    file = tmp_path / "loop.json"
    file.write_text(chains(2).to_json())
    shown = _run("solve", str(file))
    assert shown.exit_code == 0 and "optimal: ii 161" in shown.output
    answer = json.loads(_run("solve", str(file), "--json", "--trips", "4").output)
    assert answer["objective"] == "time" and answer["verdict"] == "optimal"


def test_solve_refuses_what_is_no_problem(tmp_path: Path) -> None:
    file = tmp_path / "loop.json"
    file.write_text("{}")
    refused = _run("solve", str(file))
    assert refused.exit_code == 2 and "'format'" in refused.output
    data = json.loads(chains(1).to_json())
    data["edges"].append({"src": 2, "dst": 0, "latency": 1})
    file.write_text(json.dumps(data))
    impossible = _run("solve", str(file))
    assert impossible.exit_code == 1 and "needs store0" in impossible.output


def test_solve_says_in_one_line_what_is_out_of_range(tmp_path: Path) -> None:
    file = tmp_path / "loop.json"
    file.write_text(chains(1).to_json())
    for option, value in (("--budget", "inf"), ("--budget", "nan"), ("--seed", str(2**31))):
        refused = _run("solve", str(file), option, value)
        assert refused.exit_code == 2 and isinstance(refused.exception, SystemExit)
        assert refused.output.startswith("Error: ") and refused.output.count("\n") == 1
    for text in ("[" * 100_000, "9" * 5000, chains(1).to_json().replace("load0", "\\ud800")):
        file.write_text(text)
        refused = _run("solve", str(file))
        assert refused.exit_code == 2 and isinstance(refused.exception, SystemExit)
        assert refused.output.startswith("Error: ") and refused.output.count("\n") == 1
