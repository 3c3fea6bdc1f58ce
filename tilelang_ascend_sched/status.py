"""Exit statuses, the same for every command."""

from __future__ import annotations

import click

FINE = 0
"""The command did its work and nothing is wrong."""
BAD = 1
"""It did its work and the verdict is bad: findings, a refused or unproven kernel, no schedule."""
UNABLE = 2
"""It could not do its work: wrong use, or input that it refuses."""


class Unable(click.ClickException):
    """Ends a command that cannot do its work with one line and status 2."""

    exit_code = UNABLE
