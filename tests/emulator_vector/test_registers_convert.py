"""``vcvt`` for every pair of types that TileLang offers, in each rounding mode, part and mask."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator_vector.formats import (
    DOWN,
    NEAREST_AWAY,
    NEAREST_EVEN,
    ODD,
    TOWARD_ZERO,
    UP,
    by_search,
)
from tests.emulator_vector.program import DTYPES, Program, lanes, predicate_bits, same

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

ROUNDS = {
    "ROUND_R": NEAREST_EVEN,
    "ROUND_A": NEAREST_AWAY,
    "ROUND_F": DOWN,
    "ROUND_C": UP,
    "ROUND_Z": TOWARD_ZERO,
}
# Which controls a pair takes: r(ound), s(aturate).
PAIRS = {
    ("float", "int64_t"): "rs",
    ("float", "int32_t"): "rs",
    ("float", "int16_t"): "rs",
    ("half", "int32_t"): "r",
    ("half", "int16_t"): "rs",
    ("half", "int8_t"): "rs",
    ("half", "uint8_t"): "rs",
    ("bfloat16_t", "int32_t"): "rs",
    ("float", "half"): "rs",
    ("float", "bfloat16_t"): "rs",
    ("float", "float8_e4m3_t"): "rs",
    ("float", "float8_e5m2_t"): "rs",
    ("half", "bfloat16_t"): "r",
    ("half", "float8_e4m3_t"): "rs",
    ("half", "float8_e5m2_t"): "rs",
    ("bfloat16_t", "float8_e4m3_t"): "rs",
    ("bfloat16_t", "float8_e5m2_t"): "rs",
    ("half", "float"): "",
    ("bfloat16_t", "half"): "rs",
    ("bfloat16_t", "float"): "",
    ("float8_e4m3_t", "float"): "",
    ("float8_e5m2_t", "float"): "",
    ("int8_t", "half"): "",
    ("uint8_t", "half"): "",
    ("int16_t", "half"): "r",
    ("int16_t", "float"): "",
    ("int32_t", "float"): "r",
    ("int64_t", "float"): "r",
    ("int32_t", "int64_t"): "",
    ("int32_t", "int16_t"): "s",
    ("int32_t", "uint16_t"): "s",
    ("int32_t", "uint8_t"): "s",
    ("uint32_t", "int16_t"): "s",
    ("uint32_t", "uint16_t"): "s",
    ("uint32_t", "uint8_t"): "s",
    ("int16_t", "int32_t"): "",
    ("int16_t", "uint32_t"): "",
    ("int16_t", "uint8_t"): "s",
    ("uint16_t", "uint32_t"): "",
    ("uint16_t", "uint8_t"): "s",
    ("int8_t", "int16_t"): "",
    ("int8_t", "int32_t"): "",
    ("uint8_t", "uint16_t"): "",
    ("uint8_t", "uint32_t"): "",
    ("int64_t", "int32_t"): "s",
}
FORMAT_OF = {
    "half": "float16",
    "bfloat16_t": "bfloat16",
    "float8_e4m3_t": "float8_e4m3fn",
    "float8_e5m2_t": "float8_e5m2",
}
PARTS = {2: ["PART_EVEN", "PART_ODD"], 4: ["PART_P0", "PART_P1", "PART_P2", "PART_P3"]}


def source(ctype: str, rng: np.random.Generator) -> np.ndarray:
    """Values around every boundary that matters."""
    n, dtype = lanes(ctype), DTYPES[ctype]
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        edges = [0, 1, 127, 128, 255, 256, 2**24 + 1, 2**24 + 3, 2**31 - 1, 2**32, 2**53 + 1]
        edges = [e for v in edges for e in (v, -v, -v - 1) if info.min <= e <= info.max]
        edges += [info.min, info.max]
        fill = rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
        fill[: min(n, len(edges))] = np.array(edges, dtype)[:n]
        return rng.permutation(fill)
    halves = np.arange(-6, 7) / 2
    large = [np.inf, -np.inf, np.nan, -0.0, 255.5, 257, -129, 464, 480, 40000, -40000, 3e9, -3e9]
    with np.errstate(over="ignore"):
        special = np.concatenate([halves, large]).astype(np.float32).astype(dtype)
        fill = (rng.standard_normal(n) * 2.0 ** rng.integers(-12, 16, n)).astype(dtype)
    fill[: special.size] = special
    return rng.permutation(fill)


def integral(x: np.ndarray, mode: int) -> np.ndarray:
    away = np.copysign(np.floor(np.abs(x) + 0.5), x)
    return {
        NEAREST_EVEN: np.rint(x),
        NEAREST_AWAY: away,
        DOWN: np.floor(x),
        UP: np.ceil(x),
        TOWARD_ZERO: np.trunc(x),
    }[mode]


def to_integer(x: np.ndarray, dtype: np.dtype, mode: int, saturate: bool) -> np.ndarray:
    info = np.iinfo(dtype)
    out = []
    for v, r in zip(x.tolist(), integral(x, mode).tolist(), strict=True):
        if np.isnan(v):
            out.append(0)
        elif np.isinf(v) or (saturate and not info.min <= r <= info.max):
            out.append(info.max if v > 0 else info.min)
        else:
            out.append(int(r))
    return wrap(out, dtype)


def wrap(values: list[int], dtype: np.dtype) -> np.ndarray:
    width = 8 * dtype.itemsize
    unsigned = np.array([v & ((1 << width) - 1) for v in values], np.uint64)
    return unsigned.astype(f"u{dtype.itemsize}").view(dtype)


def integer_to_integer(x: np.ndarray, dtype: np.dtype, saturate: bool) -> np.ndarray:
    info = np.iinfo(dtype)
    if x.dtype.kind == "i" and dtype.kind == "u" and dtype.itemsize > x.dtype.itemsize:
        saturate = True
    values = [int(v) for v in x]
    if saturate:
        values = [min(max(v, info.min), info.max) for v in values]
    return wrap(values, dtype)


def integer_to_float(x: np.ndarray, mode: int) -> np.ndarray:
    """float32 by exact integer arithmetic: 24 bits and a remainder."""
    out = []
    for v in (int(i) for i in x):
        magnitude, sign = abs(v), -1 if v < 0 else 1
        drop = max(magnitude.bit_length() - 24, 0)
        q, rest, half = magnitude >> drop, magnitude & ((1 << drop) - 1), (1 << drop) // 2
        up = {
            NEAREST_EVEN: rest > half or (rest == half and rest > 0 and q & 1),
            NEAREST_AWAY: rest >= half and rest > 0,
            DOWN: rest > 0 and sign < 0,
            UP: rest > 0 and sign > 0,
            TOWARD_ZERO: False,
        }[mode]
        out.append(float(sign * ((q + bool(up)) << drop)))
    return np.array(out, np.float64).astype(np.float32)


def convert(x: np.ndarray, to: str, mode: int, saturate: bool) -> np.ndarray:
    dtype = DTYPES[to]
    if x.dtype.kind in "iu":
        if dtype.kind in "iu":
            return integer_to_integer(x, dtype, saturate)
        if to == "float":
            return integer_to_float(x, mode)
        return by_search(FORMAT_OF[to], x.astype(np.float32), mode, True).astype(dtype)
    wide = x.astype(np.float32)
    if dtype.kind in "iu":
        return to_integer(wide.astype(np.float64), dtype, mode, saturate)
    if to == "float":
        return wide
    wide = np.where(np.isnan(wide) & saturate, np.float32(0), wide)
    return by_search(FORMAT_OF[to], wide, mode, saturate).astype(dtype)


def expected(
    x: np.ndarray, to: str, mode: int, saturate: bool, part: int, on: np.ndarray
) -> np.ndarray:
    """Elements pair with every ratio-th lane of the narrower side; inactive ones give zero."""
    dtype = DTYPES[to]
    if dtype.itemsize > x.dtype.itemsize:
        ratio = dtype.itemsize // x.dtype.itemsize
        x, on = x[part::ratio], on[part::ratio]
        step, start = 1, 0
    else:
        step, start = x.dtype.itemsize // dtype.itemsize, part
    result = np.zeros(x.size * step, dtype)
    result[start::step] = np.where(on, convert(x, to, mode, saturate), np.zeros((), dtype))
    return result


@pytest.mark.parametrize("ctype", sorted({s for s, _ in PAIRS}))
def test_every_conversion_from(ctype):
    rng = np.random.default_rng(len(ctype))
    x = source(ctype, rng)
    on = rng.random(x.size) < 0.7
    p = Program()
    bits = p.input("mask", predicate_bits(on, x.dtype.itemsize))
    p.add(
        f"auto x = simd_inst::vlds_norm<{ctype}>({p.input('x', x)}, 0);",
        f"vector_bool mask = simd_inst::plds_norm((__ubuf__ uint32_t*){bits}, 0);",
        f"vector_bool all = asc_create_mask_b{8 * x.dtype.itemsize}(PAT_ALL);",
        "vector_bool out = asc_create_mask_b8(PAT_ALL);",
    )
    wanted = {}
    for to in (t for s, t in PAIRS if s == ctype):
        takes = PAIRS[ctype, to]
        dtype = DTYPES[to]
        ratio = max(dtype.itemsize, x.dtype.itemsize) // min(dtype.itemsize, x.dtype.itemsize)
        rounds = dict(ROUNDS) if "r" in takes else {"": NEAREST_EVEN}
        if to.startswith("float8"):
            rounds = {"ROUND_R": NEAREST_EVEN}
        if (ctype, to) == ("float", "half"):
            rounds["ROUND_O"] = ODD
        for name, mode in rounds.items():
            for saturate in (False, True) if "s" in takes else (False,):
                for index, part in enumerate(PARTS.get(ratio, [""])):
                    sat = ("RS_ENABLE" if saturate else "RS_DISABLE") if "s" in takes else ""
                    controls = ", ".join(c for c in (name, sat, part, "MODE_ZEROING") if c)
                    # Masks of every part and mode would say nothing more than those of one.
                    for mask in ("all", "mask") if name in ("", "ROUND_R") else ("all",):
                        call = f"simd_inst::vcvt<{to}>(x, {mask}, {controls})"
                        active = on if mask == "mask" else np.ones_like(on)
                        wanted[call] = expected(x, to, mode, saturate, index, active)
    for call, e in wanted.items():
        target = p.output(call, e.dtype, e.size)
        p.add(f"simd_inst::vsts_norm({call}, {target}, 0, out);")
    values, result = p.simd()
    assert result.ok, result.findings
    wrong = [call for call, e in wanted.items() if not same(values[call], e)]
    assert not wrong, (wrong, x[:16], values[wrong[0]][:16], wanted[wrong[0]][:16])


def test_merging_keeps_other_lanes():
    rng = np.random.default_rng(2)
    x = rng.standard_normal(64).astype(np.float32)
    old = rng.standard_normal(128).astype(np.float16)
    on = rng.random(64) < 0.5
    p = Program()
    bits = p.input("mask", predicate_bits(on, 4))
    p.add(
        f"auto x = simd_inst::vlds_norm<float>({p.input('x', x)}, 0);",
        f"auto old = simd_inst::vlds_norm<half>({p.input('old', old)}, 0);",
        f"vector_bool mask = simd_inst::plds_norm((__ubuf__ uint32_t*){bits}, 0);",
        "::vcvt(*(&(old)), x, mask, ROUND_R, RS_DISABLE, PART_ODD, MODE_MERGING);",
        "vector_bool out = asc_create_mask_b16(PAT_ALL);",
        f"simd_inst::vsts_norm(old, {p.output('out', np.float16, 128)}, 0, out);",
    )
    values, result = p.simd()
    assert result.ok, result.findings
    wanted = old.copy()
    wanted[1::2][on] = x[on].astype(np.float16)
    assert same(values["out"], wanted)


def test_pairs_of_4_bit_floats():
    """Two bfloat16 lanes make one byte; the part says which of four bytes."""
    rng = np.random.default_rng(3)
    x = (rng.standard_normal(128) * 3).astype(np.float32)
    x[:4] = [np.inf, -np.inf, np.nan, 100]
    half = x.astype(DTYPES["bfloat16_t"])
    p = Program()
    p.add(
        f"auto x = simd_inst::vlds_norm<bfloat16_t>({p.input('x', half)}, 0);",
        "vector_bool m8 = asc_create_mask_b8(PAT_ALL), m16 = asc_create_mask_b16(PAT_ALL);",
    )
    for part in range(4):
        byte, back = (
            p.output(f"byte{part}", np.uint8, 256),
            p.output(f"back{part}", half.dtype, 128),
        )
        p.add(
            f"auto y{part} = simd_inst::vcvt<float4_e2m1x2_t>(x, m16, ROUND_R, PART_P{part}, "
            "MODE_ZEROING);",
            f"simd_inst::vsts_norm((vector_u8&)y{part}, {byte}, 0, m8);",
            f"auto z{part} = simd_inst::vcvt<bfloat16_t>(y{part}, m8, PART_P{part}, MODE_ZEROING);",
            f"simd_inst::vsts_norm(z{part}, {back}, 0, m16);",
        )
    values, result = p.simd()
    assert result.ok, result.findings
    grid = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    wide = half.astype(np.float64)
    rounded = by_search("float4_e2m1fn", np.nan_to_num(wide, nan=0, posinf=9, neginf=-9), 0, True)
    code = np.searchsorted(grid, np.abs(rounded)) + 8 * np.signbit(rounded)
    pair = code[0::2] | code[1::2] << 4
    for part in range(4):
        whole = np.zeros(256, np.uint8)
        whole[part::4] = pair
        assert (values[f"byte{part}"] == whole).all()
        assert same(values[f"back{part}"], rounded.astype(half.dtype))
