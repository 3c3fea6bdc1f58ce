"""Writes a solved loop to ``debug/schedule_NNN`` for people to look at."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from .answer import ScheduleAnswer
from .problem import ScheduleProblem

_COLOURS = {
    "Cube": "gold",
    "Vector": "tab:green",
    "MTE2": "tab:red",
    "MTE3": "tab:orange",
    "MTE1": "tab:cyan",
    "Fixpipe": "tab:pink",
}
_WIDTH = 72  # characters of a text timeline


def write(
    problem: ScheduleProblem, answer: ScheduleAnswer, arguments: dict[str, Any], base: str = "debug"
) -> Path:
    """Creates the first free ``schedule_NNN`` below ``base`` and returns it.

    It holds the problem and answer as JSON, ``schedule_info.json`` with the arguments and result
    by name, a timeline as text and, where matplotlib is installed, as PNG and PDF.
    """
    folder = _first_free(Path(base))
    order = sorted(range(len(answer.starts)), key=lambda i: (answer.starts[i], i))
    info = {
        **arguments,
        "num_tasks": len(problem.tasks),
        "minimal_II": answer.ii,
        "start_times": list(answer.starts),
        "buffer_versions": list(answer.versions),
        "sorted_indices": order,
        "verdict": answer.verdict.value,
        "timestamp": time.time(),
    }
    (folder / "schedule_info.json").write_text(json.dumps(info, indent=2) + "\n")
    (folder / "problem.json").write_text(problem.to_json(indent=2) + "\n")
    (folder / "answer.json").write_text(answer.to_json(indent=2) + "\n")
    (folder / "schedule_timeline.txt").write_text(timeline(problem, answer))
    _draw(problem, answer, folder)
    return folder


def _first_free(base: Path) -> Path:
    number = 0
    while True:
        folder = base / f"schedule_{number:03d}"
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:
            number += 1


def timeline(problem: ScheduleProblem, answer: ScheduleAnswer) -> str:
    """One line a task, to scale: ``#`` while it issues, ``-`` until its results are there."""
    end = max(s + t.latency for s, t in zip(answer.starts, problem.tasks, strict=True))
    scale = max(1, -(-end // _WIDTH))
    widest = max(len(t.name) for t in problem.tasks)
    lines = [f"II {answer.ii}, one character is {scale} cycles"]
    for start, task in sorted(
        zip(answer.starts, problem.tasks, strict=True), key=lambda row: row[0]
    ):
        issue = max(1, min(task.interval, task.latency) // scale)
        rest = max(0, task.latency // scale - issue)
        bar = " " * (start // scale) + "#" * issue + "-" * rest
        lines.append(f"{task.name:{widest}} {'/'.join(task.pipes):12} {start:8} {bar}")
    return "\n".join(lines) + "\n"


def _draw(problem: ScheduleProblem, answer: ScheduleAnswer, folder: Path) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    figure = Figure(figsize=(14, 1 + 0.4 * len(problem.tasks)))
    axes = figure.add_subplot()
    for row, (start, task) in enumerate(zip(answer.starts, problem.tasks, strict=True)):
        colour = next((_COLOURS[p] for p in task.pipes if p in _COLOURS), "tab:blue")
        issue = min(task.interval, task.latency)
        axes.broken_barh([(start, issue)], (row - 0.4, 0.8), color=colour)
        axes.broken_barh(
            [(start + issue, task.latency - issue)], (row - 0.4, 0.8), color=colour, alpha=0.4
        )
    axes.set_yticks(range(len(problem.tasks)), [t.name for t in problem.tasks])
    axes.invert_yaxis()
    axes.set_xlabel("cycles")
    axes.set_title(f"II {answer.ii}")
    for suffix in ("png", "pdf"):
        figure.savefig(folder / f"schedule_timeline.{suffix}", bbox_inches="tight")
