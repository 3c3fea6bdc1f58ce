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

    The exit status is 0 if every run is proven right, 1 if some run is wrong or neither could be
    shown, 2 if there is no lowered kernel to check.
    """
    import json
    from dataclasses import asdict

    from .status import BAD, FINE, Unable
    from .target import load_prim_func, one_line
    from .verify import PROVEN, verify_lowered

    configs: dict[str, object] = {"tl.ascend_sched.passes": "stock"} if stock else {}
    if unscheduled:
        configs["tl.enable_auto_schedule"] = False
    try:
        reports = verify_lowered(load_prim_func(target), pass_configs=configs)
    except Exception as error:  # TileLang refuses kernels by exceptions of any kind
        text = one_line(error)
        raise Unable(text if target in text else f"{target}: {text}") from None
    if as_json:
        click.echo(json.dumps([asdict(report) for report in reports], indent=2))
    else:
        click.echo("\n".join(map(str, reports)))
    proven = all(report.verdict == PROVEN for report in reports)
    context.exit(FINE if proven else BAD)
