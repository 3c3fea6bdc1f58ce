"""``python -m examples NAME ...``: schedule, run and check example kernels on the CPU."""

from __future__ import annotations

import sys
import time

import click
import numpy as np
from rich.console import Console

import tilelang_ascend_sched
from examples import WORKLOADS, Workload
from tilelang_ascend_sched.emulator import emulate
from tilelang_ascend_sched.report.render import render


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--tiny", is_flag=True, help="At the small sizes that the tests use.")
@click.option("--policy", default="eager", show_default=True, help="How pipes are interleaved.")
@click.option("--seed", default=0, show_default=True, help="Of the data and of the interleaving.")
@click.option("--list", "listing", is_flag=True, help="Only list the names.")
def main(names: tuple[str, ...], tiny: bool, policy: str, seed: int, listing: bool) -> None:
    """Lower the example kernels NAME, run the generated AscendC on the CPU, compare with numpy."""
    if listing:
        click.echo("\n".join(WORKLOADS))
        return
    unknown = [name for name in names if name not in WORKLOADS]
    if unknown or not names:
        problem = f"no example {unknown[0]!r}" if unknown else "name an example"
        raise click.UsageError(f"{problem}; there are {', '.join(WORKLOADS)}")
    console = Console()
    wrong = [name for name in names if not _run(WORKLOADS[name], tiny, policy, seed, console)]
    if wrong:
        console.print(f"[red]wrong results: {', '.join(wrong)}[/red]")
        sys.exit(1)


def _run(workload: Workload, tiny: bool, policy: str, seed: int, console: Console) -> bool:
    sizes = dict(workload.tiny) if tiny else {}
    inputs = workload.inputs(np.random.default_rng(seed), **sizes)
    expected = workload.reference(**inputs)
    lowered = tilelang_ascend_sched.lower(workload.build(**sizes))

    arrays = {name: array.copy() for name, array in inputs.items()}
    for name, array in expected.items():
        arrays.setdefault(name, np.zeros_like(array))
    started = time.perf_counter()
    result = emulate(lowered.artifact, policy=policy, seed=seed, **arrays)
    seconds = time.perf_counter() - started

    render(lowered.report, console, executed_sync=result.sync_per_block)
    problems = [workload.mismatch(name, arrays[name], want) for name, want in expected.items()]
    problems = [problem for problem in problems if problem]
    for problem in problems:
        console.print(f"[red]{problem}[/red]")
    if not problems:
        size = sum(array.size for array in expected.values())
        console.print(
            f"[green]{workload.name}: all {size:,} results right[/green] "
            f"({result.blocks} blocks run on the CPU in {seconds:.1f} s, host compiler included)"
        )
    return not problems


if __name__ == "__main__":
    main(prog_name="python -m examples")
