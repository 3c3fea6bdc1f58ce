"""The command ``verify``."""

from __future__ import annotations

import click


@click.command()
@click.argument("target", metavar="FILE:NAME")
@click.option("--stock", is_flag=True, help="Lower with TileLang's own passes.")
@click.option("--unscheduled", is_flag=True, help="Lower without scheduling, as written.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def verify(
    context: click.Context, target: str, stock: bool, unscheduled: bool, as_json: bool
) -> None:
    """Lower the kernel FILE:NAME and prove its synchronization.

    The exit status is 0 if every run is proven right, 1 if some run is wrong, 2 if neither could
    be shown.
    """
    import json
    from dataclasses import asdict

    from .target import load_prim_func
    from .verify import NOT_PROVEN, REFUSED, verify_lowered

    configs: dict[str, object] = {"tl.ascend_sched.passes": "stock"} if stock else {}
    if unscheduled:
        configs["tl.enable_auto_schedule"] = False
    try:
        reports = verify_lowered(load_prim_func(target), pass_configs=configs)
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        click.echo(json.dumps([asdict(report) for report in reports], indent=2))
    else:
        click.echo("\n".join(map(str, reports)))
    verdicts = {report.verdict for report in reports}
    context.exit(1 if REFUSED in verdicts else 2 if NOT_PROVEN in verdicts else 0)
