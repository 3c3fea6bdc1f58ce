"""The entry points: the arguments and results of TileLang's own, with errors that say more."""

from __future__ import annotations

import ast
import inspect
import json
import threading
from pathlib import Path

import pytest
import tvm_ffi
from tilelang.ascend.transform import z3_scheduler

from tests.solver.problems import chains, recorded_loops
from tilelang_ascend_sched.solver import ProblemError, Verdict, ffi, violations
from tilelang_ascend_sched.solver.stock import loop_problem

LOOP = next(row["problem"] for row in recorded_loops() if row["name"] == "chains2#0")
REGION = {
    "latencies": [10, 20, 30],
    "iis": [5, 5, 5],
    "resource_flags": [1, 1, 2],
    "data_deps": [(0, 2, 10)],
    "resource_deps": [(0, 1)],
    "owner_exclusion_deps": [(1, 2, 3, 3)],
    "pipe_order_deps": [(0, 1)],
}


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (ffi.schedule_region, "z3_schedule_ffi"),
        (ffi.schedule_loop, "z3_schedule_loop_ffi"),
        (ffi.z3_schedule_python, "z3_schedule_python"),
        (ffi.z3_schedule_loop_python, "z3_schedule_loop_python"),
    ],
)
def test_arguments_and_defaults_are_those_of_tilelang(ours, theirs: str) -> None:
    tree = ast.parse(inspect.getsource(z3_scheduler))
    stock = next(x for x in tree.body if isinstance(x, ast.FunctionDef) and x.name == theirs)
    parameters = inspect.signature(ours).parameters
    assert list(parameters) == [argument.arg for argument in stock.args.args]
    defaults = [p.default for p in parameters.values() if p.default is not p.empty]
    assert defaults == [ast.literal_eval(value) for value in stock.args.defaults]


def test_loop_through_tvm_containers() -> None:
    order = list(inspect.signature(ffi.schedule_loop).parameters)
    arguments = [tvm_ffi.convert(LOOP[name]) for name in order]
    starts, versions, ii = tvm_ffi.convert(ffi.schedule_loop)(*arguments)
    assert ii == 161
    problem = loop_problem(**LOOP)
    assert violations(problem, tuple(map(int, starts)), ii, tuple(map(int, versions))) == []
    assert (list(starts), list(versions), ii) == ffi.schedule_loop(**LOOP)


def test_region_through_tvm_containers() -> None:
    arguments = [
        tvm_ffi.convert([list(r) if isinstance(r, tuple) else r for r in rows])
        for rows in REGION.values()
    ]
    assert list(tvm_ffi.convert(ffi.schedule_region)(*arguments)) == [0, 5, 10]
    assert ffi.z3_schedule_python(**REGION) == ([0, 5, 10], [0, 1, 2])


def test_optional_rows_may_be_missing() -> None:
    assert ffi.schedule_region([5], [1], [1], [], []) == [0]
    assert ffi.schedule_loop(1, [5], [1], [1], [], [], None, None, [], []) == ([0], [], 1)


def test_versions_are_the_least_unless_asked_otherwise() -> None:
    rows = dict(LOOP, num_stages=6)
    _, least, ii = ffi.z3_schedule_loop_python(**rows)
    starts, granted, same = ffi.z3_schedule_loop_python(**rows, recalculate_buffer_versions=False)
    assert ii == same and all(a <= b for a, b in zip(least, granted, strict=True))
    assert least != granted == [6, 6]
    assert violations(loop_problem(**rows), tuple(starts), ii, tuple(granted)) == []


def test_seed_is_accepted_and_changes_nothing_here() -> None:
    results = [ffi.z3_schedule_loop_python(**LOOP, seed=seed) for seed in (None, 1, 42)]
    assert results[0] == results[1] == results[2]


def test_verbose_writes_numbered_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "debug" / "schedule_001").mkdir(parents=True)
    for number in (0, 2):
        result = ffi.z3_schedule_loop_python(**LOOP, verbose=True)
        folder = tmp_path / "debug" / f"schedule_{number:03d}"
        info = json.loads((folder / "schedule_info.json").read_text())
        assert info["start_times"] == result[0] and info["minimal_II"] == result[2]
        assert info["latencies"] == LOOP["latencies"] and info["random_seed"] == 42
        assert ffi.solve_json((folder / "problem.json").read_text()) == ffi.solve_json(
            loop_problem(**LOOP).to_json()
        )
        lines = (folder / "schedule_timeline.txt").read_text().splitlines()
        assert len(lines) == 1 + len(LOOP["latencies"])
    assert "II 161 (optimal)" in capsys.readouterr().out


def test_impossible_and_bad_rows_raise_one_clear_line() -> None:
    with pytest.raises(ffi.ScheduleError, match=r"this region cannot be scheduled: .*needs"):
        ffi.schedule_region(**{**REGION, "data_deps": [(0, 2, 10), (2, 0, 1)]})
    manual = dict(LOOP, enable_offset=True, manual_schedule=True, manual_stages=[2, 0, 2, 0, 0, 0])
    with pytest.raises(ffi.ScheduleError, match=r"manual.*T\.Stage\(2\) on task0.*change one"):
        ffi.schedule_loop(**manual)
    with pytest.raises(ProblemError, match=r"tasks\[1\].interval = 0"):
        ffi.schedule_region(**{**REGION, "iis": [5, 0, 5]})
    assert issubclass(ffi.ScheduleError, ValueError)


def test_no_tasks_is_the_runtime_error_that_tilelang_raises() -> None:
    nothing = {name: [] for name in REGION}
    for entry in (ffi.schedule_region, ffi.z3_schedule_python):
        with pytest.raises(RuntimeError, match="this region has no tasks"):
            entry(**nothing)
    rows = dict(LOOP, latencies=[], iis=[], resource_flags=[])
    for entry in (ffi.schedule_loop, ffi.z3_schedule_loop_python):
        with pytest.raises(RuntimeError, match="this loop has no tasks"):
            entry(**rows)


def test_solve_json_tells_every_verdict() -> None:
    answer = json.loads(ffi.solve_json(chains(2).with_trip_count(16).to_json()))
    assert answer["verdict"] == "optimal" and answer["objective"] == "time"
    assert answer["value"] == 15 * answer["ii"] + answer["depth"]
    assert answer["gap"] == 0 and len(answer["starts"]) == 6
    data = json.loads(chains(2).to_json())
    data["edges"].append({"src": 2, "dst": 0, "latency": 1})
    answer = json.loads(ffi.solve_json(json.dumps(data)))
    assert answer["verdict"] == "infeasible" and len(answer["reasons"]) == 2


def test_a_client_completes_problems_and_hears_answers_in_its_own_thread() -> None:
    heard: dict[str, list] = {"here": [], "there": []}

    def client(name: str, trips: int) -> ffi.Client:
        def prepare(kind, problem):
            return problem.with_trip_count(trips), {"engine": "branch"}

        def observe(kind, problem, answer, seconds):
            heard[name].append((kind, problem.trip_count, answer.verdict, seconds >= 0))

        return ffi.Client(prepare, observe)

    def there() -> None:
        with ffi.working_for(client("there", 4)):
            ffi.schedule_loop(**LOOP)

    with ffi.working_for(client("here", 2)):
        thread = threading.Thread(target=there)
        thread.start()
        thread.join()
        ffi.schedule_region(**REGION)
    ffi.schedule_loop(**LOOP)  # nobody's
    assert heard["there"] == [("loop", 4, Verdict.OPTIMAL, True)]
    assert [row[0] for row in heard["here"]] == ["region"]
