"""``python -m benchmarks.front_passes``: time of the passes that come before scheduling.

Both sides work on the same modules, those that the stock chain hands to each pass. Seconds are
processor time, the least of several runs that take turns; what else the machine does is not in it.
"""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click
import tilelang
import tilelang.ascend.transform as ascend_transform
import tvm
from rich.console import Console
from rich.table import Table
from tvm_ffi import get_global_func

import tilelang_ascend_sched
from examples import WORKLOADS
from examples.streams import streams
from tilelang_ascend_sched.transform import GLOBAL_PREFIX

PASSES = {
    "NormalizeControlFlowForSchedule": "control flow",
    "NormalizeConflictHints": "hints",
    "MaterializeScheduleUnits": "units",
    "EstimateLatency": "latency",
}
"""Name of each pass and its heading, in the order of the chain."""

_LAST = "EstimateLatency"

MOST = 1.5
"""Ours may take this many times stock's time on a workload, all four passes together."""

STEEPEST = 1.3
"""Ours may grow with the number of streams like this power of it."""

COUNTS = (4, 8, 16, 32, 64, 128)

Seconds = dict[str, float]
Pass = Callable[[tvm.IRModule], tvm.IRModule]


class _Reached(Exception):
    """The last of the passes has its module; the rest of the lowering is of no interest."""


def modules(function: tvm.tirx.PrimFunc) -> dict[str, tvm.IRModule]:
    """What the stock chain hands to each of the passes."""
    seen: dict[str, tvm.IRModule] = {}

    def recorder(name: str, make: Callable[[], Pass]) -> Callable[[], Pass]:
        def run(module: tvm.IRModule) -> tvm.IRModule:
            seen[name] = module
            if name == _LAST:
                raise _Reached
            return make()(module)

        return lambda: run

    with (
        tilelang_ascend_sched.disabled(),
        _replaced(recorder),
        tvm.target.Target("ascend"),
        suppress(_Reached),
    ):
        tilelang.lower(function, target="ascend")
    return seen


@contextmanager
def _replaced(around: Callable[[str, Callable[[], Pass]], Any]) -> Iterator[None]:
    stock = {name: getattr(ascend_transform, name) for name in PASSES}
    for name, make in stock.items():
        setattr(ascend_transform, name, around(name, make))
    try:
        yield
    finally:
        for name, make in stock.items():
            setattr(ascend_transform, name, make)


def measure(function: tvm.tirx.PrimFunc, repeat: int) -> tuple[Seconds, Seconds]:
    """Seconds of each pass on the function's modules, ours and stock's."""
    ours: Seconds = {}
    stock: Seconds = {}
    for name, module in modules(function).items():
        with tilelang_ascend_sched.disabled():
            theirs = getattr(ascend_transform, name)()
        mine = get_global_func(GLOBAL_PREFIX + name)()
        ours[name] = stock[name] = math.inf
        for _ in range(repeat):
            ours[name] = min(ours[name], _seconds(mine, module))
            stock[name] = min(stock[name], _seconds(theirs, module))
    return ours, stock


def _seconds(run: Pass, module: tvm.IRModule) -> float:
    started = time.thread_time()
    run(module)
    return time.thread_time() - started


def exponent(counts: tuple[int, ...], seconds: list[float]) -> float:
    """The power of ``counts`` that ``seconds`` grow with, by least squares on both logarithms."""
    xs, ys = [math.log(n) for n in counts], [math.log(s) for s in seconds]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum(
        (a - x) ** 2 for a in xs
    )


def _table(title: str) -> Table:
    table = Table(title=title)
    table.add_column("kernel")
    for heading in ("stock, ms", "ours, ms", "ours / stock", *PASSES.values()):
        table.add_column(heading, justify="right")
    return table


def _row(name: str, ours: Seconds, stock: Seconds) -> list[str]:
    total, theirs = sum(ours.values()), sum(stock.values())
    each = [f"{ours[p] / stock[p]:.2f}" for p in PASSES]
    return [name, f"{theirs * 1e3:.2f}", f"{total * 1e3:.2f}", f"{total / theirs:.2f}", *each]


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--repeat", default=9, show_default=True, help="Runs of a pass; the least counts.")
def front_passes(names: tuple[str, ...], repeat: int) -> None:
    """Time the passes before scheduling, ours over stock, on kernels NAME (default: all) and on
    ever more streams. Ends with 1 if a kernel takes ours over 1.5 times as long, or if ours grow
    faster than the power 1.3 of the streams."""
    unknown = [name for name in names if name not in WORKLOADS]
    if unknown:
        raise click.UsageError(f"no kernel {unknown[0]!r}; there are {', '.join(WORKLOADS)}")
    warnings.simplefilter("ignore")
    console = Console()
    slow = []

    table = _table("kernels; under each pass, ours / stock")
    for name in names or WORKLOADS:
        ours, stock = measure(WORKLOADS[name].build(), repeat)
        table.add_row(*_row(name, ours, stock))
        if sum(ours.values()) > MOST * sum(stock.values()):
            slow.append(f"{name} takes more than {MOST} times stock's time")
    console.print(table)

    table = _table("streams; under each pass, ours / stock")
    grown = {"ours": [], "stock": []}
    for count in COUNTS:
        ours, stock = measure(streams(count), repeat)
        table.add_row(*_row(f"streams_{count}", ours, stock))
        grown["ours"].append(sum(ours.values()))
        grown["stock"].append(sum(stock.values()))
    console.print(table)
    powers = {side: exponent(COUNTS, seconds) for side, seconds in grown.items()}
    console.print(
        f"time grows as n^{powers['ours']:.2f} for ours, n^{powers['stock']:.2f} for stock"
    )
    if powers["ours"] > STEEPEST:
        slow.append(f"ours grow as n^{powers['ours']:.2f}, more than n^{STEEPEST}")
    for line in slow:
        console.print(line, style="red")
    sys.exit(bool(slow))


if __name__ == "__main__":
    front_passes(prog_name="python -m benchmarks.front_passes")
