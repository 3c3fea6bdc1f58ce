"""Keeps TileLang's kernel caches from mixing kernels of different plugin state.

Keys on disk and in ``KernelCache`` and the autotuner get a fingerprint of the plugin mixed in;
the per-function dictionaries of ``@tilelang.jit`` and ``@tilelang.autotune``, which are keyed by
arguments alone, become one dictionary a fingerprint. While the plugin is off, keys and
dictionaries are TileLang's own.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from tilelang.autotuner.tuner import AutoTuneImpl, AutoTuner
from tilelang.cache.kernel_cache import KernelCache
from tilelang.jit import JITImpl

from .. import hardware, native
from ..options import Options
from ..version import __version__
from .patches import Patches
from .switch import Switch


def fingerprint(pass_configs: Mapping[str, Any] | None) -> str:
    """What distinguishes a kernel made with the plugin on: code, hardware, solvers, options.

    Raises ``ValueError`` for options that are not valid.
    """
    options = Options.from_config(pass_configs or {})
    decisive = {
        **asdict(options),
        "passes": options.owners(),
        "hardware": hardware.digest(options.hardware),
    }
    del decisive["report"]
    parts = [__version__, native.digest(), _solver_versions(), decisive]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@functools.cache
def _solver_versions() -> list[str]:
    return [version(name) for name in ("z3-solver", "ortools")]


def install(patches: Patches, switch: Switch) -> None:
    """Bind the above into TileLang through ``patches``."""
    for owner, name in ((KernelCache, "_generate_key"), (AutoTuner, "generate_cache_key")):
        patches.set(owner, name, _keyed(getattr(owner, name), switch))
    for owner, name in ((KernelCache, "cached"), (JITImpl, "__call__"), (AutoTuneImpl, "__call__")):
        patches.set(owner, name, _pinned(getattr(owner, name), switch))
    for owner, names in (
        (JITImpl, ("_kernel_cache", "_call_form_cache", "_tuner_cache")),
        (AutoTuneImpl, ("_tuner_cache",)),
    ):
        for name in names:
            patches.set(owner, name, _PerState(name, switch))


def _keyed(stock: Callable[..., str | None], switch: Switch) -> Callable[..., str | None]:
    """A key generator that mixes the fingerprint in; the options come from the same call."""

    @functools.wraps(stock)
    def key(self: Any, *args: Any, **kwargs: Any) -> str | None:
        plain = stock(self, *args, **kwargs)
        if plain is None or not switch.is_on():
            return plain
        configs = kwargs.get("pass_configs")
        if isinstance(self, AutoTuner):
            configs = self.compile_args.pass_configs
        return hashlib.sha256(f"{plain} {fingerprint(configs)}".encode()).hexdigest()

    return key


def _pinned(stock: Callable[..., Any], switch: Switch) -> Callable[..., Any]:
    """Key and compilation must see one state: hold it from look-up to store."""

    @functools.wraps(stock)
    def call(*args: Any, **kwargs: Any) -> Any:
        with switch.pinned():
            return stock(*args, **kwargs)

    return call


class _PerState:
    """A data descriptor that gives an instance one dictionary for each plugin state.

    TileLang's own dictionary stays in the instance under its own name, so taking the descriptor
    away leaves the instance as TileLang made it.
    """

    def __init__(self, name: str, switch: Switch) -> None:
        self._name = name
        self._switch = switch

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        own = instance.__dict__[self._name]
        if not self._switch.is_on():
            return own
        jit = getattr(instance, "jit_impl", instance)
        slots = instance.__dict__.setdefault("_ascend_sched_" + self._name, {})
        return slots.setdefault(fingerprint(jit.pass_configs), type(own)())

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self._name] = value
        instance.__dict__.pop("_ascend_sched_" + self._name, None)
