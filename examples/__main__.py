"""``python -m examples NAME ...``: schedule, run and check example kernels on the CPU."""

from __future__ import annotations

import sys
import time

import click
import numpy as np
from rich.console import Console

import tilelang_ascend_sched
from examples import WORKLOADS, Workload
from tilelang_ascend_sched.emulator import POLICIES, Result, emulate
from tilelang_ascend_sched.emulator.result import CORES
from tilelang_ascend_sched.report.render import render
from tilelang_ascend_sched.status import BAD, Unable
from tilelang_ascend_sched.target import one_line


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--tiny", is_flag=True, help="At the small sizes that the tests use.")
@click.option(
    "--policy", type=click.Choice(POLICIES), default="eager", help="How pipes are interleaved."
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, help="Of the data and of the interleaving."
)
@click.option("--list", "listing", is_flag=True, help="Only list the names.")
def main(names: tuple[str, ...], tiny: bool, policy: str, seed: int, listing: bool) -> None:
    """Lower the example kernels NAME, run the generated AscendC on the CPU, compare with numpy.

    The exit status is 0 if all are right, 1 if one is not, 2 if one cannot be lowered or run.
    """
    if listing:
        click.echo("\n".join(WORKLOADS))
        return
    unknown = [name for name in names if name not in WORKLOADS]
    if unknown or not names:
        problem = f"no example {unknown[0]!r}" if unknown else "name an example"
        raise click.UsageError(f"{problem}; there are {', '.join(WORKLOADS)}")
    console = Console()
    wrong = []
    for name in names:
        try:
            right = _run(WORKLOADS[name], tiny, policy, seed, console)
        except Exception as error:  # TileLang refuses kernels by exceptions of any kind
            raise Unable(f"{name}: {one_line(error)}") from error
        wrong += [] if right else [name]
    if wrong:
        console.print(f"[red]wrong results: {', '.join(wrong)}[/red]")
        sys.exit(BAD)


def _run(workload: Workload, tiny: bool, policy: str, seed: int, console: Console) -> bool:
    sizes = dict(workload.tiny) if tiny else {}
    inputs = workload.inputs(np.random.default_rng(seed), **sizes)
    expected = workload.reference(**inputs)
    arrays = {name: array.copy() for name, array in inputs.items()}
    for name, array in expected.items():
        arrays.setdefault(name, np.zeros_like(array))

    started = time.perf_counter()
    result = emulate(workload.build(**sizes), policy=policy, seed=seed, arguments=arrays)
    seconds = time.perf_counter() - started

    render(tilelang_ascend_sched.last_report(), console, executed_sync=_syncs_a_block(result))
    mismatches = [workload.mismatch(name, arrays[name], want) for name, want in expected.items()]
    problems = [str(finding) for finding in result.findings]
    problems += [mismatch for mismatch in mismatches if mismatch]
    for problem in problems:
        console.print(problem, style="red", markup=False)
    if not problems:
        size = sum(array.size for array in expected.values())
        console.print(
            f"[green]{workload.name}: all {size:,} results right[/green] (generated AscendC of "
            f"{len(result.source.splitlines())} lines, lowered, compiled for the CPU and run in "
            f"{seconds:.1f} s)"
        )
    return not problems


def _syncs_a_block(result: Result) -> dict[str, float]:
    """Synchronization instructions that a block executes on each core, averaged over blocks."""
    totals = np.zeros(len(CORES))
    blocks = 0
    for kernel in result.kernels:
        totals += np.sum(kernel.syncs, axis=0)
        blocks = max(blocks, len(kernel.syncs))
    return {core: float(total) / max(blocks, 1) for core, total in zip(CORES, totals, strict=True)}


if __name__ == "__main__":
    main(prog_name="python -m examples")
