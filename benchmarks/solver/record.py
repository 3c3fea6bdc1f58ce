"""Lowers the example kernels and saves every problem their scheduling asks the solver.

python -m benchmarks.solver.record tests/data/problems/examples.json [NAME...]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from unittest import mock

from examples import WORKLOADS
from tilelang_ascend_sched.lowering import lower
from tilelang_ascend_sched.solver import ScheduleAnswer, ScheduleProblem, ffi, solve


def record(names: list[str]) -> list[dict[str, Any]]:
    """The distinct problems of these examples, in the order they were asked."""
    found: dict[str, dict[str, Any]] = {}

    def listen(problem: ScheduleProblem, **options: Any) -> ScheduleAnswer:
        row = json.loads(problem.to_json())
        found.setdefault(json.dumps({**row, "name": "", "tasks": _bare(row)}), row)
        return solve(problem, **options)

    with mock.patch.object(ffi, "solve", listen):
        for name in names:
            print(name, file=sys.stderr, flush=True)
            try:
                lower(WORKLOADS[name].build())
            except Exception as error:  # what was asked until then is still worth keeping
                print(f"  not lowered: {str(error).splitlines()[0]}", file=sys.stderr)
    return list(found.values())


def _bare(row: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**task, "name": ""} for task in row["tasks"]]


if __name__ == "__main__":
    target, *names = sys.argv[1:]
    rows = record(names or list(WORKLOADS))
    Path(target).write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    print(f"{len(rows)} problems in {target}", file=sys.stderr)
