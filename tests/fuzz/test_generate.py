"""The generator makes programs of one meaning, the same for the same seed, of every kind."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from tests.fuzz.features import features
from tests.fuzz.generate import generate
from tests.fuzz.model import Expr, Loop, Store, statements
from tests.fuzz.shrink import shrink
from tests.fuzz.source import write
from tests.fuzz.valid import is_valid

EVERY = {
    "cores: cube", "cores: mix", "cores: vector", "Cube to Vector", "Vector to Cube", "GEMM",
    "GEMM cleared by a condition", "own L0", "SIMT body", "SIMD body", "T.PerCoreTask", "T.Stage",
    "T.Task", "T.Task with costs", "alias view", "slice of a buffer", "assume_conflict",
    "assume_no_conflict", "dynamic extent", "dynamic guard", "dynamic slot",
    "dynamic value", "dynamic shape",
    "operand with the depth as rows", "rows become columns", "ring by a variable of its own",
    "ring in a while loop", "ring filled ahead", "enable_offset", "extent 0", "extent 1", "guard",
    "else", "load of what was stored", "loop pipelined", "loop serial", "loop unroll", "loop while",
    "manual ring", "nested loop", "sibling loops", "no schedule, vector", "no schedule, mix",
    "no schedule, cube", "scalar read of GM",
    "scalar read of UB", "two blocks", "versions asked for", "SIMT guard on data", "gather",
    "scatter",
}  # fmt: skip


def test_every_program_is_valid() -> None:
    assert [seed for seed in range(500) if not is_valid(generate(seed))] == []


def test_same_seed_same_program() -> None:
    assert [write(generate(seed)) for seed in range(50)] == [
        write(generate(seed)) for seed in range(50)
    ]


def test_every_feature_is_tried() -> None:
    tried = Counter(name for seed in range(500) for name in features(generate(seed)))
    assert [name for name in EVERY if tried[name] < 3] == []


def test_shrinking_keeps_what_was_asked_for() -> None:
    """The smallest program with a store in a loop of three turns is that store and its load."""

    def shows(program) -> bool:
        return any(
            isinstance(stmt, Loop)
            and stmt.extent == Expr(constant=3)
            and any(isinstance(inner, Store) for inner in statements(stmt.body))
            for stmt in statements(program.body)
        )

    program = next(p for p in map(generate, range(500)) if shows(p) and p.cores == "vector")
    small = shrink(replace(program, configs=()), shows)
    assert shows(small) and is_valid(small)
    assert len(statements(small.body)) <= 3
