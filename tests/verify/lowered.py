"""Kernels lowered by TileLang's own passes, as the check reads them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import tilelang  # noqa: F401  # puts tvm on the path
from tvm.tirx import PrimFunc

from benchmarks.verify.subject import Read, lower_only
from examples import WORKLOADS
from tests.kernels.small import SMALL

KERNELS = {**SMALL, **WORKLOADS}


@cache
def stock(build: Callable[..., Any]) -> Read:
    """What becomes of ``build()``, a kernel with one device function."""
    return lower_only(build, "stock")


def device(name: str) -> PrimFunc:
    """The device function of a small kernel, or of a workload at its full size."""
    return stock(KERNELS[name].build).device


@cache
def small(name: str) -> Read:
    """A workload at its small size."""
    return lower_only(partial(KERNELS[name].build, **KERNELS[name].tiny), "stock")
