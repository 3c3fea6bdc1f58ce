"""Programs whose conflicts are easily overlooked, each judged by execution."""

from __future__ import annotations

import pytest

from tests.analysis.oracle import analysed, missed, needed
from tests.analysis.programs import (
    Bind,
    Condition,
    Flat,
    Guarded,
    Index,
    Local,
    Loop,
    Point,
    Program,
    Run,
    Scalar,
    Slice,
    Strided,
    Task,
    Under,
)


def at(*factors: int, offset: int = 0, **more) -> Index:
    return Index(factors, offset, **more)


def row(place: Index, write: bool, buffer: str = "a") -> Slice:
    return Slice(buffer, place, 1, at(), 4, write)


def task(*accesses) -> Task:
    return Task(accesses)


WRITE_S = task(Scalar("s", at(1, 2, offset=1, modulus=3)))
"""Another value in each turn."""

PROGRAMS = {
    "a loop of one turn inside another": Program(
        (Loop(3, (Loop(1, (task(row(at(), True)), task(row(at(), False)))),)),)
    ),
    "a place that is bound to what memory holds, filled by a loop": Program(
        (
            Loop(
                3,
                (
                    Bind("p", at(cell="s")),
                    task(Strided("a", at(bound="p"), 0, 1, 4)),
                    WRITE_S,
                    task(Strided("a", at(bound="p", offset=1), 0, 1, 4)),
                ),
            ),
        )
    ),
    "a place that the task binds itself": Program(
        (
            Loop(
                3,
                (
                    task(Local("v", at(cell="s"), (row(at(bound="v"), True),))),
                    task(Local("v", at(cell="s"), (row(at(bound="v", offset=1), False),))),
                    WRITE_S,
                ),
            ),
        )
    ),
    "a condition on memory that changes under it": Program(
        (
            Loop(
                3,
                (
                    task(
                        Under(
                            Condition(at(cell="s"), 1),
                            (
                                Scalar("s", at(offset=1)),
                                Under(Condition(at(cell="s"), 1, True), (row(at(1), True),)),
                                Scalar("s", at()),
                            ),
                        )
                    ),
                    task(Slice("a", at(1), 2, at(), 4, False)),
                ),
            ),
        )
    ),
    "guards around each other on memory that changes between them": Program(
        (
            Loop(
                3,
                (
                    task(Scalar("s", at())),
                    Guarded(
                        Condition(at(1, cell="s"), 3),
                        (
                            Loop(
                                2,
                                (
                                    task(Scalar("s", at(offset=3))),
                                    Guarded(
                                        Condition(at(1, cell="s"), 3, True),
                                        (
                                            Loop(
                                                2,
                                                (
                                                    task(row(at(1), True)),
                                                    task(Slice("a", at(1), 2, at(), 4, False)),
                                                ),
                                            ),
                                        ),
                                    ),
                                    task(Scalar("s", at())),
                                ),
                            ),
                        ),
                    ),
                ),
            ),
        )
    ),
    "a run that goes on in the next row": Program(
        (
            Loop(
                3,
                (
                    task(Run("a", at(1), 8, 16, True)),
                    task(row(at(1, offset=1), False)),
                ),
            ),
        )
    ),
    "a run over the ends of two rows": Program(
        (task(Run("a", at(), 15, 18, False)), task(row(at(offset=2), True)))
    ),
    "a view through a pointer, and the tile": Program(
        (
            Loop(
                3,
                (
                    Point("u", "a", at(1)),
                    task(Flat("a", 32, at(), 4, True, "u")),
                    task(row(at(1), False)),
                    task(row(at(1, offset=1), True)),
                ),
            ),
        )
    ),
    "a pointer that moves on by what it covers": Program(
        (
            Loop(
                3,
                (
                    Point("u", "a", at(1)),
                    task(Flat("a", 32, at(), 4, True, "u")),
                    task(Flat("a", 32, at(offset=16), 4, False, "u")),
                ),
            ),
        )
    ),
    "two pointers into one tile": Program(
        (
            Point("u", "a", at()),
            Point("w", "a", at(offset=1)),
            task(Flat("a", 32, at(offset=16), 4, True, "u")),
            task(Flat("a", 32, at(), 4, False, "w")),
        )
    ),
    "elements of other sizes that share bytes": Program(
        (
            Loop(
                3,
                (
                    task(Flat("a", 16, at(2), 2, True)),
                    task(Flat("a", 32, at(1), 1, False)),
                    task(Flat("a", 16, at(2, offset=2), 1, False)),
                ),
            ),
        )
    ),
    "an index that goes down": Program(
        (
            Loop(
                4,
                (task(row(at(-1, offset=8), True)), task(row(at(-1, offset=9), False))),
            ),
        )
    ),
    "steps of two over rows of two": Program(
        (
            Loop(
                6,
                (
                    task(Slice("a", at(1), 2, at(), 4, True)),
                    task(row(at(1, offset=3), False)),
                ),
                step=2,
            ),
        )
    ),
    "a diagonal through three loops": Program(
        (
            Loop(
                2,
                (
                    Loop(
                        2,
                        (
                            Loop(
                                2,
                                (
                                    task(row(at(1, 1, 1), True)),
                                    task(row(at(1, 1, 1, offset=1), False)),
                                ),
                            ),
                        ),
                    ),
                ),
            ),
        )
    ),
    "an owner inside a loop": Program(
        (
            Loop(
                2,
                (
                    Loop(3, (task(row(at(), True, "b")), task(row(at(), False, "b")))),
                    Loop(3, (task(row(at(), True, "b")), task(row(at(), False, "b")))),
                ),
            ),
        ),
        owners=1,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_overlooked(name: str) -> None:
    program = PROGRAMS[name]
    assert needed(program, 1, set())
    assert missed(program) == []


def test_a_loop_of_one_turn_has_no_edges_between_turns() -> None:
    kernel = analysed(PROGRAMS["a loop of one turn inside another"])
    outer, inner = kernel.bodies[1:]
    assert {edge.distance for edge in inner.edges} == {0}
    assert {edge.distance for edge in outer.edges} == {1}


def test_pairs_of_which_nothing_is_known_are_counted() -> None:
    kernel = analysed(PROGRAMS["two pointers into one tile"])
    assert kernel.bodies[0].unproven > 0
