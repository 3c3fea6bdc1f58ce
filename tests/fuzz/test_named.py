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
        ("int0[3] = 2 then 9 then 2, Q[0] = 4, int1[6] = -1", 7, {"U": {3: 2, 6: 0}, "Q": {0: 4}}),
        ("int0[5] = 3 then 0, int0[640] = 2", 7, {"U": {5: 3}}),
        ("Q[other] = 1, Q[80] = 1", 7, {}),
    ],
)
def test_elements_are_filled_in(text: str, n: int, elements: dict[str, dict[int, int]]) -> None:
    arrays = {name: np.ones((4, 8) if name == "U" else 8, np.int32) for name in "PQUXY"}
    assert LONGEST == 64
    assert fill(arrays, text, 7) == n
    for name, array in arrays.items():
        if name in "PQU":
            row = [elements.get(name, {}).get(i, 1) for i in range(8)]
            assert array.tolist() == ([row] * 4 if name == "U" else row)


@pytest.mark.parametrize(("named", "rows"), [(0, 0), (5, 5), (1000, 8), (-3, 0)])
def test_tensors_have_the_rows_that_are_named(named: int, rows: int) -> None:
    arrays = {name: np.ones((8, 2), np.float32) for name in "XYZ"}
    fill(arrays, f"m = {named}", 7)
    assert {name: len(array) for name, array in arrays.items()} == {"X": rows, "Y": rows, "Z": 8}


@pytest.mark.parametrize(("named", "place"), [(-2, 0), (3, 3), (130, 16)])
def test_a_place_may_be_beyond_the_tensors_and_never_before(named: int, place: int) -> None:
    arrays = {name: np.ones(8, np.int32) for name in "PQ"}
    fill(arrays, f"P[7] = {named}", 7, places=16)
    assert arrays["P"].tolist() == [1] * 7 + [place]
