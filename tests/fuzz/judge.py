"""Asks the check and the emulator about lowered programs, and compares what they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from tests.fuzz import meaning
from tests.fuzz.counts import MUTANT
from tests.fuzz.execute import Batch
from tests.fuzz.lowering import Lowered, Refused, lower
from tests.fuzz.model import SLOTS, Program, cells
from tests.fuzz.mutants import pick
from tests.fuzz.named import fill
from tilelang_ascend_sched.verify import NOT_PROVEN, REFUSED, VerifyReport

NUMBERS = (4, 0, 1)
"""Values of ``n`` that a program with a run-time number is run with."""
STARVED = ("MTE1", "MTE2", "MTE3", "FIX", "M", "V")
MORE = 4
"""Inputs beyond the usual and those named, before a refusal is called a false alarm."""
EVERY_POLICY = ("random", "random", *(f"starve:{pipe}" for pipe in STARVED))
"""Whether a flag is set while it is set depends on the policy; whether there is a race does not."""
NUMBERS_OF = "numbers of"
UNWRITTEN = "never-written"

RIGHT = "right"
AGREED_WRONG = "wrong, all agree"
WARNED = "wrong, all agree and TileLang warns"
FALSE_ALARM = "refused, but runs right"
MISSED = "proven, but runs wrong"
WRONG_NUMBERS = "wrong numbers without a race"
UNPROVEN = "not proven"
REFUSED_KERNEL = "refused by the compiler"
AGREED = (RIGHT, WARNED, MUTANT + RIGHT, MUTANT + AGREED_WRONG)
"""Nothing to explain. A program may be wrong as it was lowered only if InsertSync itself was not
sure of its flags; a mutant may be wrong."""
UNDECIDED = (UNPROVEN, MUTANT + UNPROVEN, REFUSED_KERNEL)
"""Nothing that contradicts anything."""


@dataclass(frozen=True)
class Outcome:
    """What came of a program. detail: messages of those that complain."""

    program: Program
    kind: str
    detail: str = ""
    mutant: bool = False
    report: VerifyReport | None = field(default=None, repr=False)


def arguments(program: Program, arrays: dict[str, np.ndarray], n: int) -> dict[str, Any]:
    """What the kernel is called with, by name: copies of ``arrays`` in its types."""
    given: dict[str, Any] = {name: array.copy() for name, array in arrays.items()}
    dtype = ml_dtypes.bfloat16 if program.dtype == "bfloat16" else np.float16
    for name in ("A", "B"):
        given[name] = arrays[name].astype(dtype)
    return given | {"n": n, "N": np.zeros((n, 8), np.float32), "m": len(arrays["X"])}


def _number(program: Program) -> int:
    return sum(program.name.encode())


Run: TypeAlias = tuple[int, dict[str, np.ndarray], tuple[str, ...]]
"""``n``, the tensors, and the policies of the emulator."""


@dataclass(frozen=True)
class Trial:
    """One lowered text, to be run with inputs of choice."""

    program: Program
    text: str
    batch: Batch

    def complaints(self, runs: Sequence[Run]) -> list[str]:
        """What the emulator finds, and which numbers are wrong."""
        found: list[str] = []
        written = [name for name in ("Y", "Z", "C") if name in self.batch.parameters(self.text)]
        for n, arrays, policies in runs:
            expected = _expected(self.program, arrays, n)
            beyond = expected is None or _is_short(self.program, arrays)
            for seed, policy in enumerate(policies, _number(self.program)):
                given = arguments(self.program, arrays, n)
                result = self.batch.run(
                    self.text, given, blocks=self.program.blocks, policy=policy, seed=seed
                )
                findings = [str(each) for each in result.findings]
                # What lies beyond a tensor is not loaded: that its bytes are read is known.
                known = [each for each in findings if beyond and each.startswith(UNWRITTEN)]
                told = [each for each in findings if each not in known]
                found += [f"{policy}, n = {n}: {finding}" for finding in told[:2]]
                for name in written if expected is not None and not known else ():
                    wrong = np.argwhere(given[name] != expected[name])
                    if len(wrong):
                        place = f"{len(wrong)} differ, first at {wrong[0]}"
                        found.append(f"{policy}, n = {n}: {NUMBERS_OF} {name}: {place}")
        return found


def _largest_place(program: Program) -> int:
    """Of a slot: just beyond the tensors, unless it is also the index of an element."""
    nested = any(any(cells(each.index)) for each in cells(program.body))
    return meaning.LARGEST["P"] if nested else program.blocks * SLOTS


def _expected(
    program: Program, arrays: dict[str, np.ndarray], n: int
) -> dict[str, np.ndarray] | None:
    """The numbers of a run; None if slots are asked for that no tensor has, or that are unfilled.

    Of such a run only races and flags are judged.
    """
    if arrays["P"].max() >= SLOTS:
        return None
    try:
        return meaning.run(program, arrays, n)
    except meaning.Unwritten:
        if not _is_short(program, arrays):
            raise
        return None


def _is_short(program: Program, arrays: dict[str, np.ndarray]) -> bool:
    """Whether X and Y have fewer rows than the program names."""
    return len(arrays["X"]) < program.blocks * SLOTS * program.slot_rows


def usual(program: Program) -> list[Run]:
    """What every program is run with; the starving policy goes by its name."""
    starve = f"starve:{STARVED[_number(program) % len(STARVED)]}"
    numbers = NUMBERS if program.dynamic else (0, 0)
    return [
        (n, meaning.inputs(program, seed), ("random",) if seed else ("lazy", "random", starve))
        for seed, n in enumerate(numbers)
    ]


def spoken_of(program: Program, report: VerifyReport) -> list[Run]:
    """Inputs that a refusal names, and others."""
    found: list[Run] = []
    for number, finding in enumerate(report.findings[:3]):
        arrays = meaning.inputs(program, seed=number)
        n = fill(arrays, finding.inputs, NUMBERS[0], _largest_place(program))
        found.append((n, arrays, EVERY_POLICY))
    others = range(2, 2 + MORE)
    longer = meaning.LARGEST["Q"]
    return found + [
        (seed % SLOTS, meaning.inputs(program, seed, longer), EVERY_POLICY) for seed in others
    ]


def compare(trial: Trial, report: VerifyReport, what: str = "", *, warned: bool = False) -> Outcome:
    """What the three say of one lowered program, or of a mutant of it."""
    program = trial.program
    wrong = trial.complaints(usual(program))
    if not wrong and report.verdict == REFUSED:
        wrong = trial.complaints(spoken_of(program, report))
    kind = _kind(report.verdict, wrong)
    if what:
        kind = MUTANT + kind
    elif kind == AGREED_WRONG and warned:
        kind = WARNED
    said = "\n".join(filter(None, [what, str(report), *wrong[:4]]))
    return Outcome(program, kind, said, bool(what), report)


def _kind(verdict: str, wrong: list[str]) -> str:
    if verdict == NOT_PROVEN:
        return AGREED_WRONG if wrong else UNPROVEN
    if verdict == REFUSED:
        return AGREED_WRONG if wrong else FALSE_ALARM
    if not wrong:
        return RIGHT
    return WRONG_NUMBERS if all(f" {NUMBERS_OF} " in text for text in wrong) else MISSED


def judge(
    programs: Sequence[Program], folder: Path, passes: str, changes: int = 0
) -> list[Outcome]:
    """One outcome for each program, and one for each of ``changes`` mutants of it.

    passes: see :func:`tests.fuzz.lowering.lower`.
    """
    found: list[Outcome] = []
    lowered: list[Lowered] = []
    for program in programs:
        try:
            lowered.append(lower(program, folder, passes))
        except Refused as refusal:
            found.append(Outcome(program, REFUSED_KERNEL, str(refusal)))
    altered = {
        each.program.name: pick(each.device, each.module, changes, seed=each.program.blocks)
        for each in lowered
    }
    texts = [each.text for each in lowered]
    texts += [changed.text for each in altered.values() for changed in each]
    if not texts:
        return found
    batch = Batch(texts)
    for each in lowered:
        report = each.check(each.device)
        trial = Trial(each.program, each.text, batch)
        found.append(compare(trial, report, warned=each.warned))
        for changed in altered[each.program.name]:
            report = each.check(changed.mutant.func)
            trial = Trial(each.program, changed.text, batch)
            found.append(compare(trial, report, str(changed.mutant)))
    return found
