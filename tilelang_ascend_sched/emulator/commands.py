"""The shell commands ``run`` and ``check``."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from tilelang_ascend_sched.emulator import timeline
from tilelang_ascend_sched.emulator.api import emulate
from tilelang_ascend_sched.emulator.build import CompileError
from tilelang_ascend_sched.emulator.job import POLICIES, Settings
from tilelang_ascend_sched.emulator.load import load, make_arguments, summary
from tilelang_ascend_sched.emulator.result import Finding, KernelRun, Result
from tilelang_ascend_sched.emulator.timing import Timing, timing
from tilelang_ascend_sched.status import BAD, FINE, Unable
from tilelang_ascend_sched.target import one_line

CHECKED_POLICIES = ("eager", "lazy", "random")


@dataclass(frozen=True)
class Request:
    """What both commands are told."""

    target: str
    words: tuple[str, ...]
    blocks: int | None
    seed: int
    as_json: bool
    timeline: Path | None
    budget: int
    console: Console = field(default_factory=lambda: Console(stderr=True))

    def run(self, kernel: Any, policy: str, seed: int) -> tuple[Result, dict[str, Any]]:
        """Emulates once; returns the arguments as the kernel left them too."""
        arguments = make_arguments(self.words, self.seed)
        result = emulate(
            kernel,
            policy=policy,
            seed=seed,
            blocks=self.blocks,
            settings=Settings(step_budget=self.budget),
            arguments=arguments,
        )
        return result, arguments


def _timeline_path(
    context: click.Context, parameter: click.Parameter, path: Path | None
) -> Path | None:
    """Refuses before the run what could not be written after it."""
    if path is None:
        return None
    if path.suffix not in (".json", ".svg"):
        raise click.BadParameter(f"{path} ends neither in .json nor in .svg")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise click.BadParameter(f"{path} cannot be written")
    return path


def _options(command: Any) -> Any:
    for option in reversed(
        [
            click.argument("target", metavar="FILE:NAME|FILE.asc"),
            click.option(
                "--arg",
                "words",
                multiple=True,
                metavar="NAME=VALUE",
                help="16x64:float32[:zeros|ones|arange|normal], a .npy file, or a number.",
            ),
            click.option("--blocks", type=click.IntRange(0), help="Blocks; needed for text."),
            click.option("--seed", type=click.IntRange(0), default=0, help="Of data and policy."),
            click.option("--json", "as_json", is_flag=True, help="Write the result as JSON."),
            click.option(
                "--timeline",
                type=click.Path(dir_okay=False, path_type=Path),
                callback=_timeline_path,
                help="Write a timeline: .svg, or .json for Perfetto.",
            ),
            click.option(
                "--budget",
                type=click.IntRange(1),
                default=Settings.step_budget,
                metavar="STEPS",
                help="Scheduler steps that a block may take.",
            ),
        ]
    ):
        command = option(command)
    return command


@click.command()
@_options
@click.option(
    "--policy", type=click.Choice(POLICIES), default="eager", help="How pipes interleave."
)
def run(policy: str, **options: Any) -> None:
    """Run a kernel on the CPU: its results, its findings, its modelled cycles.

    The exit status is 0 if nothing is wrong, 1 if the kernel has findings, 2 if it could not run.
    """
    request = Request(**options)
    result, arguments = _guarded(request, [(policy, request.seed)])[0]
    _finish(request, [result], arguments)


@click.command()
@_options
@click.option(
    "--policy",
    "policies",
    type=click.Choice(POLICIES),
    multiple=True,
    help="How pipes interleave; by default eager, lazy and random.",
)
def check(policies: tuple[str, ...], **options: Any) -> None:
    """Look for races, deadlocks and other faults of a kernel under several interleavings.

    The exit status is 0 if nothing is wrong, 1 if the kernel has findings, 2 if it could not run.
    """
    request = Request(**options)
    plan = [(policy, request.seed) for policy in policies or CHECKED_POLICIES]
    done = _guarded(request, plan)
    _finish(request, [result for result, _ in done], None)


def _guarded(request: Request, plan: list[tuple[str, int]]) -> list[tuple[Result, dict[str, Any]]]:
    """Runs the plan under a progress bar; what the user got wrong is one line on stderr."""
    # Ends like an exception, so that the worker and the folder shared with it go too.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        kernel = load(request.target)
    except ValueError as problem:
        raise Unable(str(problem)) from None
    try:
        console = request.console
        quiet = not console.is_terminal
        with Progress(console=console, transient=True, disable=quiet) as progress:
            task = progress.add_task("running", total=len(plan))
            done = []
            for policy, seed in plan:
                progress.update(task, description=f"running {request.target} ({policy})")
                done.append(request.run(kernel, policy, seed))
                progress.advance(task)
        return done
    except CompileError as problem:
        raise Unable(str(problem)) from None
    except Exception as problem:  # TileLang refuses kernels by exceptions of any kind
        own = type(problem) in (ValueError, RuntimeError)
        text = one_line(problem) if own else f"{request.target}: {one_line(problem)}"
        raise Unable(text) from None


def _finish(request: Request, results: list[Result], arguments: dict[str, Any] | None) -> None:
    findings = _distinct(f for result in results for f in result.findings)
    figures = [(kernel, timing(kernel)) for kernel in results[0].kernels]
    if results[0].printed and not request.as_json:
        click.echo(results[0].printed, nl=False)
    if request.timeline is not None:
        picture = timeline.svg if request.timeline.suffix == ".svg" else timeline.chrome_trace
        request.timeline.write_text(picture(results[0]))
    if request.as_json:
        click.echo(json.dumps(_as_json(results[0], findings, figures, arguments), indent=2))
    else:
        _print(Console(), results[0], findings, figures, arguments)
    sys.exit(BAD if findings else FINE)


def _distinct(findings: Iterable[Finding]) -> list[Finding]:
    seen: dict[tuple[str, Any], Finding] = {}
    for finding in findings:
        key = (finding.kind, tuple((s.pipe, s.file, s.line) for s in finding.sites))
        seen.setdefault(key if finding.sites else (finding.kind, finding.message), finding)
    return list(seen.values())


def _as_json(
    result: Result,
    findings: list[Finding],
    figures: list[tuple[KernelRun, Timing | None]],
    arguments: dict[str, Any] | None,
) -> dict[str, Any]:
    data: dict[str, Any] = {
        "ok": not findings,
        "findings": [
            {
                "kind": f.kind,
                "message": f.message,
                "block": f.block,
                "sites": [
                    {
                        "core": s.core,
                        "pipe": s.pipe,
                        "instruction": s.instruction,
                        "file": s.file,
                        "line": s.line,
                        "kernel_line": s.kernel_line,
                    }
                    for s in f.sites
                ],
            }
            for f in findings
        ],
        "kernels": [
            {
                "name": kernel.name,
                "blocks": len(kernel.syncs),
                "cycles": figure.cycles,
                "slowest_block": figure.block,
                "floor": figure.floor.cycles,
                "busy": {f"{c} {p}": round(share, 4) for (c, p), share in figure.busy.items()},
                "critical_path": [
                    [e.core, e.pipe, e.name, e.line, e.start, e.end] for e in figure.critical_path
                ],
            }
            for kernel, figure in figures
            if figure is not None
        ],
    }
    if arguments is not None:
        data["arrays"] = summary(arguments)
    return data


def _print(
    console: Console,
    result: Result,
    findings: list[Finding],
    figures: list[tuple[KernelRun, Timing | None]],
    arguments: dict[str, Any] | None,
) -> None:
    if arguments is not None:
        console.print(_arrays_table(arguments))
    for kernel, figure in figures:
        if not kernel.syncs:
            console.print(f"{kernel.name}: no block was run", highlight=False)
        if figure is None:
            continue
        floor = figure.floor
        console.print(
            f"{kernel.name}: {figure.cycles:,} modelled cycles in block {figure.block}, at least "
            f"{floor.cycles:,} by {floor.core} {floor.pipe}",
            highlight=False,
        )
        console.print(_time_table(figure))
    if not findings:
        console.print("[green]no findings[/green]")
        return
    count = f"{len(findings)} finding" + ("s" if len(findings) > 1 else "")
    table = Table(title=count, title_justify="left")
    for column in ("kind", "line", "what"):
        table.add_column(column, overflow="fold")
    for f in findings:
        lines = ", ".join(str(s.kernel_line) for s in f.sites if s.kernel_line)
        table.add_row(f.kind, lines, f.message)
    console.print(table, markup=False)


def _arrays_table(arguments: dict[str, Any]) -> Table:
    table = Table(title="Arrays after the run", title_justify="left")
    for column in ("name", "shape", "dtype", "min", "max", "NaN", "sha256"):
        table.add_column(column)
    for name, a in summary(arguments).items():
        low, high = ("-" if a[k] is None else f"{a[k]:.6g}" for k in ("min", "max"))
        shape = "x".join(map(str, a["shape"]))
        table.add_row(name, shape, a["dtype"], low, high, str(a["nan"]), a["sha256"])
    return table


def _time_table(figure: Timing) -> Table:
    table = Table()
    table.add_column("core")
    table.add_column("pipe")
    table.add_column("busy", justify="right")
    for (core, pipe), share in figure.busy.items():
        table.add_row(core, pipe, f"{share:.1%}")
    return table
