"""Commands that show decisions: ``passes`` and ``report``."""

from __future__ import annotations

import json

import click
from rich.console import Console
from rich.table import Table

from ..options import Options
from ..pipeline import PASSES
from ..status import BAD, Unable


@click.command()
@click.option("--owners", default="ours", metavar="TERMS", help="A tl.ascend_sched.passes value.")
@click.option("--json", "as_json", is_flag=True, help="As JSON instead of a table.")
def passes(owners: str, as_json: bool) -> None:
    """List the scheduling passes in order, whose each is, and what it decides."""
    try:
        ours = Options(passes=owners).owners()
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    owner = {name: "ours" if mine else "stock" for name, mine in ours.items()}
    if as_json:
        rows = [
            {"pass": info.name, "owner": owner[info.name], "decides": info.decides}
            for info in PASSES
        ]
        click.echo(json.dumps(rows, indent=2))
        return
    table = Table()
    table.add_column("#", justify="right")
    for column in ("pass", "owner"):
        table.add_column(column, no_wrap=True)
    table.add_column("decides")
    for number, info in enumerate(PASSES, 1):
        table.add_row(str(number), info.name, owner[info.name], info.decides)
    Console().print(table)


@click.command()
@click.argument("target", metavar="FILE:NAME")
@click.option("--json", "as_json", is_flag=True, help="As JSON instead of tables.")
@click.option(
    "--config",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="A pass-config key, such as tl.ascend_sched.engine=z3.",
)
@click.option("--seconds", is_flag=True, help="With --json: times too, which differ every time.")
def report(target: str, as_json: bool, settings: tuple[str, ...], seconds: bool) -> None:
    """Lower the kernel FILE:NAME and print its schedule report.

    The exit status is 0 if it has one, 1 if the kernel's schedule is refused (the check of it
    failed, or a worse one came of it under tl.ascend_sched.strict), 2 if there is none.
    """
    from ..lowering import lower
    from ..plug.session import ScheduleError, VerifyError
    from ..target import load_prim_func, one_line
    from .render import render

    try:
        lowered = lower(load_prim_func(target), pass_configs=_pass_configs(settings))
    except (ScheduleError, VerifyError) as refused:
        click.echo(f"{target}: {refused}", err=True)
        raise click.exceptions.Exit(BAD) from None
    except Exception as error:  # whatever TileLang raises for a kernel or a key that it refuses
        raise Unable(f"{target}: {one_line(error)}") from None
    assert lowered.report is not None  # the plugin is on: importing it turned it on
    if as_json:
        click.echo(lowered.report.to_json() if seconds else _untimed(lowered.report.to_json()))
    else:
        render(lowered.report)


def _untimed(report: str) -> str:
    def drop(pairs: list[tuple[str, object]]) -> dict[str, object]:
        return {key: value for key, value in pairs if key != "seconds"}

    return json.dumps(json.loads(report, object_pairs_hook=drop), indent=2)


def _pass_configs(settings: tuple[str, ...]) -> dict[str, object]:
    values: dict[str, object] = {}
    for setting in settings:
        key, separator, text = setting.partition("=")
        if not separator:
            raise ValueError(f"--config {setting}: write KEY=VALUE")
        if text.lower() in ("true", "false"):
            values[key] = text.lower() == "true"
        else:
            values[key] = int(text) if text.lstrip("-").isdigit() else text
    return values
