"""The command line: one group, its commands in the packages they belong to."""

from __future__ import annotations

import importlib

import click

from .version import __version__

_COMMANDS = {
    "check": "emulator.commands:check",
    "deps": "deps_commands:deps",
    "passes": "report.commands:passes",
    "report": "report.commands:report",
    "run": "emulator.commands:run",
    "solve": "solver.commands:solve",
    "toy": "solver.commands:toy",
    "verify": "verify_commands:verify",
}


class _Lazy(click.Group):
    """Imports a command's module when the command is used: some cost seconds to import."""

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        module, attribute = _COMMANDS[name].split(":")
        return getattr(importlib.import_module(f"{__package__}.{module}"), attribute)


@click.group(cls=_Lazy)
@click.version_option(__version__, prog_name="tilelang_ascend_sched")
def main() -> None:
    """Schedule TileLang kernels for Ascend 950, and see what was decided, without an NPU."""
