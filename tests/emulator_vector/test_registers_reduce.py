"""Reductions across a register against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator_vector.program import DTYPES, Program, lanes, predicate_bits, same, samples

EXTREMES = ["float", "half", "bfloat16_t", "int16_t", "uint16_t", "int32_t", "uint32_t"]
SUMS = {"float": "float", "half": "half", "int32_t": "int32_t", "uint32_t": "uint32_t"}
SUMS |= {"int16_t": "int32_t", "uint16_t": "uint32_t"}


def tree(values: np.ndarray) -> np.ndarray:
    """Neighbours first; each step rounds in the element type."""
    while values.shape[-1] > 1:
        values = values[..., 0::2] + values[..., 1::2]
    return values[..., 0]


class Case:
    def __init__(self, ctype: str, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.dtype, self.n = DTYPES[ctype], lanes(ctype)
        self.size = self.dtype.itemsize
        self.x = samples(ctype, rng)
        self.mask = rng.random(self.n) < 0.7
        self.program = p = Program()
        self.expected: dict[str, np.ndarray] = {}
        bits = p.input("mask", predicate_bits(self.mask, self.size))
        p.add(
            f"auto x = simd_inst::vlds_norm<{ctype}>({p.input('x', self.x)}, 0);",
            f"vector_bool mask = simd_inst::plds_norm((__ubuf__ uint32_t*){bits}, 0);",
            f"vector_bool all = asc_create_mask_b{8 * self.size}(PAT_ALL);",
        )

    def store(self, name: str, value: str, expected: np.ndarray, mask: str = "all") -> None:
        self.expected[name] = expected
        out = self.program.output(name, expected.dtype, expected.size)
        self.program.add(f"simd_inst::vsts_norm({value}, {out}, 0, {mask});")

    def check(self) -> None:
        values, result = self.program.simd()
        assert result.ok, result.findings
        wrong = [n for n, e in self.expected.items() if not same(values[n], e)]
        assert not wrong, (wrong, values[wrong[0]][:10], self.expected[wrong[0]][:10])


def extreme(x: np.ndarray, on: np.ndarray, maximum: bool) -> tuple[np.generic, int]:
    wide = x.astype(np.float64)
    fill = -np.inf if maximum else np.inf
    at = (np.argmax if maximum else np.argmin)(np.where(on, wide, fill))
    return x[at], int(at)


@pytest.mark.parametrize("ctype", EXTREMES)
def test_maximum_and_minimum(ctype):
    c = Case(ctype, 1)
    index = np.dtype(f"u{c.size}")
    for maximum, op in ((True, "max"), (False, "min")):
        for on, mask in ((np.ones(c.n, bool), "all"), (c.mask, "mask")):
            value, at = extreme(c.x, on, maximum)
            whole = np.zeros(c.n, c.dtype)
            whole[0] = value
            whole.view(index)[1] = at
            c.store(f"vc{op}/{mask}", f"simd_inst::vc{op}(x, {mask}, MODE_ZEROING)", whole)
        for style in ("::", "simd_inst::"):
            merged = c.x.copy()
            merged[0], merged.view(index)[1] = value, at
            register = f"r{len(c.expected)}"
            c.program.add(f"auto {register} = x;")
            c.program.add(f"{style}vc{op}({register}, x, mask, MODE_MERGING);")
            c.store(f"vc{op}/merge{style}", register, merged)
        per_block = 32 // c.size
        blocks = np.zeros(c.n, c.dtype)
        for b in range(8):
            part = slice(b * per_block, (b + 1) * per_block)
            blocks[b] = extreme(c.x[part], c.mask[part], maximum)[0]
        assert all(c.mask[b * per_block :][:per_block].any() for b in range(8))
        c.store(f"vcg{op}", f"simd_inst::vcg{op}(x, mask, MODE_ZEROING)", blocks)
    c.check()


def test_first_of_equal_extremes_gives_the_index():
    c = Case("float", 2)
    same_everywhere = np.full(64, 2.5, np.float32)
    source = c.program.input("flat", same_everywhere)
    c.program.add(f"x = simd_inst::vlds_norm<float>({source}, 0);")
    expected = np.zeros(64, np.float32)
    expected[0] = 2.5
    expected.view(np.uint32)[1] = int(np.argmax(c.mask))
    c.store("max", "simd_inst::vcmax(x, mask, MODE_ZEROING)", expected)
    c.check()


@pytest.mark.parametrize("ctype", SUMS)
def test_sums(ctype):
    c = Case(ctype, 3)
    wide = DTYPES[SUMS[ctype]]
    with np.errstate(over="ignore"):
        for on, mask in ((np.ones(c.n, bool), "all"), (c.mask, "mask")):
            total = np.zeros(256 // wide.itemsize, wide)
            total[0] = tree(np.where(on, c.x, 0).astype(wide))
            c.store(
                f"vcadd/{mask}",
                f"simd_inst::vcadd(x, {mask}, MODE_ZEROING)",
                total,
                f"asc_create_mask_b{8 * wide.itemsize}(PAT_ALL)",
            )
        if wide == c.dtype:
            taken = np.where(c.mask, c.x, 0).astype(c.dtype)
            blocks = np.zeros(c.n, c.dtype)
            blocks[:8] = tree(taken.reshape(8, -1))
            c.store("vcgadd", "simd_inst::vcgadd(x, mask, MODE_ZEROING)", blocks)
            pairs = np.zeros(c.n, c.dtype)
            pairs[: c.n // 2] = taken[0::2] + taken[1::2]
            if c.dtype.kind == "f":
                c.store("vcpadd", "simd_inst::vcpadd(x, mask, MODE_ZEROING)", pairs)
            merged = c.x.copy()
            merged[0] = total[0]
            c.program.add("auto kept = x;", "::vcadd(kept, x, mask, MODE_MERGING);")
            c.store("vcadd/merge", "kept", merged)
    c.check()
