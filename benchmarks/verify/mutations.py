"""``python -m benchmarks.verify.mutations``: each synchronization statement of each kernel changed.

Every statement is deleted, moved one place up, moved one place down, and given another id. The
check has to refuse the kernel, or the statement has to be redundant: the emulator runs the kernel
under several policies, its race check finds nothing, and the results are right. Barriers among the
threads of a SIMT region are no statements of the check, for which such a region is one instruction;
``python -m benchmarks.emulator.mutations`` deletes them.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import click
import numpy as np

from benchmarks.emulator.subject import SIDES
from benchmarks.tables import show
from benchmarks.verify.subject import Subject, lower
from examples import WORKLOADS
from tests.fuzz.execute import Batch
from tests.verify.mutate import Mutant, mutants
from tilelang_ascend_sched.verify import NOT_PROVEN, PROVEN, REFUSED

TOGETHER = 12
"""Kernels that are compiled together."""
STEPS = 200_000_000
POLICIES = ("random", "lazy")
STARVING = ("starve:V", "starve:MTE2", "starve:MTE3", "starve:MTE1", "starve:FIX")
"""Also tried where less happens before some access."""

QUEUES = "every pipe gets the same instructions in the same order"
CLOSURE = "the same happens before each access"
SPARE = "what it orders does not conflict"
UNPROVEN, FALSE_DOUBT, MISSED = "not proven, wrong", "not proven, right", "missed"
NO_KERNEL = "no kernel: the id comes before the variable that it is made of"
REDUNDANT = (QUEUES, CLOSURE, SPARE)
DISAGREE = (FALSE_DOUBT, MISSED)


@dataclass(frozen=True)
class Tried:
    """A changed kernel and what came of it.

    outcome: REFUSED; UNPROVEN, of which the emulator says that it is wrong; one of REDUNDANT, the
      reason for which it is as right as before; or one of DISAGREE.
    complaints: what the emulator found.
    """

    mutant: Mutant
    outcome: str
    complaints: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "; ".join([f"{self.mutant}: {self.outcome}", *self.complaints[:2]])


class NotProvenError(ValueError):
    """The kernel itself is not proven, so that no verdict on a mutant of it means anything."""


def tried(subject: Subject) -> list[Tried]:
    """Every mutant of a kernel. NotProvenError; ValueError: the kernel itself runs wrong."""
    report = subject.check()
    if report.verdict != PROVEN:
        raise NotProvenError(str(report))
    found, open_ones = [], []
    for mutant in mutants(subject.device):
        verdict = subject.check(mutant.func).verdict
        if verdict == REFUSED:
            found.append(Tried(mutant, REFUSED))
        else:
            open_ones.append((mutant, verdict))
    for first in range(0, len(open_ones), TOGETHER):
        found += _emulated(subject, open_ones[first : first + TOGETHER])
    return found


def _emulated(subject: Subject, changed: Sequence[tuple[Mutant, str]]) -> list[Tried]:
    device = subject.device
    name = str(device.attrs["global_symbol"])
    original = subject.text(device, f"{name}_original")
    assert original is not None
    found, texts = [], []
    for number, (mutant, verdict) in enumerate(changed):
        text = subject.text(mutant.func, f"{name}_mutant{number}")
        if text is None:
            found.append(Tried(mutant, NO_KERNEL))
        else:
            texts.append((mutant, verdict, text))
    batch = Batch([original, *(text for _, _, text in texts)])
    whole, wrong = _run(subject, batch, original, (*POLICIES, *STARVING))
    if wrong:
        raise ValueError(f"{name}: {wrong[0]}")
    for mutant, verdict, text in texts:
        closure, wrong = _run(subject, batch, text, POLICIES)
        if closure != whole and not wrong:
            _, wrong = _run(subject, batch, text, STARVING)
        if verdict == NOT_PROVEN:
            outcome = UNPROVEN if wrong else FALSE_DOUBT
        elif wrong:
            outcome = MISSED
        elif mutant.same_queues:
            outcome = QUEUES
        else:
            outcome = CLOSURE if closure == whole else SPARE
        found.append(Tried(mutant, outcome, tuple(wrong)))
    return found


def _run(
    subject: Subject, batch: Batch, text: str, policies: Sequence[str]
) -> tuple[int, list[str]]:
    """A digest of what happens before each access, and what is wrong."""
    closure, wrong = 0, []
    for seed, policy in enumerate(policies):
        given, blocks = subject.arguments()
        result = batch.run(
            text, given, blocks=blocks, policy=policy, seed=seed, steps=STEPS, closure=not seed
        )
        wrong += [f"{policy}: {finding}" for finding in result.findings[:1]]
        if not seed:
            closure = result.kernels[0].closure
        arrays = {n: array for n, array in given.items() if isinstance(array, np.ndarray)}
        wrong += [f"{policy}: {message}" for message in subject.emulated.wrong(arrays)[:1]]
    return closure, wrong


COLUMNS = (
    *("kernel", "passes", "changed", "refused", "not proven, wrong"),
    *("same queues", "same order", "spare order", "disagree"),
)


def _cells(name: str, side: str, count: Counter[str]) -> tuple[str, ...]:
    figures = [count[key] for key in (REFUSED, UNPROVEN, *REDUNDANT)]
    disagree = sum(count[key] for key in DISAGREE)
    return name, side, *map(str, [count.total(), *figures, disagree])


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--side", "sides", type=click.Choice(SIDES), multiple=True, help="Default: both.")
@click.option("--markdown", is_flag=True, help="A Markdown table.")
def mutations(names: tuple[str, ...], sides: tuple[str, ...], markdown: bool) -> None:
    """Change each synchronization statement of the example kernels NAME (default: all), at small
    sizes.

    The exit status is 0 if the check and the emulator agree on every change, 1 if not, 2 for
    wrong use.
    """
    if unknown := [name for name in names if name not in WORKLOADS]:
        raise click.UsageError(f"no example {unknown[0]!r}; there are {', '.join(WORKLOADS)}")
    warnings.simplefilter("ignore")
    rows: list[tuple[str, ...]] = []
    told: list[str] = []
    total: Counter[str] = Counter()
    for name in names or WORKLOADS:
        earlier: dict[str, str] = {}
        for side in sides or SIDES:
            try:
                subject = lower(name, side, **WORKLOADS[name].tiny)
            except Exception:  # TileLang refuses kernels by exceptions of any kind
                rows.append((name, side, "not lowered", *[""] * 6))
                continue
            text = subject.emulated.text
            if text in earlier:
                rows.append((name, side, f"as {earlier[text]}", *[""] * 6))
                continue
            earlier[text] = side
            try:
                found = tried(subject)
            except NotProvenError:
                rows.append((name, side, "itself not proven", *[""] * 6))
                continue
            count = Counter(each.outcome for each in found)
            total += count
            rows.append(_cells(name, side, count))
            told += [f"{name} {side}: {t}" for t in found if t.outcome not in (REFUSED, QUEUES)]
            click.echo(" ".join(rows[-1]), err=True)
    rows.append(_cells("all", "", total))
    show(COLUMNS, rows, markdown)
    for line in told:
        click.echo(line)
    wrong = sum(total[key] for key in DISAGREE)
    click.echo(f"{total[REFUSED] / max(total.total(), 1):.1%} refused, {wrong} disagree")
    raise click.exceptions.Exit(1 if wrong else 0)


if __name__ == "__main__":
    mutations(prog_name="python -m benchmarks.verify.mutations")
