"""TileLang's solver and ours on the same problems, in one run, cold.

python -m benchmarks.solver.compare --quick        about a minute
python -m benchmarks.solver.compare --write        everything, into docs/solver.md
"""

from __future__ import annotations

import contextlib
import io
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from tilelang.ascend.transform import z3_scheduler

from benchmarks.solver import workload
from tilelang_ascend_sched import disable
from tilelang_ascend_sched.solver import ScheduleAnswer, ScheduleProblem, Verdict, solve
from tilelang_ascend_sched.solver.stock import loop_problem

TRIPS = (1, 2, 4, 16, 256)
DOCUMENT = Path(__file__).parents[2] / "docs" / "solver.md"
MARKS = ("<!-- results -->\n", "<!-- end of results -->\n")


@dataclass
class Row:
    """One problem, both answers, and the CPU seconds each took."""

    name: str
    problem: ScheduleProblem
    ours: ScheduleAnswer
    seconds: float
    stock_value: int | None = None
    stock_depth: int = 0
    stock_seconds: float = 0.0

    @property
    def ratio(self) -> float:
        """How many times longer stock took."""
        return self.stock_seconds / max(self.seconds, 1e-6)


def _timed(run: Callable[[], Any]) -> tuple[Any, float]:
    """The result and the CPU seconds it took, which other work on the machine does not change."""
    begin = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        result = run()
    return result, time.process_time() - begin


def _loop(name: str, rows: dict[str, Any], *, stock: bool = True) -> Row:
    print(name, file=sys.stderr, flush=True)
    problem = loop_problem(**rows, name=name)
    # The conversion is part of what a caller waits for.
    ours, seconds = _timed(lambda: solve(loop_problem(**rows, name=name), objective="ii"))
    row = Row(name, problem, ours, seconds)
    if stock:
        answer, row.stock_seconds = _timed(lambda: z3_scheduler.z3_schedule_loop_python(**rows))
        starts, _, row.stock_value = answer
        ends = (s + lat for s, lat in zip(starts, rows["latencies"], strict=True))
        row.stock_depth = max(ends) - min(starts)
    return row


def _region(problem: ScheduleProblem) -> Row:
    rows = workload.region_rows(problem)
    ours, seconds = _timed(lambda: solve(problem))
    row = Row(problem.name, problem, ours, seconds)
    try:
        (starts, _), row.stock_seconds = _timed(lambda: z3_scheduler.z3_schedule_python(**rows))
        row.stock_value = max(s + lat for s, lat in zip(starts, rows["latencies"], strict=True))
    except RuntimeError:
        row.stock_seconds = float("nan")
    return row


def _cells(title: str, rows: list[Row]) -> list[str]:
    known = [row for row in rows if row.stock_value is not None]
    ratios = [row.ours.value / row.stock_value for row in known if row.stock_value]
    speed = [row.ratio for row in known]
    slowest = sorted(known, key=lambda row: row.stock_seconds)[-10:]
    proven = sum(row.ours.verdict is Verdict.OPTIMAL for row in rows)
    return [
        title,
        str(len(rows)),
        f"{100 * proven / len(rows):.0f}%",
        str(sum(row.ours.value > row.stock_value for row in known)),
        str(len(rows) - len(known)),
        f"{statistics.geometric_mean(ratios):.3f}" if ratios else "-",
        f"{min(ratios):.3f}" if ratios else "-",
        f"{statistics.median(speed):.0f}x" if speed else "-",
        f"{statistics.median(row.ratio for row in slowest):.0f}x" if slowest else "-",
        f"{max(row.seconds for row in rows):.2f} s",
    ]


SUMMARY = (
    "problems",
    "count",
    "proven optimal",
    "above stock",
    "stock gave up",
    "ours/stock, mean",
    "ours/stock, least",
    "stock/ours in time, median",
    "of stock's slowest ten",
    "our slowest",
)


def _time_table(rows: list[Row], trips: Iterable[int]) -> list[list[str]]:
    table = []
    for count in trips:
        ratios, proven, above, slowest = [], 0, 0, 0.0
        for row in rows:
            problem = row.problem.with_trip_count(count)
            answer, seconds = _timed(lambda problem=problem: solve(problem))
            theirs = (count - 1) * row.stock_value + row.stock_depth
            ratios.append(answer.value / theirs)
            proven += answer.verdict is Verdict.OPTIMAL
            above += answer.value > theirs
            slowest = max(slowest, seconds)
        mean, least = statistics.geometric_mean(ratios), min(ratios)
        share = f"{100 * proven / len(rows):.0f}%"
        cells = [count, share, above, f"{mean:.3f}", f"{least:.3f}", f"{slowest:.2f} s"]
        table.append([str(cell) for cell in cells])
    return table


TIMES = ("trips", "proven optimal", "above stock", "ours/stock, mean", "least", "our slowest")


def _growth(counts: Iterable[int], most_with_stock: int) -> list[list[str]]:
    table = []
    for count in counts:
        row = _loop(*workload.chains(count), stock=count <= most_with_stock)
        theirs = "-" if row.stock_value is None else str(row.stock_value)
        speed = "-" if row.stock_value is None else f"{row.ratio:.0f}x"
        ours = row.ours
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        table.append(
            [
                *(str(x) for x in (count, 3 * count, ours.ii, ours.lower_bound)),
                *(ours.verdict.value, theirs, f"{row.seconds:.2f} s", speed, f"{memory} MiB"),
            ]
        )
    return table


GROWTH = (
    *("chains", "tasks", "our II", "bound", "verdict", "stock's II", "our time", "stock/ours"),
    "process so far",
)


class Report:
    """Prints tables as they come and keeps them as Markdown."""

    def __init__(self) -> None:
        self.console = Console(width=160)
        self.text: list[str] = []

    def add(self, title: str, columns: Iterable[str], rows: list[list[str]]) -> None:
        """Prints one table."""
        columns = list(columns)
        table = Table(*columns, title=title)
        for row in rows:
            table.add_row(*row)
        self.console.print(table)
        lines = [columns, ["---"] * len(columns), *rows]
        self.text.append(f"**{title}**\n\n" + "".join(f"| {' | '.join(x)} |\n" for x in lines))


@click.command()
@click.option("--quick", is_flag=True, help="A subset that takes about a minute.")
@click.option("--write", is_flag=True, help="Put the tables into docs/solver.md.")
def main(quick: bool, write: bool) -> None:
    """Compare TileLang's solver with ours."""
    disable()
    report = Report()
    loops = workload.recorded()
    if quick:  # what stock needed more than two seconds for takes most of the time
        loops = [loop for loop in loops if not workload.slow(loop[0])][::2]
    recorded = [_loop(*loop) for loop in loops]
    summary = [_cells("recorded loops", recorded)]
    permuted = loops[::3]
    permuted = [workload.permuted(name, rows, seed=1) for name, rows in permuted]
    summary.append(_cells("permuted copies", [_loop(*loop) for loop in permuted]))
    sizes = ((6, 4),) if quick else ((6, 8), (12, 4), (20, 2), (30, 1), (50, 1))
    random = [workload.generated(n, seed) for n, count in sizes for seed in range(count)]
    summary.append(_cells("generated loops", [_loop(*loop) for loop in random]))
    regions = [_region(problem) for problem in workload.regions()]
    summary.append(_cells("regions of examples", regions))
    sizes = ((6, 4),) if quick else ((4, 8), (8, 8), (15, 4), (25, 2))
    lists = [workload.generated_region(n, seed) for n, count in sizes for seed in range(count)]
    summary.append(_cells("generated regions", [_region(problem) for problem in lists]))
    report.add("II alone (regions: makespan)", SUMMARY, summary)
    trips = TRIPS[::2] if quick else TRIPS
    report.add("Time of the whole loop, recorded loops", TIMES, _time_table(recorded, trips))
    counts = (1, 2, 4, 16) if quick else (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128)
    report.add("Growth", GROWTH, _growth(counts, 2 if quick else 12))
    if write:
        _write(report, " ".join(["python -m benchmarks.solver.compare", *sys.argv[1:]]))


def _write(report: Report, command: str) -> None:
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    head = f"Made with `{command}` on {machine}.\n\n"
    before, rest = DOCUMENT.read_text().split(MARKS[0])
    _, after = rest.split(MARKS[1])
    body = head + "\n".join(report.text)
    DOCUMENT.write_text(before + MARKS[0] + body + MARKS[1] + after)


if __name__ == "__main__":
    main()
