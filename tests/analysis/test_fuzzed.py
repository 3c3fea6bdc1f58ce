"""A few random kernels; ``python -m tests.analysis.fuzzed`` judges as many as wanted."""

from __future__ import annotations

from tests.analysis.fuzzed import run


def test_what_statements_both_touch_is_an_edge() -> None:
    score = run(first=0, count=10)
    assert score.missing == []
    assert score.conflicts > 100
