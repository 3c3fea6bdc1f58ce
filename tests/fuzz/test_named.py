"""What a refusal names is what the kernel is called with."""

from __future__ import annotations

import numpy as np
import pytest

from tests.fuzz.named import LONGEST, fill


@pytest.mark.parametrize(
    ("text", "n", "elements"),
    [
        ("Q[2] = 4", 7, {"Q": {2: 4}}),
        ("n = 16, P[1] = 3, Q[7] = -2", 16, {"P": {1: 3}, "Q": {7: 0}}),
        ("Q[(n) % (8)] = 5, n = 9", 9, {"Q": {1: 5}}),
        ("Q[P[0]] = 6, P[0] = 2", 7, {"P": {0: 2}, "Q": {2: 6}}),
        ("n = -2147483648, m = 7, bx = 0, P[0] = 9, Q[0] = 100000", 0, {"P": {0: 7}, "Q": {0: 64}}),
        ("int0[3] = 2, int0[4] = 1", 7, {"U": dict.fromkeys(range(64), 2)}),
        ("Q[other] = 1, Q[80] = 1", 7, {}),
    ],
)
def test_elements_are_filled_in(text: str, n: int, elements: dict[str, dict[int, int]]) -> None:
    arrays = {name: np.ones(64 if name == "U" else 8, np.int32) for name in "PQU"}
    assert LONGEST == 64
    assert fill(arrays, text, 7) == n
    for name, array in arrays.items():
        assert array.tolist() == [elements.get(name, {}).get(at, 1) for at in range(len(array))]
