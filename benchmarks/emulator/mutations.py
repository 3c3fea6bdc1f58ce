"""``python -m benchmarks.emulator.mutations``: each synchronization line of each kernel deleted.

Every kernel is run without one of its lines after the other, and the checks have to object: by a
race, or by what became of a flag, a lock or a barrier. The results are not looked at. A line that
nothing objects to has to be proven redundant: without it the same happens before each access, or,
for a barrier among the threads of a SIMT region, for a reason given here.

A kernel without one of its sets mostly stops at a wait. So the lines of a whole channel, such as
all flags from MTE2 to V, are deleted together as well, at the kernel's full size, where every
ring of buffers goes round: nothing waits then, and a race has to show.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from dataclasses import dataclass

import click

from benchmarks.emulator.subject import SIDES, Subject, lower
from benchmarks.tables import show
from examples import WORKLOADS
from tilelang_ascend_sched.emulator import Result

LEAST = 0.97
"""Share of the lines, redundant ones included, that have to be objected to."""

WITHIN = "the reduction between these two has barriers of its own, its last at its end"
DISJOINT = "the threads of the region never touch a byte that another writes"
REASONS = {
    ("rmsnorm", 0): WITHIN,
    ("rmsnorm", 1): WITHIN,
    ("topk", 0): DISJOINT,
    ("topk", 1): DISJOINT,
}
"""By kernel and by which of its block-wide SIMT barriers: why nothing needs it."""

_SYNC = re.compile(r"\s*asc_(sync|lock|unlock)")
_BARRIER = "asc_syncthreads();"

RACE, STATE, CLOSURE, REASON, MISSED = "race", "state", "closure", "reason", "missed"


@dataclass(frozen=True)
class Mutant:
    """A deleted line: where it was, and by what it was found or proven redundant.

    outcome: RACE; STATE (a deadlock, or a flag, lock or barrier misused); CLOSURE, REASON
      (redundant); MISSED.
    """

    line: int
    text: str
    outcome: str


def sync_lines(text: str) -> list[int]:
    """Indices of the lines that synchronize."""
    return [i for i, line in enumerate(text.splitlines()) if _SYNC.match(line)]


def simt_barriers(text: str) -> list[int]:
    """Indices of the block-wide barriers of SIMT regions."""
    return [i for i, line in enumerate(text.splitlines()) if line.strip() == _BARRIER]


_CHANNEL = re.compile(
    r"asc_sync_(?:notify|wait)\((PIPE_\w+), (PIPE_\w+)"
    r"|asc_(?:sync_)?(?:un)?(?P<kind>lock|intra|block|subblock|inter)"
)


def channels(text: str) -> dict[str, list[int]]:
    """Indices of the lines that carry one kind of order: the flags from one pipe to another, locks,
    cross-core flags."""
    found: dict[str, list[int]] = {}
    lines = text.splitlines()
    for i in sync_lines(text):
        if match := _CHANNEL.search(lines[i]):
            name = match["kind"] or f"{match[1]} to {match[2]}".replace("PIPE_", "")
            found.setdefault(name, []).append(i)
    return found


def delete(text: str, *indices: int) -> str:
    """``text`` with these lines, which have to synchronize, left empty."""
    lines = text.splitlines()
    for i in indices:
        if not _SYNC.match(lines[i]):
            raise ValueError(f"line {i + 1} does not synchronize: {lines[i]}")
        lines[i] = ""
    return "\n".join(lines)


def _closures(result: Result) -> tuple[int, ...]:
    return tuple(kernel.closure for kernel in result.kernels)


def mutants(subject: Subject) -> list[Mutant]:
    """What comes of each synchronization line's absence. ValueError: the kernel itself is wrong."""
    whole, _ = subject.run(closure=True)
    if not whole.ok:
        raise ValueError(f"{subject.workload.name}: {whole.findings[0]}")
    barriers = simt_barriers(subject.text)
    reasons = {barriers[n] for name, n in REASONS if name == subject.workload.name}
    lines = subject.text.splitlines()
    found = []
    for i in sync_lines(subject.text):
        result, _ = subject.run(delete(subject.text, i), closure=True)
        if any(finding.kind.startswith("race") for finding in result.findings):
            outcome = RACE
        elif result.findings:
            outcome = STATE
        elif i in reasons:
            outcome = REASON
        elif lines[i].strip() != _BARRIER and _closures(result) == _closures(whole):
            outcome = CLOSURE
        else:
            outcome = MISSED
        found.append(Mutant(i + 1, lines[i].strip(), outcome))
    return found


def silent_channels(subject: Subject) -> tuple[int, list[str]]:
    """How many channels the kernel has, and those without which no race shows."""
    found = channels(subject.text)
    silent = []
    for name, lines in found.items():
        result, _ = subject.run(delete(subject.text, *lines))
        if not any(finding.kind.startswith("race") for finding in result.findings):
            silent.append(name)
    return len(found), silent


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--side", "sides", type=click.Choice(SIDES), multiple=True, help="Default: both.")
@click.option("--markdown", is_flag=True, help="A Markdown table.")
def mutations(names: tuple[str, ...], sides: tuple[str, ...], markdown: bool) -> None:
    """Delete each synchronization line of the example kernels NAME (default: all), at small sizes.

    The exit status is 0 if 97% are objected to and the rest is redundant, 1 if not, 2 for wrong
    use.
    """
    if unknown := [name for name in names if name not in WORKLOADS]:
        raise click.UsageError(f"no example {unknown[0]!r}; there are {', '.join(WORKLOADS)}")
    warnings.simplefilter("ignore")
    rows: list[tuple[str, ...]] = []
    told: list[str] = []
    channel_count = 0
    total: Counter[str] = Counter()
    for name in names or WORKLOADS:
        earlier: dict[str, str] = {}
        for side in sides or SIDES:
            try:
                subject = lower(name, side, **WORKLOADS[name].tiny)
            except Exception:  # TileLang refuses kernels by exceptions of any kind
                rows.append((name, side, "refused", "", "", "", ""))
                continue
            if subject.text in earlier:
                rows.append((name, side, f"as {earlier[subject.text]}", "", "", "", ""))
                continue
            earlier[subject.text] = side
            found = mutants(subject)
            count = Counter(m.outcome for m in found)
            total += count
            rows.append(_cells(name, side, count))
            number, silent = silent_channels(lower(name, side))
            channel_count += number
            told += [f"{name} {side}: no race without the channel {c}" for c in silent]
            told += [f"{name} {side}: {_told(m, name, subject)}" for m in found if _odd(m)]
            click.echo(f"{name} {side}: {dict(sorted(count.items()))}", err=True)
    rows.append(_cells("all", "", total))
    show(COLUMNS, rows, markdown)
    for line in told:
        click.echo(line)
    share = (total[RACE] + total[STATE]) / max(total.total(), 1)
    click.echo(f"{share:.1%} of the lines objected to, {total[MISSED]} missed")
    silent_count = sum(" no race without " in line for line in told)
    click.echo(f"{channel_count - silent_count} of {channel_count} channels show a race")
    raise click.exceptions.Exit(0 if share >= LEAST and not total[MISSED] else 1)


def _odd(mutant: Mutant) -> bool:
    return mutant.outcome in (CLOSURE, REASON, MISSED)


def _told(mutant: Mutant, name: str, subject: Subject) -> str:
    why = "missed"
    if mutant.outcome == CLOSURE:
        why = "redundant: without it the same happens before each access"
    elif mutant.outcome == REASON:
        which = simt_barriers(subject.text).index(mutant.line - 1)
        why = f"redundant: {REASONS[name, which]}"
    return f"line {mutant.line}, {mutant.text} {why}"


COLUMNS = ("kernel", "passes", "lines", "by a race", "by flags and waits", "redundant", "missed")


def _cells(name: str, side: str, count: Counter[str]) -> tuple[str, ...]:
    redundant = count[CLOSURE] + count[REASON]
    figures = (count.total(), count[RACE], count[STATE], redundant, count[MISSED])
    return name, side, *map(str, figures)


if __name__ == "__main__":
    mutations(prog_name="python -m benchmarks.emulator.mutations")
