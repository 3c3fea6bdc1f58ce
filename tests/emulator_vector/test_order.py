"""Order within a vector function: barriers of SIMD bodies, lanes that collide, alignment."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.asc import line_of
from tests.emulator_vector.program import Program

X = np.arange(64, dtype=np.float32)


def through_memory(*between: str, offset: int = 0, load: str = "vlds_norm<float>") -> Program:
    """A register goes to UB and what lies there, ``offset`` floats on, comes back."""
    p = Program()
    memory, out = p.output("memory", np.float32, 256), p.output("out", np.float32, 64)
    p.add(
        "vector_bool all = asc_create_mask_b32(PAT_ALL);",
        f"auto v = simd_inst::vlds_norm<float>({p.input('x', X)}, 0);",
        f"simd_inst::vsts_norm(v, {memory}, 128, all);",
        f"simd_inst::vsts_norm(v, {memory}, 0, all);",
        *between,
        f"auto w = simd_inst::{load}({memory}, {offset});",
        f"simd_inst::vsts_norm(w, {out}, 0, all);",
    )
    return p


VECTOR_FIRST = ("VV_ALL", "VST_VLD", "VLD_VST", "VST_VST", "VS_ALL", "VST_LD", "VLD_ST", "VST_ST")
SCALAR_FIRST = ("SV_ALL", "ST_VLD", "LD_VST", "ST_VST", "SS_ALL", "ST_LD", "LD_ST", "ST_ST")


@pytest.mark.parametrize("barrier", VECTOR_FIRST + SCALAR_FIRST)
def test_only_the_right_barrier_orders_a_vector_load_after_a_vector_store(barrier):
    p = through_memory(f"simd_inst::mem_bar({barrier});")
    values, result = p.simd()
    assert (values["out"] == X).all()
    kinds = [f.kind for f in result.findings]
    assert kinds == ([] if barrier in ("VV_ALL", "VST_VLD") else ["race-simd"])


def test_a_missing_barrier_names_both_lines():
    p = through_memory()
    _, result = p.simd()
    (finding,) = result.findings
    assert finding.kind == "race-simd"
    store, load = (s.line for s in finding.sites)
    lines = p.text.splitlines()
    assert "vsts_norm(v" in lines[store - 1] and ", 0, all" in lines[store - 1]
    assert load == line_of(p.text, "auto w =")
    assert f"the load at line {load} may overtake the store at line {store}" in finding.message


@pytest.mark.parametrize(("offset", "kinds"), [(64, []), (56, ["race-simd"]), (128, ["race-simd"])])
def test_only_overlapping_bytes_count(offset, kinds):
    _, result = through_memory(offset=offset).simd()
    assert [f.kind for f in result.findings] == kinds


def test_a_barrier_orders_only_the_stores_before_it():
    p = Program()
    memory, out = p.output("memory", np.float32, 64), p.output("out", np.float32, 64)
    p.add(
        "vector_bool all = asc_create_mask_b32(PAT_ALL);",
        f"auto v = simd_inst::vlds_norm<float>({p.input('x', X)}, 0);",
        "for (int32_t i = 0; i < 2; ++i) {",
        f"  simd_inst::vsts_norm(v, {memory}, 0, all);",
        "  if (i == 0) {",
        "    simd_inst::mem_bar(VST_VLD);",
        "  }",
        f"  v = simd_inst::vlds_norm<float>({memory}, 0);",
        "}",
        f"simd_inst::vsts_norm(v, {out}, 0, all);",
    )
    _, result = p.simd()
    assert [f.kind for f in result.findings] == ["race-simd"]


@pytest.mark.parametrize(
    ("barrier", "fine"), [("ST_VLD", True), ("SV_ALL", True), ("VST_VLD", False), ("", False)]
)
def test_a_vector_load_after_a_scalar_store(barrier, fine):
    p = Program()
    out = p.output("out", np.float32, 64)
    x = p.input("x", X)
    p.add(
        "vector_bool all = asc_create_mask_b32(PAT_ALL);",
        f"{x}[3] = 7.0f;",
        f"simd_inst::mem_bar({barrier});" if barrier else "",
        f"simd_inst::vsts_norm(simd_inst::vlds_norm<float>({x}, 0), {out}, 0, all);",
    )
    values, result = p.simd()
    assert values["out"][3] == 7
    assert [f.kind for f in result.findings] == ([] if fine else ["race-simd"])


@pytest.mark.parametrize(
    ("barrier", "fine"), [("VST_LD", True), ("VS_ALL", True), ("ST_LD", False)]
)
def test_a_scalar_load_after_a_vector_store(barrier, fine):
    p = Program()
    out, scalar = p.output("out", np.float32, 64), p.output("scalar", np.float32, 1)
    p.add(
        "vector_bool all = asc_create_mask_b32(PAT_ALL);",
        f"auto v = simd_inst::vlds_norm<float>({p.input('x', X)}, 0);",
        f"simd_inst::vsts_norm(v, {out}, 0, all);",
        f"simd_inst::mem_bar({barrier});",
        f"{scalar}[0] = {out}[5];",
    )
    values, result = p.simd()
    assert values["scalar"][0] == 5
    messages = [str(f) for f in result.findings]
    assert len(messages) == (0 if fine else 1) and all("the scalar load" in m for m in messages)


def overwritten(*between: str, value: str = "zero", offset: int = 0, mask: str = "all") -> Program:
    """A register is loaded, other values go where it was, and only then it is stored elsewhere."""
    p = Program()
    x, out = p.input("x", np.concatenate([X, X])), p.output("out", np.float32, 64)
    other, sink = p.input("other", X), p.output("sink", np.float32, 64)
    p.add(
        "vector_bool all = asc_create_mask_b32(PAT_ALL);",
        "vector_bool half = simd_inst::update_mask_b32(uint32_t(32));",
        "auto zero = simd_inst::vdup<float>(0.0f, all, MODE_ZEROING);",
        f"auto v = simd_inst::vlds_norm<float>({x}, 0);",
        *(line.format(sink=sink, other=other) for line in between),
        f"simd_inst::vsts_norm({value}, {x}, {offset}, all);",
        f"simd_inst::vsts_norm(v, {out}, 0, {mask});",
    )
    return p


@pytest.mark.parametrize("barrier", VECTOR_FIRST + SCALAR_FIRST)
def test_only_the_right_barrier_orders_a_vector_store_after_a_vector_load(barrier):
    p = overwritten(f"simd_inst::mem_bar({barrier});")
    values, result = p.simd()
    assert (values["out"] == X).all()
    found = [f.message for f in result.findings]
    assert len(found) == (barrier not in ("VV_ALL", "VLD_VST"))
    for message in found:
        store, load = line_of(p.text, "vsts_norm(zero"), line_of(p.text, "auto v =")
        assert f"the store at line {store} may overtake the load at line {load} of" in message


@pytest.mark.parametrize(
    "how",
    [
        {"value": "simd_inst::vadds(v, 1.0f, all, MODE_ZEROING)"},
        {"value": "simd_inst::vsel(zero, zero, less)", "between": ["{less}"]},
        {"between": ["simd_inst::vsts_norm(v, {sink}, 0, all);"]},
        {"between": ["auto w = simd_inst::vlds_norm<float>({other}, 0);"], "value": "w"},
        {"offset": 64},
        {"offset": 32, "mask": "half"},
        {"between": ["v = simd_inst::vlds_norm<float>({other}, 0);"]},
    ],
    ids=[
        "its own value",
        "its mask",
        "a store before",
        "a later load",
        "other bytes",
        "unused",
        "dropped",
    ],
)
def test_registers_order_a_store_after_a_load(how):
    less = "vector_bool less; asc_lt(less, v, zero, all);"
    between = [less if line == "{less}" else line for line in how.pop("between", [])]
    _, result = overwritten(*between, **how).simd()
    assert result.ok, result.findings


@pytest.mark.parametrize("offset", [0, 32])
def test_a_store_that_waits_for_no_load_does_not_order_the_next(offset):
    another = "simd_inst::vsts_norm(zero, {sink}, 0, all);"
    _, result = overwritten(another, offset=offset).simd()
    assert [f.kind for f in result.findings] == ["race-simd"]


@pytest.mark.parametrize(("barrier", "fine"), [("VLD_ST", True), ("VS_ALL", True), ("", False)])
def test_a_scalar_store_after_a_vector_load(barrier, fine):
    p = Program()
    x, out = p.input("x", X), p.output("out", np.float32, 64)
    p.add(
        "vector_bool all = asc_create_mask_b32(PAT_ALL);",
        f"auto v = simd_inst::vlds_norm<float>({x}, 0);",
        f"simd_inst::vsts_norm(v, {out}, 0, all);",
        f"simd_inst::mem_bar({barrier});" if barrier else "",
        f"{x}[3] = 7.0f;",
    )
    _, result = p.simd()
    assert [f.kind for f in result.findings] == ([] if fine else ["race-simd"])


def test_stores_keep_their_order():
    p = Program()
    out = p.output("out", np.float32, 64)
    p.add(
        "vector_bool all = asc_create_mask_b32(PAT_ALL);",
        f"simd_inst::vsts_norm(simd_inst::vlds_norm<float>({p.input('x', X)}, 0), {out}, 0, all);",
        f"simd_inst::vsts_norm(simd_inst::vdup<float>(1.0f, all, MODE_ZEROING), {out}, 0, all);",
    )
    values, result = p.simd()
    assert result.ok and (values["out"] == 1).all()


def test_another_body_starts_in_order():
    """Between two vector functions nothing can be overtaken."""
    p = through_memory()
    first, second = "\n".join(p.lines[:4]), "\n".join((p.lines[0], *p.lines[4:]))
    p.lines = [second]
    p.header = f"__simd_vf__ inline void before(__ubuf__ uint8_t* ub) {{\n{first}\n}}\n"
    p.call_before = "before(ub);"
    values, result = p.simd()
    assert result.ok, result.findings
    assert (values["out"] == X).all()


@pytest.mark.parametrize(
    ("ctype", "index", "step"),
    [("float", np.uint32, 1), ("half", np.uint16, 1), ("uint8_t", np.uint16, 2)],
)
def test_two_lanes_with_one_index_are_found(ctype, index, step):
    dtype = {"float": np.float32, "half": np.float16, "uint8_t": np.uint8}[ctype]
    count = 256 // np.dtype(dtype).itemsize
    where = np.arange(count // step, dtype=index)[::-1].copy()
    values = np.arange(count).astype(dtype)
    for clash in (False, True):
        if clash:
            where[9] = where[4]
        p = Program()
        p.add(
            f"vector_bool all = asc_create_mask_b{8 * np.dtype(dtype).itemsize}(PAT_ALL);",
            f"auto v = simd_inst::vlds_norm<{ctype}>({p.input('x', values)}, 0);",
            f"auto i = simd_inst::vlds_norm<{index.__name__}_t>({p.input('i', where)}, 0);",
            f"simd_inst::vscatter(v, {p.output('out', dtype, count)}, i, all);",
        )
        _, result = p.simd()
        found = [f for f in result.findings if f.kind == "race-simd"]
        assert len(found) == clash
        if clash:
            assert f"lanes {4 * step} and {9 * step} both have the index" in found[0].message


@pytest.mark.parametrize(
    ("access", "size"),
    [
        ("*(float2*)out = *(__ubuf__ float2*)(x + 1);", 8),
        ("*(__ubuf__ float4*)(x + 2) = make_float4(1, 2, 3, 4);", 16),
        ("*(float2*)out = *(__ubuf__ float2*)(x + 2);", 0),
        ("*(__ubuf__ float4*)(x + 4) = make_float4(1, 2, 3, 4);", 0),
        ("out[0] = *(__ubuf__ float*)((__ubuf__ uint8_t*)x + 2);", 4),
        ("*(__ubuf__ uint2*)(((__ubuf__ half*)x) + 4) = make_uint2(1, 2);", 0),
        ("*(__ubuf__ uint2*)(((__ubuf__ half*)x) + 2) = make_uint2(1, 2);", 8),
    ],
)
def test_misaligned_accesses_of_a_simt_body(access, size):
    p = Program()
    p.add(f"__ubuf__ float* x = {p.input('x', X)};", "float out[2];", access, "(void)out;")
    _, result = p.simt("1")
    kinds = [f.kind for f in result.findings]
    assert kinds == (["alignment"] if size else [])
    if size:
        assert f"an access of {size} bytes" in result.findings[0].message
        assert "UB byte" in result.findings[0].message
