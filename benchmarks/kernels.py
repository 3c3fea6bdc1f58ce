"""Lowering time and modelled run time of the example kernels, ours against stock."""

from __future__ import annotations

import statistics
import time
import warnings
from dataclasses import dataclass

import click
import numpy as np

import tilelang_ascend_sched
from examples import WORKLOADS, Workload
from tilelang_ascend_sched.emulator import emulate, launch


@dataclass(frozen=True)
class Side:
    """One kernel lowered by one scheduler: seconds, and modelled cycles of block 0."""

    seconds: float
    cycles: int


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--repeat", default=3, show_default=True, help="Lowerings; the median counts.")
def kernels(names: tuple[str, ...], repeat: int) -> None:
    """Compare ours and stock on the example kernels NAME (default: all) as a Markdown table."""
    warnings.simplefilter("ignore")
    rows = []
    for name in names or WORKLOADS:
        stock = _measure(WORKLOADS[name], False, repeat)
        ours = _measure(WORKLOADS[name], True, repeat)
        rows.append((name, stock, ours))
        click.echo(f"{name} done", err=True)
    click.echo("| kernel | lowering, stock / ours | cycles, stock | cycles, ours | ours / stock |")
    click.echo("|---|---:|---:|---:|---:|")
    for name, stock, ours in rows:
        if isinstance(stock, str) or isinstance(ours, str):
            click.echo(f"| {name} | stock: {_outcome(stock)}; ours: {_outcome(ours)} | | | |")
            continue
        speed, cycles = stock.seconds / ours.seconds, ours.cycles / stock.cycles
        click.echo(f"| {name} | {speed:.2f} | {stock.cycles:,} | {ours.cycles:,} | {cycles:.3f} |")
    pairs = [(s, o) for _, s, o in rows if isinstance(s, Side) and isinstance(o, Side)]
    if pairs:
        speed = statistics.median(s.seconds / o.seconds for s, o in pairs)
        cycles = statistics.geometric_mean(o.cycles / s.cycles for s, o in pairs)
        click.echo(f"| all | median {speed:.2f} | | | geometric mean {cycles:.3f} |")


def _outcome(side: Side | str) -> str:
    return side if isinstance(side, str) else "lowers"


def _measure(workload: Workload, ours: bool, repeat: int) -> Side | str:
    """The side's figures, or the last line of the error with which it refuses the kernel."""
    seconds = []
    with tilelang_ascend_sched.enabled() if ours else tilelang_ascend_sched.disabled():
        func = workload.build()
        try:
            for _ in range(repeat):
                started = time.perf_counter()
                lowered = launch.lower(func)
                seconds.append(time.perf_counter() - started)
        except Exception as error:
            return f"refused, {type(error).__name__}"
    arrays = workload.arguments(workload.inputs(np.random.default_rng(0)))
    symbols = {
        extent: length
        for parameter in lowered.parameters
        for extent, length in zip(parameter.shape, arrays[parameter.name].shape, strict=True)
        if isinstance(extent, str)
    }
    result = emulate(lowered.text, blocks=1, arguments=arrays | symbols)
    cycles = sum(kernel.times[0]["cycles"] for kernel in result.kernels)
    return Side(statistics.median(seconds), cycles)
