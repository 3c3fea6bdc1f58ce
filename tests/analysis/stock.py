"""Our edges beside those that TileLang's AutoSchedule hands to its solver.

``python -m tests.analysis.stock [KERNEL...]`` compares the small kernels and the examples.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

import tilelang_ascend_sched as sched
from examples import WORKLOADS
from tests.kernels.small import SMALL
from tilelang_ascend_sched.deps import VERSIONS, Dependences, find_dependences
from tilelang_ascend_sched.lowering import lower
from tilelang_ascend_sched.solver import ffi
from tilelang_ascend_sched.solver.problem import ScheduleProblem

KERNELS = {**SMALL, **WORKLOADS}

Reach = dict[tuple[int, int], int]
"""Least distance of a path between two units."""


@dataclass(frozen=True)
class Comparison:
    """stock, ours: pairs of units with an edge. dropped: stock's that no path of ours covers.

    needless: stock's between the iterations of loops that have one only.
    """

    stock: int
    needless: int
    ours: int
    dropped: tuple[str, ...]
    only_ours: int


def compare(name: str) -> Comparison:
    """Both analyses of a kernel; each body's edges once for each pair of units."""
    function = KERNELS[name].build()
    problems: list[ScheduleProblem] = []
    solve = ffi._solve

    def record(kind: str, problem: ScheduleProblem, seed: int) -> Any:
        problems.append(problem)
        return solve(kind, problem, seed)

    configs = {"tl.ascend_sched.passes": "stock", "tl.ascend_sched.verify": "off"}
    with sched.enabled(), mock.patch.object(ffi, "_solve", record):
        lower(function, pass_configs=configs)
        kernels = find_dependences(function)
    return _compared(kernels, problems)


def _compared(kernels: tuple[Dependences, ...], problems: list[ScheduleProblem]) -> Comparison:
    left = iter(problems)
    stock_pairs = needless = our_pairs = only_ours = 0
    dropped: list[str] = []
    for kernel in kernels:
        for number in _as_scheduled(kernel, 0):
            units = _units(kernel, number)
            if number == 0 and units < 2:
                continue
            problem = next(left)
            assert len(problem.tasks) == units, (number, len(problem.tasks), units)
            ours = _our_edges(kernel, number)
            stocks = _stock_edges(problem)
            if kernel.bodies[number].trips == 1:
                within = {pair: d for pair, d in stocks.items() if d == 0}
                needless += len(stocks) - len(within)
                stocks = within
            reach = _closure(ours, units)
            stock_reach = _closure(stocks, units)
            stock_pairs += len(stocks)
            our_pairs += len(ours)
            for (source, target), distance in sorted(stocks.items()):
                if reach.get((source, target), distance + 1) > distance:
                    body = kernel.bodies[number].name
                    dropped.append(f"{body}: {source} -> {target} after {distance}")
            only_ours += sum(
                stock_reach.get(pair, distance + 1) > distance for pair, distance in ours.items()
            )
    assert next(left, None) is None
    return Comparison(stock_pairs, needless, our_pairs, tuple(dropped), only_ours)


def _as_scheduled(kernel: Dependences, number: int) -> list[int]:
    """Bodies in the order in which AutoSchedule solves them: the inner ones first."""
    order = []
    for inner, body in enumerate(kernel.bodies):
        if body.parent == number:
            order += _as_scheduled(kernel, inner)
    return [*order, number]


def _units(kernel: Dependences, number: int) -> int:
    return 1 + max(task.unit for task in kernel.tasks if task.body == number)


def _our_edges(kernel: Dependences, number: int) -> Reach:
    edges: Reach = {}
    for edge in kernel.bodies[number].edges:
        distance = 1 if edge.distance == VERSIONS else int(edge.distance)
        ends = [(edge.source_unit, edge.target_unit)]
        if edge.kind == "exclusion":
            ends.append((edge.target_unit, edge.source_unit))
        for pair in ends:
            edges[pair] = min(distance, edges.get(pair, distance))
    return edges


def _stock_edges(problem: ScheduleProblem) -> Reach:
    """Edges between different tasks or iterations; a buffer's version count stands for one."""
    edges: Reach = {}
    for edge in problem.edges:
        distance = 1 if edge.buffer is not None else edge.distance
        pair = (edge.src, edge.dst)
        edges[pair] = min(distance, edges.get(pair, distance))
    for exclusion in problem.exclusions:
        for pair in (
            (exclusion.first, exclusion.second),
            (exclusion.second, exclusion.first),
        ):
            edges[pair] = 0
    return edges


def _closure(edges: Reach, units: int) -> Reach:
    reach = dict(edges)
    for middle in range(units):
        for source in range(units):
            first = reach.get((source, middle))
            if first is None:
                continue
            for target in range(units):
                second = reach.get((middle, target))
                if second is not None:
                    known = reach.get((source, target), first + second)
                    reach[source, target] = min(known, first + second)
    return reach


def main(names: list[str]) -> None:
    total = [0, 0, 0, 0, 0]
    for name in names or list(KERNELS):
        try:
            found = compare(name)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error).strip().splitlines()[-1:]}")
            continue
        row = (found.stock, found.needless, found.ours, len(found.dropped), found.only_ours)
        total = [a + b for a, b in zip(total, row, strict=True)]
        print(f"{name}: {_text(row)}")
        for edge in found.dropped:
            print(f"  {edge}")
    print(f"all: {_text(total)}")


def _text(row: Sequence[int]) -> str:
    stock, needless, ours, stock_alone, ours_alone = row
    return (
        f"stock {stock} (and {needless} between the turns of loops of one turn), ours {ours}, "
        f"stock alone {stock_alone}, ours alone {ours_alone}"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
