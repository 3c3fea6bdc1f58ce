"""``python -m benchmarks.verify.cost``: how far the check proves the example kernels, at what cost.

The check's share in the lowering time of its kernel, and how its time grows with the number of
independent streams in a kernel: both are ratios within one run. Seconds are processor time, so
that what else the machine does is not in them.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from functools import partial

import click
import numpy as np

from benchmarks.emulator.subject import SIDES
from benchmarks.tables import show
from benchmarks.verify.subject import lower_only
from examples import WORKLOADS
from examples.streams import streams
from tilelang_ascend_sched.verify import VerifyReport

COLUMNS = ("kernel", "passes", "verdict", "check, ms", "share", "paths", "instructions")
MOST_SHARE = 0.1
"""The median share of the check in the lowering time must not be more."""
MOST_EXPONENT = 1.5
"""Nor the exponent with which its time grows over the streams."""
STREAMS = (4, 8, 12, 16, 18)
"""More do not lower: their flags need more locks than there are."""


@dataclass(frozen=True)
class Cost:
    """One kernel lowered and checked: processor seconds of both, and what the check says."""

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


class Costs:
    """The costs of example kernels and of other numbers of streams, each measured once."""

    def __init__(self, repeat: int) -> None:
        self._repeat = repeat
        self._found: dict[tuple[str, str], Cost | None] = {}

    def of(self, name: str, side: str) -> Cost | None:
        """Of a kernel by the passes of a side; None if TileLang refuses it."""
        if (name, side) not in self._found:
            try:
                found = self._measure(name, side)
            except Exception:  # TileLang refuses kernels by exceptions of any kind
                found = None
            self._found[name, side] = found
            text = f"lowered in {found.lowering:.1f} s" if found else "not lowered"
            click.echo(f"{name} {side}: {text}", err=True)
        return self._found[name, side]

    def _measure(self, name: str, side: str) -> Cost:
        """Lowers once, checks several times; the median counts."""
        build = WORKLOADS[name].build if name in WORKLOADS else partial(streams, _number(name))
        started = time.process_time()
        lowered = lower_only(build, side)
        lowering = time.process_time() - started
        seconds = []
        for _ in range(self._repeat):
            started = time.process_time()
            report = lowered.check()
            seconds.append(time.process_time() - started)
        return Cost(lowering, statistics.median(seconds), report)

    def growth(self, side: str) -> tuple[float, list[int]]:
        """The exponent over kernels of few to many streams, by least squares on logarithms, and
        the numbers of streams that were measured."""
        found = {number: self.of(f"streams_{number}", side) for number in STREAMS}
        sizes = [number for number, cost in found.items() if cost]
        seconds = [cost.check for cost in found.values() if cost]
        return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0]), sizes


def _number(name: str) -> int:
    return int(name.removeprefix("streams_"))


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
    costs = Costs(repeat)
    rows, shares = [], []
    verdicts: dict[str, Counter[str]] = {side: Counter() for side in SIDES}
    for name in names or WORKLOADS:
        for side in SIDES:
            found = costs.of(name, side)
            if found is None:
                rows.append((name, side, "not lowered", *[""] * 4))
                continue
            shares.append(found.share)
            verdicts[side][found.report.verdict] += 1
            paths, steps = found.report.paths, found.report.instructions
            milliseconds, share = f"{found.check * 1000:.1f}", f"{found.share:.4f}"
            rows.append((name, side, found.verdict, milliseconds, share, f"{paths}", f"{steps:,}"))
    show(COLUMNS, rows, markdown, left=3)
    for side, count in verdicts.items():
        click.echo(f"{side}: {', '.join(f'{n} {v}' for v, n in sorted(count.items()))}")
    median, most = statistics.median(shares), max(shares)
    click.echo(f"share of the check in the lowering: median {median:.4f}, most {most:.4f}")
    powers = []
    for side in SIDES if not names else ():
        power, numbers = costs.growth(side)
        powers.append(power)
        told = ", ".join(map(str, numbers))
        click.echo(f"{side}: grows as the power {power:.2f} of the streams ({told})")
    fine = median <= MOST_SHARE and all(power <= MOST_EXPONENT for power in powers)
    raise click.exceptions.Exit(0 if fine else 1)


if __name__ == "__main__":
    cost(prog_name="python -m benchmarks.verify.cost")
