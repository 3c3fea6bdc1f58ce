"""The plugin's options: pass-config keys ``tl.ascend_sched.*``.

The keys and their types are declared to TVM in ``cpp/options.cc``; the values are checked here,
once per lowering.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from tvm.tirx import IntImm

from . import hardware
from .pipeline import PASSES, PassInfo

PREFIX = "tl.ascend_sched."

ENGINES = ("auto", "heuristic", "branch", "cpsat", "z3")
OBJECTIVES = ("time", "ii")
MOST_BUDGET = 1_000_000
VERIFY = ("auto", "off", "report", "refuse")


@dataclass(frozen=True)
class Options:
    """One lowering's options. Each field is the pass-config key ``tl.ascend_sched.<field>``.

    strict: a degraded result (out of budget, unproven schedule, spilled flag, ...) is an error.
    passes: whose each pass is: comma-separated terms ``ours``, ``stock`` or ``<Pass>=ours|stock``,
        later terms winning. A pass we do not have stays stock under plain ``ours``.
    hardware: path of a hardware file to use in place of the package's own; empty: the latter.
    engine: the solver engine, one of ``auto``, ``heuristic``, ``branch``, ``cpsat``, ``z3``.
    objective: ``time`` (whole-loop time, then II) or ``ii`` (II alone, for comparisons).
    budget: how many times the default solver work a problem may cost (work, not seconds).
    seed: seed of the exact engines.
    verify: what the check of the lowered kernel does: ``off``, ``report`` (notes), ``refuse`` (an
        error if some run is wrong), or ``auto``: refuse if one of our passes ran, else report.
    report: a path; the schedule report is also written there as JSON. Empty: not written.
    """

    strict: bool = False
    passes: str = "ours"
    hardware: str = ""
    engine: str = "auto"
    objective: str = "time"
    budget: int = 1
    seed: int = 42
    verify: str = "auto"
    report: str = ""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Options:
        """Read the options out of a pass-config mapping.

        Raises ``ValueError`` for an unknown ``tl.ascend_sched.*`` key or a bad value, with the
        list of those allowed.
        """
        known = {field.name: field.type for field in fields(cls)}
        values: dict[str, Any] = {}
        for key, value in config.items():
            if not str(key).startswith(PREFIX):
                continue
            name = str(key)[len(PREFIX) :]
            if name not in known:
                allowed = ", ".join(PREFIX + field for field in known)
                raise ValueError(f"unknown pass-config key {key!r}; allowed are {allowed}")
            values[name] = _typed(str(key), value, known[name])
        options = cls(**values)
        _check_choice("engine", options.engine, ENGINES)
        _check_choice("objective", options.objective, OBJECTIVES)
        _check_choice("verify", options.verify, VERIFY)
        _check_range("budget", options.budget, 1, MOST_BUDGET)
        _check_range("seed", options.seed, 0, 2**31 - 1)
        options.owners()
        if options.report:
            _check_report_path(options.report)
        if options.hardware:
            hardware.check(options.hardware)
        return options

    def owners(self) -> dict[str, bool]:
        """Pass name -> whether our pass is wanted, by the ``passes`` option.

        Raises ``ValueError`` for an unknown pass, owner, or a pass that is not ours yet.
        """
        by_name = {info.name: info for info in PASSES}
        ours = {info.name: info.ours for info in PASSES}
        for term in filter(None, (part.strip() for part in self.passes.split(","))):
            name, assigned, owner = (part.strip() for part in term.partition("="))
            if not assigned:
                if name in by_name:
                    raise ValueError(f"{PREFIX}passes: {name} is a pass; write {name}=ours|stock")
                _check_choice("passes", name, ("ours", "stock"), "<Pass>=ours", "<Pass>=stock")
                ours = {info.name: info.ours and name == "ours" for info in PASSES}
                continue
            _check_pass(name, by_name)
            _check_choice(f"passes ({name})", owner, ("ours", "stock"))
            if owner == "ours" and not by_name[name].ours:
                have = ", ".join(info.name for info in PASSES if info.ours)
                raise ValueError(f"{PREFIX}passes: {name} has no pass of ours; we have {have}")
            ours[name] = owner == "ours"
        return ours


def _typed(key: str, value: Any, kind: str) -> Any:
    if isinstance(value, IntImm):
        value = bool(value.value) if str(value.dtype) == "bool" else int(value.value)
    if kind == "bool" and (isinstance(value, bool) or value in (0, 1)):
        return bool(value)
    if kind == "int" and isinstance(value, int) and not isinstance(value, bool):
        return value
    if kind == "str" and isinstance(value, str):
        return str(value)
    wanted = {"bool": "True or False", "int": "an integer", "str": "a string"}[kind]
    raise ValueError(f"{key} is {value!r}; it must be {wanted}")


def _check_report_path(report: str) -> None:
    path = Path(report)
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise ValueError(f"{PREFIX}report is {report!r}; it must be a file in a folder that exists")


def _check_choice(name: str, value: str, allowed: tuple[str, ...], *forms: str) -> None:
    if value not in allowed:
        listed = ", ".join(allowed + forms)
        raise ValueError(f"{PREFIX}{name} is {value!r}; allowed are {listed}")


def _check_range(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise ValueError(f"{PREFIX}{name} is {value}; it must be {least} to {most}")


def _check_pass(name: str, known: Mapping[str, PassInfo]) -> None:
    if name in known:
        return
    folded = {each.lower(): each for each in known}
    meant = get_close_matches(name.lower(), folded, n=1)
    guess = f" (did you mean {folded[meant[0]]!r}?)" if meant else ""
    raise ValueError(f"{PREFIX}passes: no pass {name!r}{guess}; passes are {', '.join(known)}")
