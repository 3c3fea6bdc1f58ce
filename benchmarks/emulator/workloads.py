"""``python -m benchmarks.emulator.workloads``: every example kernel, all blocks, against numpy.

Each is run once with all checks, then its numbers alone under random interleavings of several
seeds and with each pipe that it uses starved: findings of the race check and cycles are the same
under every policy.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.emulator.subject import SIDES, Subject, lower
from examples import WORKLOADS
from tilelang_ascend_sched.emulator import Finding, Result
from tilelang_ascend_sched.emulator.result import PIPES
from tilelang_ascend_sched.emulator.timing import timing
from tilelang_ascend_sched.target import one_line

EXTRA_SIZES: dict[str, tuple[dict[str, int], ...]] = {"dynamic_add": ({"m": 0}, {"m": 1})}
"""Sizes at which a kernel is run besides its own."""


@dataclass(frozen=True)
class Row:
    """The outcome of one kernel, scheduled by one side."""

    name: str
    side: str
    verdict: str
    runs: int = 0
    error: float = 0.0
    share: float = 0.0
    findings: tuple[str, ...] = ()
    cycles: int = 0
    seconds: float = 0.0

    @property
    def right(self) -> bool:
        """Nothing is wrong, or there is no kernel to be wrong."""
        return self.verdict in ("right", "refused")


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--tiny", is_flag=True, help="At the small sizes that the tests use.")
@click.option("--seeds", type=click.IntRange(0), default=3, show_default=True, help="Random runs.")
@click.option("--side", "sides", type=click.Choice(SIDES), multiple=True, help="Default: both.")
@click.option("--markdown", is_flag=True, help="A Markdown table.")
def workloads(
    names: tuple[str, ...], tiny: bool, seeds: int, sides: tuple[str, ...], markdown: bool
) -> None:
    """Run the example kernels NAME (default: all) under many interleavings, against numpy.

    The exit status is 0 if all are right, 1 if one is not, 2 for wrong use.
    """
    if unknown := [name for name in names if name not in WORKLOADS]:
        raise click.UsageError(f"no example {unknown[0]!r}; there are {', '.join(WORKLOADS)}")
    warnings.simplefilter("ignore")
    console = Console()
    rows = []
    for name in names or WORKLOADS:
        base = dict(WORKLOADS[name].tiny) if tiny else {}
        for extra in ({}, *EXTRA_SIZES.get(name, ())):
            found = _rows(name, {**base, **extra}, extra, sides or SIDES, seeds)
            for row in found:
                click.echo(f"{row.name} {row.side}: {row.verdict}, {row.seconds:.0f} s", err=True)
                rows.append(row)
    if markdown:
        click.echo(_markdown(rows))
    else:
        console.print(_table(rows))
    for row in rows:
        for finding in row.findings:
            console.print(f"{row.name} {row.side}: {finding}", markup=False, soft_wrap=True)
    raise click.exceptions.Exit(0 if all(row.right for row in rows) else 1)


def _rows(
    name: str, sizes: dict[str, int], extra: dict[str, int], sides: tuple[str, ...], seeds: int
) -> Iterator[Row]:
    label = ", ".join([name, *(f"{key} {value}" for key, value in extra.items())])
    earlier: dict[str, Row] = {}
    for side in sides:
        started = time.perf_counter()
        try:
            subject = lower(name, side, **sizes)
        except Exception as error:  # TileLang refuses kernels by exceptions of any kind
            yield Row(label, side, "refused", findings=(one_line(error),))
            continue
        row = earlier.get(subject.text) or _examine(subject, label, seeds)
        earlier[subject.text] = row
        seconds = time.perf_counter() - started
        yield Row(**{**vars(row), "side": side, "seconds": seconds})


def _examine(subject: Subject, label: str, seeds: int) -> Row:
    result, arrays = subject.run()
    findings = [str(finding) for finding in result.findings]
    problems = subject.wrong(arrays)
    errors = [subject.error(arrays)]
    plan = [("random", seed) for seed in range(seeds)]
    plan += [(f"starve:{pipe}", 0) for pipe in _used_pipes(result)]
    for policy, seed in plan:
        other, arrays = subject.run(policy=policy, seed=seed, race=False, time=False)
        findings += [f"{policy} {seed}: {finding}" for finding in _unseen(other, result)]
        problems += [f"{policy} {seed}: {problem}" for problem in subject.wrong(arrays)]
        errors.append(subject.error(arrays))
    verdict = "wrong" if problems else "findings" if findings else "right"
    figures = [timing(kernel) for kernel in result.kernels]
    cycles = sum(figure.cycles for figure in figures if figure is not None)
    error, share = (max(column) for column in zip(*errors, strict=True))
    return Row(label, "", verdict, len(errors), error, share, (*findings, *problems), cycles)


def _used_pipes(result: Result) -> list[str]:
    """The pipes that execute instructions on some core; starving another one changes nothing."""
    counts = np.zeros(len(PIPES), np.int64)
    for kernel in result.kernels:
        if kernel.executed:
            counts += np.sum(kernel.executed, axis=(0, 1))
    return ["S", *(pipe for pipe, n in zip(PIPES, counts, strict=True) if n and pipe != "S")]


def _unseen(result: Result, before: Result) -> list[Finding]:
    known = {str(finding) for finding in before.findings}
    return [finding for finding in result.findings if str(finding) not in known]


def _cells(row: Row) -> tuple[str, ...]:
    if row.verdict == "refused":
        return row.name, row.side, row.verdict, *[""] * 5
    error = "0" if row.error == 0 else f"{row.error:.1e}"
    counts = str(row.runs), error, f"{row.share:.0%}", str(len(row.findings)), f"{row.cycles:,}"
    return row.name, row.side, row.verdict, *counts


COLUMNS = (
    *("kernel", "passes", "verdict", "runs"),
    *("max error", "of tolerance", "findings", "cycles"),
)


def _table(rows: list[Row]) -> Table:
    table = Table()
    for i, column in enumerate(COLUMNS):
        table.add_column(column, justify="left" if i < 3 else "right", no_wrap=True)
    for row in rows:
        style = "red" if not row.right else "yellow" if row.verdict == "refused" else None
        table.add_row(*_cells(row), style=style)
    return table


def _markdown(rows: list[Row]) -> str:
    lines = [COLUMNS, ("---", "---", "---", *["---:"] * 5), *map(_cells, rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    workloads(prog_name="python -m benchmarks.emulator.workloads")
