"""The command ``deps``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from .deps import Body, Dependences, Task


@click.command()
@click.argument("target", metavar="FILE:NAME")
@click.option("--json", "as_json", is_flag=True, help="As JSON instead of tables.")
@click.option(
    "--dot", type=click.Path(dir_okay=False, writable=True), help="Also as Graphviz text."
)
def deps(target: str, as_json: bool, dot: str | None) -> None:
    """Print the tasks of the kernel FILE:NAME and what each has to wait for.

    The exit status is 0, or 2 if the kernel cannot be analysed.
    """
    import json
    from dataclasses import asdict
    from pathlib import Path

    from .deps import find_dependences
    from .deps_graphviz import graphviz
    from .status import Unable
    from .target import load_prim_func, one_line

    try:
        kernels = find_dependences(load_prim_func(target))
        if dot is not None:
            Path(dot).write_text(graphviz(kernels))
    except Exception as error:  # TileLang refuses kernels by exceptions of any kind
        text = one_line(error)
        raise Unable(text if target in text else f"{target}: {text}") from None
    if as_json:
        click.echo(json.dumps([asdict(kernel) for kernel in kernels], indent=2))
        return
    console = Console()
    for place, kernel in enumerate(kernels, 1):
        title = "kernel" if len(kernels) == 1 else f"kernel {place} of {len(kernels)}"
        for number, body in enumerate(kernel.bodies):
            _print_body(console, kernel, number, title if body.parent is None else _loop(body))


def _loop(body: Body) -> str:
    if body.trips is None:
        return f"loop {body.name}"
    return f"loop {body.name}, {body.trips} iteration{'s' * (body.trips != 1)}"


def _print_body(console: Console, kernel: Dependences, number: int, title: str) -> None:
    body = kernel.bodies[number]
    console.print(_tasks(kernel, number, title))
    if body.edges:
        console.print(_edges(kernel, body))
    else:
        console.print("no edges")
    if body.unproven:
        console.print(
            f"of {body.questions} pairs of accesses that may meet, {body.unproven} could not be "
            "proven apart: their edges may not be needed",
            highlight=False,
            soft_wrap=True,
        )
    console.print()


def _tasks(kernel: Dependences, number: int, title: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("#", justify="right")
    table.add_column("task", overflow="fold")
    for column in ("pipe", "core"):
        table.add_column(column, no_wrap=True)
    for column in ("latency", "ii"):
        table.add_column(column, justify="right", no_wrap=True)
    for column in ("bytes\nread", "bytes\nwritten"):
        table.add_column(column, justify="right")
    for index, task in enumerate(kernel.tasks):
        if task.body == number:
            table.add_row(str(index), *_row(task))
    return table


def _row(task: Task) -> list[str]:
    guards = "".join(f", if {guard}" for guard in task.guards)
    figures = (task.latency, task.ii, task.read, task.written)
    cells = ["" if task.loop else "?" if each is None else str(each) for each in figures]
    # Of the source file, the name is enough.
    name = re.sub(r"\([^()]*/", "(", task.name)
    return [f"{name}{guards}", task.pipe, task.core, *cells]


def _edges(kernel: Dependences, body: Body) -> Table:
    table = Table()
    for column in ("from", "to"):
        table.add_column(column, justify="right", no_wrap=True)
    for column in ("kind", "distance"):
        table.add_column(column, no_wrap=True)
    table.add_column("storage")
    rows: dict[tuple[int, int, str, str], list[str]] = {}
    for edge in body.edges:
        key = (edge.source, edge.target, edge.kind, str(edge.distance))
        rows.setdefault(key, []).append(edge.storage)
    for (source, target, kind, distance), storages in rows.items():
        shown = "" if kind == "exclusion" else distance
        table.add_row(str(source), str(target), kind, shown, ", ".join(storages))
    return table
