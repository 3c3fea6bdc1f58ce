"""No real conflict of a random loop nest is without an edge, and few edges are without one."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from tests.analysis.oracle import Score, missed
from tests.analysis.programs import Program
from tests.analysis.random_programs import programs

MOST_NEEDLESS = 0.5
"""Share of edges between executed pairs that never met; see docs/dependences.md."""


def test_no_conflict_is_missed() -> None:
    score = Score()

    @settings(
        max_examples=150,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(program=programs)
    def judge(program: Program) -> None:
        assert missed(program, score) == [], program

    judge()
    assert score.edges > 300
    assert score.needless < MOST_NEEDLESS * score.edges
