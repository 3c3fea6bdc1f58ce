"""Problems: what goes in comes out of JSON, and what cannot be meant is refused by its row."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings

from tests.solver.problems import chains, recorded_loops, tiny_loops, tiny_regions
from tilelang_ascend_sched.solver import (
    Buffer,
    Edge,
    MemoryGroup,
    OwnerExclusion,
    Policy,
    ProblemError,
    Resource,
    ScheduleProblem,
    Task,
)
from tilelang_ascend_sched.solver.stock import loop_problem

BASE = chains(2)


@settings(deadline=None, derandomize=True)
@given(tiny_loops() | tiny_regions())
def test_json_round_trip(problem: ScheduleProblem) -> None:
    assert ScheduleProblem.from_json(problem.to_json()) == problem


def test_recorded_problems_round_trip() -> None:
    for row in recorded_loops():
        problem = loop_problem(**row["problem"], name=row["name"]).with_trip_count(7)
        assert ScheduleProblem.from_json(problem.to_json(indent=1)) == problem


def test_another_version_is_refused_saying_so() -> None:
    data = json.loads(BASE.to_json())
    data["version"] = 99
    with pytest.raises(ProblemError, match=r"version 99.*reads 1"):
        ScheduleProblem.from_json(json.dumps(data))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "something else"}, "'format'"),
        ({"surprise": 1}, "unknown field 'surprise'"),
        ({"tasks": 3}, "tasks: expected a list"),
        ({"tasks": [{"name": "x"}]}, r"tasks\[0\]"),
        ({"edges": [{"src": 0, "dst": 1, "latency": 1, "speed": 2}]}, r"edges\[0\].*speed"),
        ({"edges": [{"src": 0, "dst": 1, "latency": 1.5}]}, r"edges\[0\].latency.*integer"),
        ({"edges": [{"src": 0, "dst": 1, "latency": True}]}, r"edges\[0\].latency.*integer"),
        ({"trip_count": 0}, "trip_count = 0"),
        ({"kind": "spiral"}, "kind"),
        ({"policy": {"max_versions": 0}}, "max_versions = 0"),
        ({"policy": {"pipe_order": [[0]]}}, r"pipe_order\[0\]"),
    ],
)
def test_bad_json_names_the_field(change: dict, message: str) -> None:
    data = {**json.loads(BASE.to_json()), **change}
    with pytest.raises(ProblemError, match=message):
        ScheduleProblem.from_json(json.dumps(data))


def test_text_that_is_not_json() -> None:
    with pytest.raises(ProblemError, match="not JSON"):
        ScheduleProblem.from_json("{")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "expected JSON text, got NoneType"),
        (b"{}", "expected JSON text, got bytes"),
        ("[" * 100_000, "nested too deeply"),
        (BASE.to_json().replace('"name": "', '"name": "\\ud800', 1), "lone surrogate"),
        (BASE.to_json().replace('"latency": ', '"latency": ' + "9" * 5000, 1), "digits"),
        (BASE.to_json().replace('"latency": ', '"latency": ' + "9" * 50, 1), "64 bits"),
        (BASE.to_json().replace('"version": 1', '"version": true'), "version True"),
        (BASE.to_json().replace('"version": 1', '"version": 1.0'), "version 1.0"),
        (BASE.to_json().replace('"latency"', '"late"', 1), r"tasks\[0\]: unknown field 'late'"),
    ],
)
def test_text_that_no_problem_was_written_as(text: str, message: str) -> None:
    with pytest.raises(ProblemError, match=message) as error:
        ScheduleProblem.from_json(text)
    assert "\n" not in str(error.value) and len(str(error.value)) < 200


def test_a_missing_field_is_named() -> None:
    data = json.loads(BASE.to_json())
    del data["tasks"][1]["latency"]
    with pytest.raises(ProblemError, match=r"^tasks\[1\]: the field 'latency' is missing$"):
        ScheduleProblem.from_json(json.dumps(data))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tasks": ()}, "nothing to schedule"),
        ({"tasks": (Task("a", (), 1, 0),)}, r"tasks\[0\].interval = 0"),
        ({"tasks": (Task("a", (), -1, 1),)}, r"tasks\[0\].latency = -1"),
        ({"tasks": (Task("a", (), 2**63, 1),)}, "64 bits"),
        ({"tasks": (Task("a", (), 2**62, 1), Task("b", (), 2**62, 1))}, "more than 64 bits"),
        ({"edges": (Edge(0, 9, 1),)}, r"edges\[0\].dst = 9: there is no such task"),
        ({"edges": (Edge(0, 1, 1), Edge(-1, 0, 1))}, r"edges\[1\].src = -1"),
        ({"edges": (Edge(0, 1, 1, -1),)}, r"edges\[0\].distance = -1"),
        ({"edges": (Edge(0, 1, 1, 0, 5),)}, r"edges\[0\].buffer = 5: there is no such buffer"),
        ({"edges": (Edge(0, 1, 1, 2, 0),)}, r"edges\[0\] has both"),
        ({"resources": (Resource("r", (0, 0)),)}, r"resources\[0\] \(r\) lists a task twice"),
        ({"resources": (Resource("r", (0, 7)),)}, r"resources\[0\].tasks = 7"),
        ({"exclusions": (OwnerExclusion(1, 1, 0, 0),)}, r"exclusions\[0\].*exclude itself"),
        ({"exclusions": (OwnerExclusion(0, 1, -3, 0),)}, r"exclusions\[0\].gap_forward = -3"),
        ({"buffers": (Buffer("b", -8), Buffer("c", 1))}, r"buffers\[0\].size = -8"),
        ({"memory_groups": (MemoryGroup("UB", 100, (0,)),)}, r"memory_groups\[0\] \(UB\).*1024"),
        ({"memory_groups": (MemoryGroup("UB", 9999, (4,)),)}, r"memory_groups\[0\].buffers = 4"),
        ({"policy": Policy(manual_stages=(0, 1))}, "2 stages for 6 tasks"),
        ({"policy": Policy(manual_stages=(0, 0, 0, 0, 0, 1))}, "allow_offset"),
        ({"policy": Policy(stage_order=((0, 6),))}, r"stage_order\[0\] = 6"),
        ({"kind": "region"}, "crosses iterations"),
    ],
)
def test_bad_rows_are_named(change: dict, message: str) -> None:
    fields = {"tasks": BASE.tasks, "buffers": BASE.buffers, "edges": BASE.edges} | change
    if "tasks" in change:
        fields["edges"] = ()
    with pytest.raises(ProblemError, match=message) as error:
        ScheduleProblem(**fields)
    assert isinstance(error.value, ValueError) and "\n" not in str(error.value)


def test_a_group_without_buffers_may_be_overdrawn() -> None:
    """The compiler subtracts what is not versioned; nothing is left to decide in such a group."""
    groups = (*BASE.memory_groups, MemoryGroup("L0A", -5, ()))
    assert replace(BASE, memory_groups=groups).memory_groups[-1].capacity == -5


def test_rows_of_the_compiler_are_named_too() -> None:
    rows = dict(recorded_loops()[0]["problem"])
    with pytest.raises(ProblemError, match=r"data_deps\[0\] has 3 figures, expected 4"):
        loop_problem(**{**rows, "data_deps": [[0, 1, 2]]})
    with pytest.raises(ProblemError, match=r"edges\[0\].buffer = 6"):
        loop_problem(**{**rows, "data_deps": [[0, 1, -7, 2]]})
    with pytest.raises(ProblemError, match="3 latencies, 4 issue intervals"):
        loop_problem(**{**rows, "latencies": [1, 2, 3]})
