"""SIMT bodies: threads, barriers, warp operations, atomics, math and small vectors."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from tests.emulator_vector.program import Program, same

ALL = 0xFFFFFFFF


def run(threads: str, *lines: str, **inputs: np.ndarray):
    """Outputs are declared as ``out_<name>`` inputs of the wanted dtype and size."""
    p = Program()
    for name, array in inputs.items():
        array = np.asarray(array)
        p.add(f"auto {name} = {p.input(name, array)};")
    p.add("const int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);")
    p.add(*lines)
    return p.simt(threads)


def empty(n: int, dtype: type = np.int32) -> np.ndarray:
    return np.zeros(n, dtype)


def test_thread_coordinates():
    values, result = run(
        "4, 3, 5", "out[t] = threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z;", out=empty(60)
    )
    assert result.ok, result.findings
    z, y, x = np.meshgrid(range(5), range(3), range(4), indexing="ij")
    assert (values["out"] == (x + 10 * y + 100 * z).reshape(-1)).all()


def test_barriers_order_threads():
    """Each round every thread adds its left neighbour's value; wrong without the barriers."""
    n = 96
    values, result = run(
        str(n),
        "for (int i = 0; i < 5; ++i) {",
        "  int left = buf[(t + 95) % 96];",
        "  asc_syncthreads();",
        "  buf[t] += left;",
        "  asc_syncthreads();",
        "}",
        buf=np.arange(n, dtype=np.int32),
    )
    assert result.ok, result.findings
    x = np.arange(n)
    for _ in range(5):
        x = x + np.roll(x, 1)
    assert (values["buf"] == x).all()


def test_missing_barrier_is_a_race():
    _, result = run("64", "int left = buf[(t + 63) % 64];", "buf[t] = left;", buf=empty(64))
    assert [f.kind for f in result.findings] == ["race-simt"]


def test_barrier_that_some_threads_skip_is_found():
    values, result = run("64", "if (t < 40) { asc_syncthreads(); out[t] = 1; }", out=empty(64))
    assert [f.kind for f in result.findings] == ["barrier"]
    assert "24 of 64 threads" in result.findings[0].message
    assert values["out"].sum() == 40


def test_ballots_see_active_lanes_only():
    values, result = run(
        "80",
        "all_[t] = asc_ballot(t % 3 == 0);",
        "if (t & 1) odd[t] = asc_ballot(1);",
        "active[t] = asc_activemask();",
        "any_[t] = asc_any(t == 5);",
        "every[t] = asc_all(t < 64);",
        all_=empty(80, np.uint32),
        odd=empty(80, np.uint32),
        active=empty(80, np.uint32),
        any_=empty(80),
        every=empty(80),
    )
    assert result.ok, result.findings
    t = np.arange(80)
    last = 0xFFFF  # the third warp has 16 threads
    ballot = [
        sum(1 << (i % 32) for i in range(w, min(w + 32, 80)) if i % 3 == 0) for w in (0, 32, 64)
    ]
    assert (values["all_"] == np.array(ballot, np.uint32)[t // 32]).all()
    odd = np.where(t < 64, 0xAAAAAAAA, 0xAAAA)
    assert (values["odd"] == np.where(t & 1, odd, 0)).all()
    assert (values["active"] == np.where(t < 64, ALL, last)).all()
    assert (values["any_"] == (t < 32)).all()
    assert (values["every"] == (t < 64)).all()


SHUFFLES = {
    "asc_shfl(v, 5, 16)": lambda lane, w: (lane // w) * w + 5 % w,
    "asc_shfl(v, t + 3, 8)": lambda lane, w: (lane // w) * w + (lane + 3) % w,
    "asc_shfl_up(v, 3, 16)": lambda lane, w: np.where(lane % w >= 3, lane - 3, lane),
    "asc_shfl_down(v, 3, 16)": lambda lane, w: np.where(lane % w + 3 < w, lane + 3, lane),
    "asc_shfl_xor(v, 5, 32)": lambda lane, w: lane ^ 5,
    "asc_shfl_xor(v, 12, 8)": lambda lane, w: np.where((lane ^ 12) > (lane | 7), lane, lane ^ 12),
}


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.float32, np.int64, np.float16])
def test_shuffles(dtype):
    v = (np.arange(64) * 3).astype(dtype)
    lines = ["auto v = in[t];"]
    lines += [f"out{i}[t] = {call};" for i, call in enumerate(SHUFFLES)]
    outputs = {f"out{i}": empty(64, dtype) for i in range(len(SHUFFLES))}
    values, result = run("64", *lines, **{"in": v}, **outputs)
    assert result.ok, result.findings
    lane, base = np.arange(64) % 32, np.arange(64) // 32 * 32
    for i, (call, source) in enumerate(SHUFFLES.items()):
        width = int(call.rpartition(",")[2].strip(" )"))
        source_lane = source(lane, width)
        assert same(values[f"out{i}"], v[base + source_lane]), call


def test_warp_reductions():
    rng = np.random.default_rng(1)
    x = rng.standard_normal(70).astype(np.float32)
    k = rng.integers(-1000, 1000, 70).astype(np.int32)
    values, result = run(
        "70",
        "fsum[t] = asc_reduce_add(x[t]); fmax_[t] = asc_reduce_max(x[t]);",
        "isum[t] = asc_reduce_add(k[t]); imin[t] = asc_reduce_min(k[t]);",
        "umax[t] = asc_reduce_max((uint32_t)k[t]); hmax[t] = asc_reduce_max((half)x[t]);",
        x=x,
        k=k,
        fsum=empty(70, np.float32),
        fmax_=empty(70, np.float32),
        isum=empty(70),
        imin=empty(70),
        umax=empty(70, np.uint32),
        hmax=empty(70, np.float16),
    )
    assert result.ok, result.findings
    for w in (slice(0, 32), slice(32, 64), slice(64, 70)):
        np.testing.assert_allclose(values["fsum"][w], x[w].sum(dtype=np.float64), rtol=1e-5)
        assert (values["fmax_"][w] == x[w].max()).all()
        assert (values["isum"][w] == k[w].sum()).all()
        assert (values["imin"][w] == k[w].min()).all()
        assert (values["umax"][w] == k[w].view(np.uint32).max()).all()
        assert (values["hmax"][w] == x[w].astype(np.float16).max()).all()


def test_divergent_loops_meet_again():
    """Lanes leave the loop at different trips; those inside go on without them, then all meet."""
    values, result = run(
        "32",
        "int sum = 0;",
        "for (int i = 0; i < t % 4; ++i) sum += asc_reduce_add(1);",
        "inside[t] = sum;",
        "after[t] = asc_reduce_add(1);",
        inside=empty(32),
        after=empty(32),
    )
    assert result.ok, result.findings
    t = np.arange(32)
    # Trip i is made by the lanes with t % 4 > i: 24, 16 and 8 of them.
    assert (values["inside"] == np.array([0, 24, 40, 48])[t % 4]).all()
    assert (values["after"] == 32).all()


ALL_REDUCE = [
    (128, 1, 128),
    (32, 1, 64),
    (16, 1, 64),
    (8, 1, 64),
    (4, 2, 64),
    (64, 1, 128),
    (256, 4, 256),
    (96, 1, 192),
]


@pytest.mark.parametrize("reducer", ["SumOp", "MaxOp", "MinOp"])
def test_all_reduce_template(reducer):
    rng = np.random.default_rng(3)
    lines, inputs = [], {}
    n = 256
    x = rng.standard_normal(n).astype(np.float32)
    k = rng.integers(-50, 50, n).astype(np.int32)
    for i, (threads, scale, _) in enumerate(ALL_REDUCE):
        for name in ("x", "k"):
            template = f"tl::AscendAllReduce<tl::{reducer}, {threads}, {scale}, 0>"
            lines.append(f"{name}{i}[t] = {template}::run({name}[t], {name}buf);")
            inputs[f"{name}{i}"] = empty(n, x.dtype if name == "x" else np.int32)
    values, result = run(
        str(n), *lines, x=x, k=k, xbuf=empty(n, np.float32), kbuf=empty(n), **inputs
    )
    fold = {"SumOp": np.sum, "MaxOp": np.max, "MinOp": np.min}[reducer]
    for i, (threads, scale, used) in enumerate(ALL_REDUCE):
        for name, data in (("x", x), ("k", k)):
            # Thread t reduces over its group of `threads`, every `scale`-th position.
            groups = data[:used].reshape(-1, threads // scale, scale).astype(np.float64)
            wanted = np.broadcast_to(fold(groups, axis=1, keepdims=True), groups.shape).reshape(-1)
            covered = threads <= 32 or threads == n or threads & (threads - 1)
            actual = values[f"{name}{i}"][: used if covered else threads]
            np.testing.assert_allclose(actual, wanted[: actual.size], rtol=1e-5, atol=1e-5)
    assert not result.of_kind("error", "barrier"), result.findings


def test_atomics_on_ub():
    rng = np.random.default_rng(4)
    slot = rng.integers(0, 4, 128).astype(np.int32)
    add = rng.integers(1, 9, 128).astype(np.int32)
    values, result = run(
        "128",
        "old[t] = asc_atomic_add(&sum[slot[t]], add[t]);",
        "asc_atomic_max(&top[slot[t]], add[t]); asc_atomic_min(&low[slot[t]], (float)add[t]);",
        "asc_atomic_add(&halves[slot[t]], (half)1); asc_atomic_or(&bits[slot[t]], 1u << add[t]);",
        slot=slot,
        add=add,
        sum=empty(4),
        top=empty(4),
        low=np.full(4, 100, np.float32),
        halves=empty(4, np.float16),
        bits=empty(4, np.uint32),
        old=empty(128),
    )
    assert result.ok, result.findings
    for s in range(4):
        mine = add[slot == s]
        assert values["sum"][s] == mine.sum()
        assert values["top"][s] == mine.max() and values["low"][s] == mine.min()
        assert values["halves"][s] == mine.size
        assert values["bits"][s] == np.bitwise_or.reduce(1 << mine)
        order = np.concatenate([[0], np.cumsum(mine)[:-1]])
        assert (values["old"][slot == s] == order).all()


FUNCTIONS = {
    "expf": np.exp,
    "exp2f": np.exp2,
    "exp10f": lambda v: 10.0**v,
    "logf": np.log,
    "log2f": np.log2,
    "log10f": np.log10,
    "log1pf": np.log1p,
    "sqrtf": np.sqrt,
    "rsqrtf": lambda v: 1 / np.sqrt(v),
    "tanhf": np.tanh,
    "tanf": np.tan,
    "sinf": np.sin,
    "cosf": np.cos,
    "atanf": np.arctan,
    "erff": np.vectorize(math.erf),
    "floorf": np.floor,
    "ceilf": np.ceil,
    "fabsf": np.abs,
    "truncf": np.trunc,
    "roundf": lambda v: np.copysign(np.floor(np.abs(v) + 0.5), v),
}


def test_math_functions():
    x = np.random.default_rng(5).uniform(0.1, 4, 64).astype(np.float32)
    lines = [f"o_{name}[t] = {name}(x[t]);" for name in FUNCTIONS]
    lines += ["p[t] = powf(x[t], 1.5f); m[t] = fmodf(x[t], 0.7f); a[t] = atan2f(x[t], 2.0f);"]
    extra = {name: empty(64, np.float32) for name in ("p", "m", "a")}
    outputs = {f"o_{name}": empty(64, np.float32) for name in FUNCTIONS}
    values, result = run("64", *lines, x=x, **outputs, **extra)
    assert result.ok, result.findings
    wide = x.astype(np.float64)
    for name, function in FUNCTIONS.items():
        np.testing.assert_allclose(values[f"o_{name}"], function(wide), rtol=3e-7, atol=1e-7)
    np.testing.assert_allclose(values["p"], wide**1.5, rtol=3e-7)
    np.testing.assert_allclose(values["m"], np.fmod(wide, np.float32(0.7)), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(values["a"], np.arctan2(wide, 2), rtol=3e-7)


def test_half_math_and_rounded_conversions():
    x = np.random.default_rng(6).uniform(0.1, 4, 32).astype(np.float16)
    f = np.random.default_rng(7).standard_normal(32).astype(np.float32)
    values, result = run(
        "32",
        "e[t] = hexp(x[t]); s[t] = hsqrt(x[t]); l[t] = hlog(x[t]); th[t] = htanh(x[t]);",
        "up[t] = __float2half_ru(f[t]); down[t] = __float2half_rd(f[t]);",
        "bf[t] = __float2bfloat16_rn(f[t]); bz[t] = __float2bfloat16_rz(f[t]);",
        "m[t] = max(x[t], (half)1); c[t] = x[t] * x[t] + (half)1;",
        x=x,
        f=f,
        **{name: empty(32, np.float16) for name in ("e", "s", "l", "th", "up", "down", "m", "c")},
        bf=empty(32, ml_dtypes.bfloat16),
        bz=empty(32, ml_dtypes.bfloat16),
    )
    assert result.ok, result.findings
    wide = x.astype(np.float64)
    for name, exact in {"e": np.exp, "s": np.sqrt, "l": np.log, "th": np.tanh}.items():
        np.testing.assert_allclose(values[name], exact(wide), rtol=1e-3, atol=1e-4)
    assert (values["up"] >= f).all() and (values["down"] <= f).all()
    assert same(values["bf"], f.astype(ml_dtypes.bfloat16))
    truncated = (f.view(np.uint32) & 0xFFFF0000).view(np.float32)
    assert same(values["bz"], truncated.astype(ml_dtypes.bfloat16))
    assert same(values["m"], np.maximum(x, np.float16(1)))
    assert same(values["c"], x * x + np.float16(1))


def test_small_vectors_and_packed_conversions():
    rng = np.random.default_rng(8)
    x = rng.standard_normal(64).astype(np.float32) * 100
    values, result = run(
        "32",
        "float2 v = *(__ubuf__ float2*)(x + 2 * t);",
        "float2 w = make_float2(2.0f, 3.0f);",
        "*(__ubuf__ float2*)(y + 2 * t) = v * w + v;",
        "int2 k = make_int2(t, 7);",
        "*(__ubuf__ float2*)(z + 2 * t) = (float2)(k << make_int2(1, 1));",
        "*(__ubuf__ bfloat16x2_t*)(b + 2 * t) = __float22bfloat162_rn(v);",
        "*(__ubuf__ half2*)(h + 2 * t) = __float22half2_rn(v);",
        "uint16_t two = __asc_cvt_float2_to_fp8x2(v, __ASC_SATFINITE, __ASC_E4M3);",
        "*(__ubuf__ uint16_t*)(q + 2 * t) = two;",
        "float8_e4m3x2_t packed = *(__ubuf__ float8_e4m3x2_t*)(q + 2 * t);",
        "*(__ubuf__ float2*)(back + 2 * t) = __e4m3x22float2(packed);",
        "e5[t] = tl::float_e5m2_t(v.x).data;",
        x=x,
        y=empty(64, np.float32),
        z=empty(64, np.float32),
        b=empty(64, ml_dtypes.bfloat16),
        h=empty(64, np.float16),
        q=empty(64, np.uint8),
        back=empty(64, np.float32),
        e5=empty(32, np.uint8),
    )
    assert result.ok, result.findings
    assert same(values["y"], x * np.tile(np.float32([2, 3]), 32) + x)
    assert (values["z"].reshape(32, 2) == np.stack([2 * np.arange(32), np.full(32, 14)], 1)).all()
    assert same(values["b"], x.astype(ml_dtypes.bfloat16))
    assert same(values["h"], x.astype(np.float16))
    e4m3 = np.clip(x, -448, 448).astype(ml_dtypes.float8_e4m3fn)
    assert (values["q"] == e4m3.view(np.uint8)).all()
    assert same(values["back"], e4m3.astype(np.float32))
    assert (values["e5"] == x[::2].astype(ml_dtypes.float8_e5m2).view(np.uint8)).all()


def test_philox_is_uniform_and_reproducible():
    lines = (
        "tl::AscendPhiloxState s;",
        "tl::philox_init(&s, 7, t, 0);",
        "for (int i = 0; i < 16; ++i) u[16 * t + i] = tl::philox_rand_uniform(&s);",
        "float2 g = tl::philox_rand_normal2(&s); n[2 * t] = g.x; n[2 * t + 1] = g.y;",
    )
    p = Program()
    u, n = p.output("u", np.float32, 2048), p.output("n", np.float32, 256)
    p.add(f"auto u = {u}; auto n = {n}; const int t = threadIdx.x;", *lines)
    p.header = "#include <tl_templates/ascend/philox_rng.h>"
    values, result = p.simt("128")
    assert result.ok, result.findings
    assert abs(values["u"].mean() - 0.5) < 0.02 and abs(values["u"].std() - 12**-0.5) < 0.02
    assert np.unique(values["u"]).size > 2000
    assert abs(values["n"].mean()) < 0.2 and abs(values["n"].std() - 1) < 0.15


def test_warp_sync_of_some_lanes():
    p = Program()
    p.header = "#include <simt_api/cooperative_groups.h>"
    p.add(
        f"auto out = {p.output('out', np.uint32, 32)};",
        "if (laneid() % 2 == 0) { cooperative_groups::coalesced_threads().sync(); }",
        "out[laneid()] = asc_activemask();",
    )
    values, result = p.simt("32")
    assert result.ok, result.findings
    assert (values["out"] == ALL).all()


def test_too_many_threads_is_an_error():
    _, result = run("2048, 2", "out[0] = 1;", out=empty(4))
    assert [f.kind for f in result.findings] == ["error"]
    assert "4096 threads" in result.findings[0].message
