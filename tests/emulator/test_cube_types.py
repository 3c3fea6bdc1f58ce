"""The Cube in integers, mixed types and 4-bit floats, and what Fixpipe makes of the sums."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.emulator.asc import handshake
from tests.emulator.test_copies import cube_kernel, l0c2gm, mmad, nd2nz, product, random
from tilelang_ascend_sched.emulator import emulate


def cube(*body: str, **types: str) -> str:
    """A kernel whose L0C holds int32."""
    return cube_kernel(*body, **types).replace("__cc__ float", "__cc__ int32_t")


@pytest.mark.parametrize("ctype", ["int8_t", "uint8_t", "int16_t"])
@pytest.mark.parametrize(("m", "k", "n"), [(16, 64, 16), (24, 96, 40), (1, 32, 17)])
def test_integer_products(ctype, m, k, n):
    dtype = np.dtype(ctype.removesuffix("_t"))
    info = np.iinfo(dtype)
    a = random((m, k), dtype, info.min, info.max + 1)
    b = random((n, k), dtype, info.min, info.max + 1)[::-1].copy()
    text = cube(*product(m, k, n, a.itemsize), l0c2gm(n, m), operand=ctype, out="int32_t")
    c = np.zeros((m, n), np.int32)
    result = emulate(text, A=a, B=b, C=c, blocks=1)
    assert result.ok, [str(f) for f in result.findings]
    # Sums of int16 products leave int32, and wrap.
    assert (c == (a.astype(np.int64) @ b.astype(np.int64).T).astype(np.int32)).all()


def test_integer_sums_go_on():
    a, b = random((16, 64), np.int8), random((16, 64), np.int8)
    text = cube(
        *product(16, 64, 16, 1, mmad(16, 64, 16, clear=False)),
        l0c2gm(16, 16, relu=1),
        operand="int8_t",
        out="int32_t",
    )
    c = np.zeros((16, 16), np.int32)
    assert emulate(text, A=a, B=b, C=c, blocks=1).ok
    assert (c == np.maximum(2 * (a.astype(np.int32) @ b.astype(np.int32).T), 0)).all()


def test_two_kinds_of_8_bit_floats():
    a, b = random((16, 64), ml_dtypes.float8_e4m3fn), random((16, 64), ml_dtypes.float8_e5m2)
    lines = product(16, 64, 16, 1)
    lines = [line.replace("l0a, l0b", "l0a, (__cb__ fp8_e5_t*)l0b") for line in lines]
    text = cube_kernel(*lines, l0c2gm(16, 16), operand="fp8_e4_t")
    c = np.zeros((16, 16), np.float32)
    result = emulate(text, A=a, B=b.view(a.dtype), C=c, blocks=1)
    assert result.ok, [str(f) for f in result.findings]
    assert (c == a.astype(np.float32) @ b.astype(np.float32).T).all()


@pytest.mark.parametrize(
    ("quant", "ctype", "integers"),
    [
        (9, "int8_t", True),
        (9, "uint8_t", True),
        (9, "int8_t", False),
        (13, "fp8_e4_t", False),
        (28, "int16_t", True),
        (28, "int16_t", False),
    ],
)
def test_scaled_conversions_take_1_and_say_so(quant, ctype, integers):
    operand = np.int8 if integers else ml_dtypes.bfloat16
    a, b = random((16, 64), operand), random((16, 64), operand)
    a[0] *= np.array(31, operand)
    a[0, 0] = 1 if integers else 0.5
    out = np.dtype(ml_dtypes.float8_e4m3fn if ctype == "fp8_e4_t" else ctype.removesuffix("_t"))
    kernel = cube if integers else cube_kernel
    text = kernel(
        *product(16, 64, 16, a.itemsize),
        l0c2gm(16, 16, quant),
        operand="int8_t" if integers else "bfloat16_t",
        out=ctype,
    )
    c = np.zeros((16, 16), out)
    result = emulate(text, A=a, B=b, C=c, blocks=1)
    (finding,) = result.findings
    assert finding.kind == "blind-spot" and f"quant_pre {quant}" in finding.message
    assert ("meant for int32 sums" in finding.message) == (quant != 13 and not integers)
    sums = a.astype(np.float64) @ b.astype(np.float64).T
    if out.kind in "iu":
        info = np.iinfo(out)
        wanted = np.clip(np.rint(sums), info.min, info.max).astype(out)
    else:
        wanted = np.clip(sums, -448, 448).astype(np.float32).astype(out)
    assert (c == wanted).all()


@pytest.mark.parametrize(
    ("integers", "out", "words"),
    [
        (False, "fp8_e4_t", "L0C holds float32 and the destination float8_e4m3"),
        (False, "int32_t", "L0C holds float32 and the destination int32"),
        (True, "half", "L0C holds int32 and the destination float16"),
    ],
)
def test_a_copy_that_converts_nothing_needs_one_type(integers, out, words):
    text = (cube if integers else cube_kernel)(l0c2gm(16, 16), out=out)
    a = random((16, 16), ml_dtypes.bfloat16)
    dtypes = {"fp8_e4_t": ml_dtypes.float8_e4m3fn, "int32_t": np.int32, "half": np.float16}
    (finding,) = emulate(text, A=a, B=a, C=np.zeros((16, 16), dtypes[out]), blocks=1).findings
    assert finding.kind == "error" and words in finding.message


@pytest.mark.parametrize(
    ("operand", "c", "words"),
    [
        ("int8_t", "float", "int8 times int8 with float32 sums"),
        ("half", "int32_t", "float16 times float16 with int32 sums"),
        ("int32_t", "int32_t", "int32 times int32 with int32 sums"),
    ],
)
def test_products_the_cube_does_not_have(operand, c, words):
    text = cube_kernel(mmad(16, 16, 16), operand=operand).replace("__cc__ float", f"__cc__ {c}")
    a = np.zeros((16, 16), {"half": np.float16}.get(operand, operand.removesuffix("_t")))
    (finding,) = emulate(text, A=a, B=a, C=np.zeros((16, 16), np.float32), blocks=1).findings
    assert finding.kind == "error" and f"{words} is not modelled" in finding.message


GRID = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
"""What the 16 codes of a 4-bit float stand for."""


def packed(codes: np.ndarray) -> np.ndarray:
    """Two codes to a byte, the first in its lower half."""
    return (codes[:, 0::2] | codes[:, 1::2] << 4).astype(np.uint8)


def test_transposed_load_of_4_bit_floats():
    """B lies in L1 with its rows along k; the load turns it, half bytes and all."""
    m, k, n = 32, 128, 64
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 16, (m, k)), rng.integers(0, 16, (k, n))
    pointer = "__cbuf__ float4_e2m1x2_t*"
    far = f"(({pointer})(l1 + 131072))"
    text = cube_kernel(
        nd2nz("l1", "A", m, k // 2, k // 2),
        nd2nz("(l1 + 131072)", "B", k, n // 2, n // 2),
        handshake("MTE2", "MTE1"),
        f"asc_copy_l12l0a((__ca__ float4_e2m1x2_t*)l0a, ({pointer})l1, 0, 0, {m // 16}, {k // 64}, "
        f"{m // 16}, {m // 16});",
        f"asc_copy_l12l0b_transpose((__cb__ float4_e2m1x2_t*)l0b, {far}, 0, 0, {k // 16}, "
        f"{n // 64}, {k // 16}, {n // 16});",
        handshake("MTE1", "M"),
        f"asc_mmad(l0c, (__ca__ float4_e2m1x2_t*)l0a, (__cb__ float4_e2m1x2_t*)l0b, {m}, {k}, {n}, "
        "0, true, false, true);",
        handshake("M", "FIX"),
        l0c2gm(n, m),
        operand="uint8_t",
    )
    c = np.zeros((m, n), np.float32)
    result = emulate(text, A=packed(a), B=packed(b), C=c, blocks=1)
    assert result.ok, [str(f) for f in result.findings]
    assert (c == GRID[a] @ GRID[b]).all()
