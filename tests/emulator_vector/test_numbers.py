"""Number formats against ml_dtypes and against a search in the table of all values."""

from __future__ import annotations

import ctypes

import ml_dtypes
import numpy as np
import pytest

from tests.emulator_vector.formats import (
    DOWN,
    FORMATS,
    MODES,
    NEAREST_AWAY,
    NEAREST_EVEN,
    ODD,
    TOWARD_ZERO,
    UP,
    all_values,
    by_search,
)

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@pytest.fixture(scope="module")
def lib(build_native):
    return build_native("numbers.cc")


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def encode(lib, name, values, mode=NEAREST_EVEN, saturate=False) -> np.ndarray:
    values = np.ascontiguousarray(values, np.float32)
    codes = np.empty(values.shape, np.uint32)
    getattr(lib, f"encode_{name}")(
        mode, int(saturate), pointer(values), pointer(codes), ctypes.c_int64(values.size)
    )
    return codes


def decode(lib, name, codes) -> np.ndarray:
    codes = np.ascontiguousarray(codes, np.uint32)
    values = np.empty(codes.shape, np.float32)
    getattr(lib, f"decode_{name}")(pointer(codes), pointer(values), ctypes.c_int64(codes.size))
    return values


def samples(name) -> np.ndarray:
    """Every value, every midpoint of neighbours with the floats beside it, and random floats."""
    rng = np.random.default_rng(7)
    values = all_values(name)
    finite = np.unique(values[np.isfinite(values)].astype(np.float64))
    middle = ((finite[1:] + finite[:-1]) / 2).astype(np.float32)
    beyond = np.float32(finite[-1]) * np.array([1.01, 1.03, 1.2, 2, 1e3], np.float32)
    beyond = np.append(beyond, np.float32(1.5 * finite[-1] - 0.5 * finite[-2]))
    exact = np.concatenate([values, middle, beyond, -beyond, np.float32([0.0, -0.0])])
    inf = np.float32(np.inf)
    near = np.concatenate([np.nextafter(exact, inf), np.nextafter(exact, -inf)])
    noise = rng.integers(0, 1 << 32, 200_000, dtype=np.uint32).view(np.float32)
    scaled = (rng.standard_normal(100_000) * finite[-1]).astype(np.float32)
    return np.concatenate([exact, near, noise, scaled, np.float32([inf, -inf, np.nan])])


def same(actual: np.ndarray, expected: np.ndarray) -> np.ndarray:
    both_nan = np.isnan(actual) & np.isnan(expected)
    return both_nan | ((actual == expected) & (np.signbit(actual) == np.signbit(expected)))


@pytest.mark.parametrize("name", FORMATS)
def test_every_code_decodes(lib, name):
    expected = all_values(name)
    actual = decode(lib, name, np.arange(expected.size))
    assert same(actual, expected).all()


def test_every_scale_decodes(lib):
    expected = np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e8m0fnu).astype(np.float32)
    assert same(decode(lib, "float8_e8m0fnu", np.arange(256)), expected).all()


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_nearest_even_agrees_with_ml_dtypes(lib, name):
    values = samples(name)
    with np.errstate(over="ignore", invalid="ignore"):
        expected = values.astype(FORMATS[name][1]).astype(np.float32)
    actual = decode(lib, name, encode(lib, name, values))
    wrong = ~same(actual, expected)
    assert not wrong.any(), (values[wrong][:5], actual[wrong][:5], expected[wrong][:5])


@pytest.mark.parametrize("saturate", [False, True])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FORMATS)
def test_every_rounding_by_search(lib, name, mode, saturate):
    values = samples(name)
    values = values[~np.isnan(values)]
    expected = by_search(name, values, mode, saturate)
    actual = decode(lib, name, encode(lib, name, values, mode, saturate))
    wrong = ~same(actual, expected)
    assert not wrong.any(), (values[wrong][:5], actual[wrong][:5], expected[wrong][:5])


@pytest.mark.parametrize("name", FORMATS)
def test_nan_stays_nan_or_becomes_zero(lib, name):
    result = decode(lib, name, encode(lib, name, np.float32([np.nan])))
    has_nan = np.isnan(all_values(name)).any()
    assert np.isnan(result[0]) if has_nan else result[0] == 0


@pytest.mark.parametrize("mode", MODES)
def test_round_to_integral(lib, mode):
    rng = np.random.default_rng(3)
    values = np.concatenate(
        [
            np.arange(-40, 41, dtype=np.float32) / 4,
            (rng.standard_normal(100_000) * 1e4).astype(np.float32),
            np.float32([2**23 + 1, -(2**24), 3e38, 1e-40, np.inf, -np.inf]),
            np.nextafter(np.arange(-20, 21, dtype=np.float32) / 2, np.float32(100)),
        ]
    )
    actual = np.empty_like(values)
    lib.round_integral(mode, pointer(values), pointer(actual), ctypes.c_int64(values.size))
    floor, ceil = np.floor(values), np.ceil(values)
    odd_floor = np.abs(np.fmod(floor, np.float32(2))) == 1
    expected = {
        NEAREST_EVEN: np.rint(values),
        NEAREST_AWAY: np.copysign(np.floor(np.abs(values.astype(np.float64)) + 0.5), values),
        DOWN: floor,
        UP: ceil,
        TOWARD_ZERO: np.trunc(values),
        ODD: np.where(floor == ceil, floor, np.where(odd_floor, floor, ceil)),
    }[mode]
    wrong = actual != expected.astype(np.float32)
    assert not wrong.any(), (values[wrong][:5], actual[wrong][:5], expected[wrong][:5])


@pytest.mark.parametrize("op", range(4))
@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_arithmetic_rounds_once(lib, name, op):
    rng = np.random.default_rng(op)
    dtype = FORMATS[name][1]
    a = rng.integers(0, 1 << 16, 400_000, dtype=np.uint16)
    b = rng.integers(0, 1 << 16, 400_000, dtype=np.uint16)
    out = np.empty_like(a)
    getattr(lib, f"arithmetic_{name}")(
        op, pointer(a), pointer(b), pointer(out), ctypes.c_int64(a.size)
    )
    x, y = a.view(dtype).astype(np.float64), b.view(dtype).astype(np.float64)
    with np.errstate(all="ignore"):
        exact = [x + y, x - y, x * y, x / y][op]
        # float64 holds sums and products of these types, and enough of a quotient, to round once.
        expected = exact.astype(np.float32 if name == "bfloat16" else np.float64).astype(dtype)
    actual = out.view(dtype).astype(np.float32)
    wrong = ~same(actual, expected.astype(np.float32))
    assert not wrong.any(), (x[wrong][:3], y[wrong][:3], actual[wrong][:3], expected[wrong][:3])
