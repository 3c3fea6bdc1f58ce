"""``python -m benchmarks.verify.cost``: how far the check proves the example kernels, at what cost.

All figures are ratios within one run: the check's share in the lowering time of its kernel, and how
its time grows with the number of independent streams in a kernel.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from benchmarks.emulator.subject import SIDES
from benchmarks.tables import show
from benchmarks.verify.subject import lower_only
from examples import WORKLOADS
from examples.streams import streams
from tilelang_ascend_sched.verify import VerifyReport

MOST_SHARE = 0.1
"""The median share of the check in the lowering time must not be more."""
MOST_EXPONENT = 1.5
"""Nor the exponent with which its time grows over the streams."""
STREAMS = (2, 4, 8, 12, 16, 18)
"""More do not lower: their flags need more locks than there are."""


@dataclass(frozen=True)
class Cost:
    """One kernel lowered and checked: seconds of both, and what the check says."""

    lowering: float
    check: float
    report: VerifyReport

    @property
    def share(self) -> float:
        """Of the check in the lowering with it."""
        return self.check / (self.lowering + self.check)

    @property
    def verdict(self) -> str:
        """With the kinds of what was found."""
        kinds = Counter(finding.kind for finding in self.report.findings)
        reasons = ", ".join(sorted(kinds))
        return self.report.verdict.replace("_", " ") + (f": {reasons}" if reasons else "")


def measure(build: Callable[[], Any], side: str, repeat: int) -> Cost:
    """Lowers once, checks ``repeat`` times; the median counts. Raises what the lowering raises."""
    started = time.perf_counter()
    lowered = lower_only(build, side)
    lowering = time.perf_counter() - started
    seconds = []
    for _ in range(repeat):
        started = time.perf_counter()
        report = lowered.check()
        seconds.append(time.perf_counter() - started)
    return Cost(lowering, statistics.median(seconds), report)


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """The power of ``sizes`` by which ``seconds`` grow, by least squares on logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def growth(side: str, repeat: int) -> float:
    """The exponent over kernels of few to many streams."""
    sizes, seconds = [], []
    for number in STREAMS:
        try:
            cost = measure(lambda number=number: streams(number), side, repeat)
        except Exception:  # TileLang refuses kernels by exceptions of any kind
            continue
        sizes.append(number)
        seconds.append(cost.check)
    return exponent(sizes, seconds)


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--repeat", default=5, show_default=True, help="Checks; the median counts.")
@click.option("--markdown", is_flag=True, help="A Markdown table.")
def cost(names: tuple[str, ...], repeat: int, markdown: bool) -> None:
    """Check the example kernels NAME (default: all), lowered by ours and by stock.

    The exit status is 0 if the check takes at most a tenth of the lowering, median over the
    kernels, and grows at most as the power 1.5 of the streams; 1 if not, 2 for wrong use.
    """
    if unknown := [name for name in names if name not in WORKLOADS]:
        raise click.UsageError(f"no example {unknown[0]!r}; there are {', '.join(WORKLOADS)}")
    warnings.simplefilter("ignore")
    rows, shares = [], []
    verdicts: dict[str, Counter[str]] = {side: Counter() for side in SIDES}
    for name in names or WORKLOADS:
        for side in SIDES:
            try:
                found = measure(WORKLOADS[name].build, side, repeat)
            except Exception:  # TileLang refuses kernels by exceptions of any kind
                rows.append((name, side, "not lowered", "", "", ""))
                continue
            shares.append(found.share)
            verdicts[side][found.report.verdict] += 1
            paths, steps = found.report.paths, found.report.instructions
            rows.append((name, side, found.verdict, f"{found.share:.3f}", f"{paths}", f"{steps:,}"))
        click.echo(name, err=True)
    show(("kernel", "passes", "verdict", "share", "paths", "instructions"), rows, markdown, left=3)
    for side, count in verdicts.items():
        click.echo(f"{side}: {', '.join(f'{n} {v}' for v, n in sorted(count.items()))}")
    median = statistics.median(shares)
    click.echo(f"median share of the check in the lowering {median:.3f}")
    powers = {side: growth(side, repeat) for side in SIDES} if not names else {}
    for side, power in powers.items():
        click.echo(f"grows as the power {power:.2f} of the streams ({side})")
    fine = median <= MOST_SHARE and all(power <= MOST_EXPONENT for power in powers.values())
    raise click.exceptions.Exit(0 if fine else 1)


if __name__ == "__main__":
    cost(prog_name="python -m benchmarks.verify.cost")
