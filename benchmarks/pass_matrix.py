"""``python -m benchmarks.pass_matrix``: each of our passes alone among TileLang's, run and checked.

Every example kernel is lowered with no pass of ours, with one after the other, and with all of
them; the solver is ours throughout. Each text that comes out is run in the emulator with all checks
and compared with numpy.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import click
import numpy as np
import tilelang  # noqa: F401  # puts its TVM on the path
from rich.console import Console
from rich.table import Table
from tvm.ir.transform import PassContext

import tilelang_ascend_sched
from benchmarks.emulator.subject import Subject
from examples import WORKLOADS, Workload
from tilelang_ascend_sched.emulator import launch
from tilelang_ascend_sched.pipeline import PASSES
from tilelang_ascend_sched.target import one_line

CHAINS: dict[str, str] = {
    "none": "stock",
    **{info.name: f"stock,{info.name}=ours" for info in PASSES if info.ours},
    "all": "ours",
}
"""By what is ours in a chain: its value of ``tl.ascend_sched.passes``."""

POLICIES = ("eager", "random")

SAME, RIGHT, REFUSED, BAD = "same", "right", "refused", "bad"


@dataclass(frozen=True)
class Outcome:
    """How one kernel fared with one chain.

    verdict: SAME text as with no pass of ours, RIGHT with another text, REFUSED, or BAD.
    details: what the emulator found, which outputs are wrong, or the refusal.
    """

    verdict: str
    details: tuple[str, ...] = ()


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--full", is_flag=True, help="At the full sizes; otherwise at those of the tests.")
@click.option(
    "--chain", "chains", type=click.Choice(list(CHAINS)), multiple=True, help="Default: all."
)
def matrix(names: tuple[str, ...], full: bool, chains: tuple[str, ...]) -> None:
    """Lower and run the example kernels NAME (default: all) with each of our passes alone.

    The exit status is 1 if a result is wrong, the emulator finds something, or a kernel is refused
    that no pass of ours lets through.
    """
    if unknown := [name for name in names if name not in WORKLOADS]:
        raise click.UsageError(f"no example {unknown[0]!r}; there are {', '.join(WORKLOADS)}")
    warnings.simplefilter("ignore")
    wanted = [chain for chain in CHAINS if chain == "none" or not chains or chain in chains]
    found: dict[str, dict[str, Outcome]] = {}
    for name in names or WORKLOADS:
        workload = WORKLOADS[name]
        found[name] = row(workload, {} if full else workload.tiny, wanted)
        click.echo(f"{name}: {' '.join(o.verdict for o in found[name].values())}", err=True)
    console = Console()
    console.print(_table(found, wanted))
    bad = [(n, c, o) for n, outcomes in found.items() for c, o in outcomes.items() if _fails(o)]
    for name, chain, outcome in bad:
        for detail in outcome.details:
            console.print(f"{name}, {chain}: {detail}", markup=False, soft_wrap=True)
    raise click.exceptions.Exit(1 if bad else 0)


def row(workload: Workload, sizes: Mapping[str, int], chains: Iterable[str]) -> dict[str, Outcome]:
    """The outcomes of one kernel by chain; a refusal counts as BAD where "none" is lowered."""
    outcomes: dict[str, Outcome] = {}
    texts: dict[str, Outcome] = {}
    for chain in chains:
        try:
            subject = lower(workload, sizes, CHAINS[chain])
        except Exception as error:  # TileLang refuses kernels by exceptions of any kind
            lowered = chain != "none" and outcomes["none"].verdict != REFUSED
            outcomes[chain] = Outcome(BAD if lowered else REFUSED, (one_line(error),))
            continue
        if subject.text not in texts:
            texts[subject.text] = examine(subject)
            outcomes[chain] = texts[subject.text]
        else:
            known = texts[subject.text]
            first = chain != "none" and outcomes["none"] is known
            outcomes[chain] = Outcome(SAME) if first and known.verdict == RIGHT else known
    return outcomes


def lower(workload: Workload, sizes: Mapping[str, int], passes: str) -> Subject:
    """The kernel lowered with ``passes``. Raises what the lowering raises."""
    inputs = workload.inputs(np.random.default_rng(5), **sizes)
    config = {"tl.ascend_sched.passes": passes, "tl.ascend_sched.verify": "off"}
    with tilelang_ascend_sched.enabled(), PassContext(opt_level=3, config=config):
        lowered = launch.lower(workload.build(**sizes))
    return Subject(workload, lowered, inputs, workload.reference(**inputs))


def examine(subject: Subject) -> Outcome:
    """Run the kernel under each policy with the race check."""
    details: list[str] = []
    for policy in POLICIES:
        result, arrays = subject.run(policy=policy, time=False)
        told = [*map(str, result.findings), *subject.wrong(arrays)]
        details += [f"{policy}: {line}" for line in told]
    return Outcome(BAD, tuple(details)) if details else Outcome(RIGHT)


def _fails(outcome: Outcome) -> bool:
    return outcome.verdict == BAD


def _table(found: Mapping[str, Mapping[str, Outcome]], chains: list[str]) -> Table:
    table = Table(title="by what is ours; same: the text of the column `none`")
    table.add_column("kernel", no_wrap=True)
    for chain in chains:
        table.add_column(chain, overflow="fold")
    for name, outcomes in found.items():
        verdicts = [outcomes[chain].verdict for chain in chains]
        table.add_row(name, *(f"[red]{v}[/red]" if v == BAD else v for v in verdicts))
    return table


if __name__ == "__main__":
    matrix(prog_name="python -m benchmarks.pass_matrix")
