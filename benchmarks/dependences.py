"""``python -m benchmarks.dependences``: how the time of the analysis grows with the kernel.

Seconds are processor time of the analysis alone, the least of several runs.
"""

from __future__ import annotations

import sys
import time
import warnings

import click

from benchmarks.front_passes import COUNTS, STEEPEST, exponent
from examples.streams import streams
from tilelang_ascend_sched.deps import _before_auto_schedule, dependences_of


def seconds(count: int, repeat: int) -> float:
    """Of the analysis of ``count`` independent streams."""
    (function,) = _before_auto_schedule(streams(count)).functions.values()
    least = float("inf")
    for _ in range(repeat):
        started = time.thread_time()
        dependences_of(function)
        least = min(least, time.thread_time() - started)
    return least


@click.command()
@click.option("--repeat", default=3, show_default=True, help="Runs of each; the least counts.")
def dependences(repeat: int) -> None:
    """Time the dependence analysis on ever more streams. Ends with 1 if it grows faster than the
    power 1.3 of their number."""
    warnings.simplefilter("ignore")
    taken = []
    for count in COUNTS:
        taken.append(seconds(count, repeat))
        click.echo(f"streams_{count}: {taken[-1] * 1e3:.1f} ms")
    power = exponent(COUNTS, taken)
    click.echo(f"time grows as n^{power:.2f}")
    sys.exit(power > STEEPEST)


if __name__ == "__main__":
    dependences(prog_name="python -m benchmarks.dependences")
