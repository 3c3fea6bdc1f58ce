"""Outcomes of many programs, counted."""

from __future__ import annotations

from collections import Counter
from typing import Any

MUTANT = "mutant "
"""What kinds of outcome of changed kernels begin with."""


class Counts:
    """Of programs and their mutants by outcome, and of programs by feature."""

    def __init__(self) -> None:
        self.programs: Counter[str] = Counter()
        self.mutants: Counter[str] = Counter()
        self.features: Counter[str] = Counter()

    def add(self, line: dict[str, Any]) -> None:
        """``line``: an outcome as it is logged."""
        kind = line["kind"]
        if kind.startswith(MUTANT):
            self.mutants[kind.removeprefix(MUTANT)] += 1
        else:
            self.programs[kind] += 1
        self.features.update(line["features"])

    def table(self) -> str:
        """Outcomes as a table in Markdown, the most frequent first; then features in per cent."""
        lines = ["| outcome | programs | mutants |", "| --- | ---: | ---: |"]
        for kind, _ in (self.programs + self.mutants).most_common():
            lines.append(f"| {kind} | {self.programs[kind]} | {self.mutants[kind]} |")
        lines.append(f"| all | {self.programs.total()} | {self.mutants.total()} |")
        lines += ["", "features, in programs"]
        for name, number in sorted(self.features.items()):
            share = 100 * number / self.programs.total()
            lines.append(f"{number:7} {share:5.1f} % {name}")
        return "\n".join(lines)
