"""Runs once, before anything else of the package: fail early and clearly, then load the library."""

from __future__ import annotations

from . import native
from .compat import check_versions

check_versions()
native.load()
