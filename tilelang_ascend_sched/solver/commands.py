"""Commands of the solver: ``solve`` for a saved problem, ``toy`` for the worked example."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from ..status import BAD, Unable
from . import smt
from . import toy as example
from .answer import ScheduleAnswer
from .debug import timeline
from .model import Model
from .problem import ScheduleProblem
from .run import ENGINES
from .solver import OBJECTIVES
from .solver import solve as run_solver


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--objective", type=click.Choice(OBJECTIVES), default="time", show_default=True)
@click.option("--engine", type=click.Choice(ENGINES), default="auto", show_default=True)
@click.option(
    "--budget", type=float, default=1.0, show_default=True, help="Times the default work."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the exact engines.")
@click.option("--trips", type=click.IntRange(1), help="Trip count, in place of the problem's own.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
def solve(
    file: Path,
    objective: str,
    engine: str,
    budget: float,
    seed: int,
    trips: int | None,
    as_json: bool,
) -> None:
    """Solve the schedule problem saved as JSON in FILE.

    The exit status is 0 with a schedule, 1 if there is none or the budget finds none, 2 if FILE or
    an option is refused.
    """
    try:
        problem = ScheduleProblem.from_json(file.read_text(encoding="utf-8"))
        if trips is not None:
            problem = problem.with_trip_count(trips)
        answer = run_solver(problem, objective=objective, engine=engine, budget=budget, seed=seed)
    except ValueError as error:  # of the problem, its text, or a figure out of range
        raise Unable(f"{file}: {error}") from None
    if as_json:
        click.echo(answer.to_json(indent=2))
    else:
        show(Console(), problem, answer)
    if not answer.solved:
        raise click.exceptions.Exit(BAD)


def show(console: Console, problem: ScheduleProblem, answer: ScheduleAnswer) -> None:
    """Prints an answer: its verdict, what forces it, and the tasks in order of start."""
    gap = f", gap {100 * answer.gap:.2f}%" if answer.gap else ""
    lines = [f"{answer.verdict.value}: no schedule"]
    if answer.solved:
        lines = [
            f"{answer.verdict.value}: {answer.objective} {answer.value}, proven bound "
            f"{answer.lower_bound}{gap} (found by {answer.engine})"
        ]
    lines += [f"  {reason}" for reason in answer.reasons]
    lines += [f"  {bound.figure} >= {bound.value}: {bound.reason}" for bound in answer.bounds]
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)
    if not answer.solved:
        return
    table = Table()
    for column in ("start", "stage", "latency", "interval"):
        table.add_column(column, justify="right")
    for column in ("task", "pipes"):
        table.add_column(column)
    for t in sorted(range(len(problem.tasks)), key=lambda t: (answer.starts[t], t)):
        task, start = problem.tasks[t], answer.starts[t]
        stage = start // answer.ii if answer.ii else 0
        figures = (start, stage, task.latency, task.interval)
        table.add_row(*map(str, figures), task.name, "/".join(task.pipes))
    console.print(table)
    for buffer, count in zip(problem.buffers, answer.versions, strict=True):
        console.print(f"{buffer.name}: {count} versions, {count * buffer.size} bytes", markup=False)


@click.group(invoke_without_command=True)
@click.option("--print-smt", is_flag=True, help="Print the constraints of the best II.")
@click.option("--z3", "with_z3", is_flag=True, help="Solve with z3 as well and compare.")
@click.pass_context
def toy(context: click.Context, print_smt: bool, with_z3: bool) -> None:
    """The worked example of four tasks, for learning the method."""
    problem = example.problem()
    if print_smt:
        answer = run_solver(problem)
        click.echo(smt.print_smt(Model(problem), int(answer.ii or 1)), nl=False)
    if with_z3:
        _compare(problem)
    if context.invoked_subcommand is None and not (print_smt or with_z3):
        click.echo(context.get_help())


def _compare(problem: ScheduleProblem) -> None:
    table = Table()
    for column in ("engine", "II", "starts", "versions", "verdict"):
        table.add_column(column)
    for engine in ("branch", "z3"):
        answer = run_solver(problem, engine=engine)
        row = (answer.ii, list(answer.starts), list(answer.versions), answer.verdict.value)
        table.add_row(engine, *map(str, row))
    Console().print(table)


@toy.command()
def demo() -> None:
    """Solve the example with one version of its tile and with two."""
    console = Console()
    for versions in (1, 2):
        problem = example.problem(versions=versions)
        answer = run_solver(problem)
        console.print(f"num_stages={versions}:", style="bold")
        show(console, problem, answer)
        click.echo(timeline(problem, answer))
    click.echo(
        "The load of the next tile has to wait until l1->l0 has read this one: 40 + 15 = 55\n"
        "cycles around one version of a_l1. Two versions share that wait: 55 / 2, rounded up,\n"
        "is 28. No resource is that busy: this recurrence is what limits the loop."
    )


@toy.command()
def sensitivity() -> None:
    """Schedule with the load's latency underestimated, then check against the true one."""
    believed = 16
    guess, truth = example.problem(load_latency=believed), example.problem()
    answer = run_solver(guess)
    click.echo(
        f"Scheduled with a load of {believed} cycles: II {answer.ii}, starts {list(answer.starts)}."
    )
    for src, dst, cycles in example.lateness(answer.starts, truth):
        names = truth.tasks[src].name, truth.tasks[dst].name
        click.echo(
            f"With its true {truth.tasks[src].latency} cycles, {names[1]} would start {cycles} "
            f"cycles before {names[0]} is done."
        )
    click.echo(
        "On the machine flags still order the two: l1->l0 waits for the load, and all after it\n"
        "slips. The schedule is then slow, not wrong, as long as synchronization is inserted\n"
        "from dependences and not from start times."
    )
