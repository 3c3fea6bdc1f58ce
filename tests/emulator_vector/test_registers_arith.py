"""Elementwise instructions of the SIMD unit against numpy, under masks, zeroing and merging."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.emulator_vector.program import DTYPES, Program, lanes, predicate_bits, same, samples

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

Array = np.ndarray
INTEGERS = [n for n, d in DTYPES.items() if d.kind in "iu" and d.itemsize < 8]
FLOATS = ["float", "half", "bfloat16_t"]


def once(x: Array, dtype: np.dtype) -> Array:
    """An exact result in the element type; float32 in between does no harm. Integers wrap."""
    half = dtype.itemsize == 2 and dtype.kind not in "iu"
    return x.astype(np.float32).astype(dtype) if half else x.astype(dtype)


def wide(x: Array) -> Array:
    return x.astype(np.float64) if x.dtype.kind not in "iu" else x.astype(np.int64)


def bits(x: Array) -> Array:
    return x.view(f"u{x.dtype.itemsize}")


def shift_left(a: Array, n: Array) -> Array:
    width = 8 * a.dtype.itemsize
    sign = np.int64(1 << (width - 1)) if a.dtype.kind == "i" else np.int64(0)
    pattern = bits(a).astype(np.int64)
    moved = (pattern << np.minimum(n, 40)) & ((1 << width) - 1)
    result = (pattern & sign) | (moved & ~sign)
    return np.where(n >= width, 0, result).astype(np.uint64).astype(bits(a).dtype).view(a.dtype)


def shift_right(a: Array, n: Array) -> Array:
    return (a.astype(np.int64) >> np.minimum(n, 40)).astype(a.dtype)


def divide(a: Array, b: Array, dtype: np.dtype) -> Array:
    if dtype.kind not in "iu":
        return once(wide(a) / wide(b), dtype)
    quotient = np.trunc(a.astype(np.float64) / np.where(b == 0, 1, b)).astype(np.int64)
    return np.where(b == 0, -1, quotient).astype(dtype)


# name: expected(a, b, dtype)
BINARY: dict[str, Callable[[Array, Array, np.dtype], Array]] = {
    "vadd": lambda a, b, d: once(wide(a) + wide(b), d),
    "vsub": lambda a, b, d: once(wide(a) - wide(b), d),
    "vmul": lambda a, b, d: once(wide(a) * wide(b), d),
    "vmax": lambda a, b, d: np.maximum(wide(a), wide(b)).astype(d),
    "vmin": lambda a, b, d: np.minimum(wide(a), wide(b)).astype(d),
    "vand": lambda a, b, d: (bits(a) & bits(b)).view(d),
    "vor": lambda a, b, d: (bits(a) | bits(b)).view(d),
    "vxor": lambda a, b, d: (bits(a) ^ bits(b)).view(d),
    "vdiv": divide,
}
UNARY: dict[str, Callable[[Array, np.dtype], Array]] = {
    "vabs": lambda a, d: np.abs(wide(a)).astype(d),
    "vneg": lambda a, d: (-wide(a)).astype(d),
    "vrelu": lambda a, d: np.where(wide(a) > 0, a, np.zeros((), d)),
    "vnot": lambda a, d: (~bits(a)).view(d),
}
COMPARE = {
    "eq": np.equal,
    "ne": np.not_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lt": np.less,
    "le": np.less_equal,
}


def masked(result: Array, old: Array, mask: Array) -> Array:
    return np.where(mask, bits(result), bits(old)).view(result.dtype)


class Elementwise:
    """One body with many instructions on the same registers a, b and old."""

    def __init__(self, ctype: str, seed: int = 1) -> None:
        rng = np.random.default_rng(seed)
        self.ctype, self.dtype, self.n = ctype, DTYPES[ctype], lanes(ctype)
        self.a, self.b, self.old = (samples(ctype, rng) for _ in range(3))
        self.b[3:6] = self.a[3:6]
        if self.dtype.kind not in "iu":
            self.a[:3] = np.array([np.nan, np.inf, -0.0], self.dtype)
        self.mask = rng.random(self.n) < 0.6
        self.program = Program()
        self.expected: dict[str, Array] = {}
        p = self.program
        pred = p.input("pred", predicate_bits(self.mask, self.dtype.itemsize))
        width = 8 * self.dtype.itemsize
        p.add(
            f"auto a = simd_inst::vlds_norm<{ctype}>({p.input('a', self.a)}, 0);",
            f"auto b = simd_inst::vlds_norm<{ctype}>({p.input('b', self.b)}, 0);",
            f"auto old = simd_inst::vlds_norm<{ctype}>({p.input('old', self.old)}, 0);",
            f"vector_bool mask = simd_inst::plds_norm((__ubuf__ uint32_t*){pred}, 0);",
            f"vector_bool all = asc_create_mask_b{width}(PAT_ALL);",
        )

    def store(self, name: str, value: str, expected: Array) -> None:
        out = self.program.output(name, self.dtype, self.n)
        self.program.add(f"simd_inst::vsts_norm({value}, {out}, 0, all);")
        self.expected[name] = expected

    def instruction(self, op: str, operands: str, result: Array) -> None:
        """Without mask, zeroing and merging; merging both natively and by the wheel's wrapper."""
        zero, mask = np.zeros_like(self.old), self.mask
        call = f"simd_inst::{op}({operands}"
        self.store(f"{op}", f"{call}, all, MODE_ZEROING)", result)
        self.store(f"{op}/zero", f"{call}, mask, MODE_ZEROING)", masked(result, zero, mask))
        for style in ("::", "simd_inst::"):
            register = f"r{len(self.expected)}"
            self.program.add(
                f"auto {register} = old;",
                f"{style}{op}({register}, {operands}, mask, MODE_MERGING);",
            )
            self.store(f"{op}/merge{style}", register, masked(result, self.old, mask))

    def check(self) -> None:
        values, result = self.program.simd()
        assert result.ok, result.findings
        wrong = [n for n, e in self.expected.items() if not same(values[n], e)]
        assert not wrong, (wrong, values[wrong[0]][:8], self.expected[wrong[0]][:8], self.a[:8])


def supported(ctype: str, op: str) -> bool:
    return op != "vdiv" or DTYPES[ctype].itemsize > 1


@pytest.mark.parametrize("ctype", FLOATS + INTEGERS)
def test_binary_and_unary(ctype):
    t = Elementwise(ctype)
    for op, expected in BINARY.items():
        if supported(ctype, op):
            t.instruction(op, "a, b", expected(t.a, t.b, t.dtype))
    for op, expected_of in UNARY.items():
        t.instruction(op, "a", expected_of(t.a, t.dtype))
    t.check()


@pytest.mark.parametrize("ctype", FLOATS + INTEGERS)
def test_scalar_operand(ctype):
    t = Elementwise(ctype, seed=2)
    scalar = np.full_like(t.a, 3)
    for op in ("vadd", "vmul", "vmax", "vmin"):
        t.instruction(f"{op}s", f"a, ({ctype})3", BINARY[op](t.a, scalar, t.dtype))
    t.store("dup", f"simd_inst::vdup<{ctype}>(({ctype})3, all, MODE_ZEROING)", scalar)
    zero = np.zeros_like(t.a)
    t.store(
        "dup/zero",
        f"simd_inst::vdup<{ctype}>(({ctype})3, mask, MODE_ZEROING)",
        masked(scalar, zero, t.mask),
    )
    for pos, lane in (("POS_LOWEST", 0), ("POS_HIGHEST", -1)):
        every = np.full_like(t.b, t.b[lane])
        t.store(pos, f"simd_inst::vdupv(b, all, {pos}, MODE_ZEROING)", every)
    t.check()


@pytest.mark.parametrize("ctype", INTEGERS)
def test_shifts(ctype):
    t = Elementwise(ctype, seed=3)
    width = 8 * t.dtype.itemsize
    t.b[:] = np.arange(t.n) % (width + 3)
    amount = t.b.astype(np.int64)
    # The program copies its inputs when they are placed; place the amounts anew.
    n = t.program.input("n", t.b)
    t.program.add(f"b = simd_inst::vlds_norm<{ctype}>({n}, 0);")
    t.instruction("vshl", "a, b", shift_left(t.a, amount))
    t.instruction("vshr", "a, b", shift_right(t.a, amount))
    two = np.full_like(amount, 2)
    t.instruction("vshls", "a, (int16_t)2", shift_left(t.a, two))
    t.instruction("vshrs", "a, (int16_t)2", shift_right(t.a, two))
    t.check()


@pytest.mark.parametrize("ctype", FLOATS + INTEGERS)
def test_comparisons_and_select(ctype):
    t = Elementwise(ctype, seed=4)
    for op, function in COMPARE.items():
        truth = function(wide(t.a), wide(t.b)) & t.mask
        choice = np.where(truth, bits(t.a), bits(t.b)).view(t.dtype)
        t.store(op, f"simd_inst::vsel(a, b, simd_inst::vcmp_{op}(a, b, mask))", choice)
        truth = function(wide(t.a), 3) & t.mask
        choice = np.where(truth, bits(t.a), bits(t.b)).view(t.dtype)
        t.store(
            f"{op}s", f"simd_inst::vsel(a, b, simd_inst::vcmps_{op}(a, ({ctype})3, mask))", choice
        )
    t.check()


@pytest.mark.parametrize("ctype", FLOATS)
def test_fused_and_special(ctype):
    t = Elementwise(ctype, seed=5)
    x, y, old = wide(t.a), wide(t.b), wide(t.old)
    fused = {
        "vmula": (old + x * y, "a, b"),
        "vmadd": (old * x + y, "a, b"),
        "vaxpy": (x * 3 + old, f"a, ({ctype})3"),
    }
    for op, (exact, operands) in fused.items():
        for mode, rest in (("MODE_ZEROING", np.zeros_like(t.old)), ("MODE_MERGING", t.old)):
            register = f"f{len(t.expected)}"
            t.program.add(
                f"auto {register} = old;",
                f"simd_inst::{op}(&{register}, {operands}, mask, {mode});",
            )
            t.store(f"{op}/{mode}", register, masked(once(exact, t.dtype), rest, t.mask))
    t.store("absdif", "simd_inst::vabsdif(a, b, all, MODE_ZEROING)", once(np.abs(x - y), t.dtype))
    leaky = np.where(x > 0, x, x * 0.25)
    t.store("lrelu", f"simd_inst::vlrelu(a, ({ctype})0.25f, all)", once(leaky, t.dtype))
    t.store("prelu", "simd_inst::vprelu(a, b, all)", once(np.where(x > 0, x, x * y), t.dtype))
    t.check()


def ulps(actual: Array, expected: Array) -> float:
    """Largest distance in units of the last place of float32; NaN must match NaN."""
    a, e = actual.astype(np.float64), expected
    assert (np.isnan(a) == np.isnan(e)).all()
    finite = np.isfinite(e) & np.isfinite(a)
    assert (a[~finite & ~np.isnan(e)] == e[~finite & ~np.isnan(e)]).all()
    spacing = np.spacing(np.maximum(np.abs(e[finite]), 2.0**-126).astype(np.float32))
    return float(np.max(np.abs(a[finite] - e[finite]) / spacing, initial=0))


def test_float32_functions_and_their_exact_forms():
    rng = np.random.default_rng(6)
    n = lanes("float")
    x = (rng.standard_normal(n) * 10).astype(np.float32)
    x[:4] = [0.0, -0.0, np.inf, -np.inf]
    y = (rng.standard_normal(n) * 7).astype(np.float32)
    tiny = (rng.random(n) * 2.0**-126).astype(np.float32)  # subnormal
    deep = np.linspace(-104, -80, n, dtype=np.float32)  # exponentials of these are subnormal
    p = Program()
    p.add("vector_bool all = asc_create_mask_b32(PAT_ALL);")
    for name, values in {"x": x, "y": y, "tiny": tiny, "deep": deep}.items():
        p.add(f"auto {name} = simd_inst::vlds_norm<float>({p.input(name, values)}, 0);")
    wanted: dict[str, tuple[str, Array, float]] = {}

    def value(name: str, call: str, expected: Array, limit: float) -> None:
        wanted[name] = (call, expected, limit)
        p.add(f"simd_inst::vsts_norm({call}, {p.output(name, np.float32, n)}, 0, all);")

    x64, y64, tiny64, deep64 = (v.astype(np.float64) for v in (x, y, tiny, deep))
    modes = "all, MODE_ZEROING"
    value("exp", f"simd_inst::vexp(x, {modes})", np.exp(x64), 1)
    value("ln", f"simd_inst::vln(x, {modes})", np.log(x64), 1)
    value("sqrt", f"simd_inst::vsqrt(x, {modes})", np.sqrt(x64), 0.5)
    value("expdif", "simd_inst::vexpdif(x, y, all)", np.exp(x64 - y64), 40)  # x - y rounds first
    value("div", f"simd_inst::vdiv(x, y, {modes})", x64 / y64, 0.5)
    value("div0ulp", f"simd_inst::vdiv_0ulp_ftz_true(x, y, {modes})", x64 / y64, 0.5)
    value("sqrt0ulp", f"simd_inst::vsqrt_0ulp_ftz_false(x, {modes})", np.sqrt(x64), 0.5)
    # The plain instructions take and give subnormals as zero, the wrappers keep them.
    value("flushed", f"simd_inst::vsqrt(tiny, {modes})", np.zeros(n), 0)
    value("kept", f"simd_inst::vsqrt_0ulp_ftz_false(tiny, {modes})", np.sqrt(tiny64), 0.5)
    value("lntiny", f"simd_inst::vln(tiny, {modes})", np.full(n, -np.inf), 0)
    value("lnkept", f"simd_inst::vln_1ulp_ftz_false(tiny, {modes})", np.log(tiny64), 2)
    normal = np.exp(deep64) >= 2.0**-126
    value("expdeep", f"simd_inst::vexp(deep, {modes})", np.where(normal, np.exp(deep64), 0), 1)
    value("expkept", f"simd_inst::vexp_1ulp_ftz_false(deep, {modes})", np.exp(deep64), 2)
    values, result = p.simd()
    assert result.ok, result.findings
    for name, (call, expected, limit) in wanted.items():
        off = ulps(values[name], expected)
        assert off <= limit, (call, off)


def test_carries_and_wide_products():
    rng = np.random.default_rng(8)
    n = lanes("uint32_t")
    low_a, high_a, low_b, high_b = (samples("uint32_t", rng) for _ in range(4))
    low_b[:4] = low_a[:4]
    p = Program()
    p.add("vector_bool all = asc_create_mask_b32(PAT_ALL);")
    for name, v in {"la": low_a, "ha": high_a, "lb": low_b, "hb": high_b}.items():
        p.add(f"auto {name} = simd_inst::vlds_norm<uint32_t>({p.input(name, v)}, 0);")
    for op in ("add", "sub"):
        p.add(
            f"auto {op}0 = simd_inst::v{op}c(la, lb, all);",
            f"auto {op}1 = simd_inst::v{op}cs(ha, hb, {op}0.v0, all);",
            f"simd_inst::vsts_norm({op}0.v1, {p.output(op + '_low', np.uint32, n)}, 0, all);",
            f"simd_inst::vsts_norm({op}1.v1, {p.output(op + '_high', np.uint32, n)}, 0, all);",
        )
    p.add(
        "auto product = simd_inst::vmull(la, lb, all);",
        f"simd_inst::vsts_norm(product.v0, {p.output('mul_low', np.uint32, n)}, 0, all);",
        f"simd_inst::vsts_norm(product.v1, {p.output('mul_high', np.uint32, n)}, 0, all);",
        "auto signed_product = simd_inst::vmull((vector_s32&)la, (vector_s32&)lb, all);",
        f"simd_inst::vsts_norm(signed_product.v1, {p.output('smul_high', np.int32, n)}, 0, all);",
    )
    values, result = p.simd()
    assert result.ok, result.findings
    a = low_a.astype(np.uint64) | high_a.astype(np.uint64) << np.uint64(32)
    b = low_b.astype(np.uint64) | high_b.astype(np.uint64) << np.uint64(32)
    product = low_a.astype(np.uint64) * low_b
    for name, wide64 in (("add", a + b), ("sub", a - b), ("mul", product)):
        joined = values[f"{name}_low"] | values[f"{name}_high"].astype(np.uint64) << np.uint64(32)
        assert (joined == wide64).all(), name
    signed = low_a.view(np.int32).astype(np.int64) * low_b.view(np.int32)
    assert (values["smul_high"] == signed >> 32).all()
