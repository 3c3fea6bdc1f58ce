"""Tables of figures, on a terminal or as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click
from rich.console import Console
from rich.table import Table


def show(
    columns: Sequence[str], rows: Iterable[Sequence[str]], markdown: bool, left: int = 2
) -> None:
    """Prints a table whose first ``left`` columns are text and whose others are numbers."""
    if markdown:
        rules = ["---" if i < left else "---:" for i in range(len(columns))]
        for line in (columns, rules, *rows):
            click.echo("| " + " | ".join(line) + " |")
        return
    table = Table()
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i < left else "right")
    for row in rows:
        table.add_row(*row)
    Console().print(table)
