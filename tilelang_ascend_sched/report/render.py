"""The schedule report as tables for a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table

from .schedule import LoopReport, ScheduleReport


def render(
    report: ScheduleReport,
    console: Console | None = None,
    *,
    executed_sync: Mapping[str, float] | None = None,
) -> None:
    """Print ``report``; ``executed_sync`` adds sync instructions executed a block, by core."""
    console = console or Console()
    console.print(f"[bold]Schedule of {report.kernel}[/bold]")
    if not report.scheduled:
        console.print("not scheduled: tl.enable_auto_schedule is off")
    else:
        console.print(_loop_table(report))
        _print_witnesses(report, console)
        console.print(_buffer_table(report))
    if executed_sync is not None:
        console.print(_sync_table(executed_sync))
    console.print(_pass_table(report))
    for note in report.notes:
        style = "yellow" if note.kind == "degraded" else "dim"
        console.print(f"{note.source}: {note.message}", style=style, markup=False)


def _loop_table(report: ScheduleReport) -> Table:
    table = Table(title="Loops and regions (cycles)", title_justify="left")
    numbers = ("trips", "tasks", "II", "II bound", "stages", "time", "bound")
    for column in ("loop", *numbers, "verdict"):
        table.add_column(column, justify="right" if column in numbers else "left")
    for loop in report.loops:
        timed = loop.objective != "ii"
        table.add_row(
            loop.name,
            _number(loop.trips),
            _number(len(loop.tasks)),
            _number(loop.ii),
            _number(loop.ii_bound),
            _number(loop.stages),
            _number(loop.value if timed else None),
            _number(loop.lower_bound if timed else None),
            verdict_text(loop),
        )
    return table


def _print_witnesses(report: ScheduleReport, console: Console) -> None:
    """What forces each loop's II, under the table: these are sentences."""
    for loop in report.loops:
        figure = "II" if loop.kind == "loop" else "makespan"
        if loop.witness:
            console.print(f"{loop.name}: {figure} forced by {loop.witness}", markup=False)
    console.print()


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def verdict_text(loop: LoopReport) -> str:
    """The verdict with its gap, such as ``optimal`` or ``feasible, gap 2.1%``."""
    if loop.verdict != "feasible" or loop.value is None or loop.lower_bound <= 0:
        return loop.verdict.replace("_", " ")
    return f"feasible, gap {100 * (loop.value / loop.lower_bound - 1):.1f}%"


def _buffer_table(report: ScheduleReport) -> Table:
    table = Table(title="Buffer versions", title_justify="left")
    table.add_column("buffer")
    table.add_column("scope")
    table.add_column("versions", justify="right")
    table.add_column("bytes", justify="right")
    for buffer in report.buffers:
        table.add_row(buffer.name, buffer.scope, str(buffer.versions), f"{buffer.bytes:,}")
    table.add_section()
    for scope, used in report.scope_bytes().items():
        capacity = report.capacities[scope]
        share = f"{used:,} of {capacity:,} ({100 * used / capacity:.0f}%)"
        table.add_row("all, before reuse", scope, "", share)
    return table


def _sync_table(executed: Mapping[str, float]) -> Table:
    table = Table(title="Executed sync instructions a block", title_justify="left")
    table.add_column("core")
    table.add_column("count", justify="right")
    for name, count in executed.items():
        table.add_row(name, f"{count:g}")
    return table


def _pass_table(report: ScheduleReport) -> Table:
    table = Table(title="Passes", title_justify="left")
    table.add_column("pass")
    table.add_column("owner")
    table.add_column("seconds", justify="right")
    for entry in report.passes:
        seconds = "-" if entry.seconds is None else f"{entry.seconds:.3f}"
        table.add_row(entry.name, entry.owner, seconds)
    return table
