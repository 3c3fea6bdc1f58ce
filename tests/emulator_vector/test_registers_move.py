"""Loads, stores, permutations and predicates of the SIMD unit against index arithmetic in numpy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator_vector.program import (
    DTYPES,
    VL,
    Program,
    lanes,
    predicate_bits,
    same,
    samples,
)
from tilelang_ascend_sched.emulator import CompileError

BY_SIZE = {1: "uint8_t", 2: "bfloat16_t", 4: "float"}


def spread(x: np.ndarray, ratio: int, n: int) -> np.ndarray:
    out = np.zeros(n, x.dtype)
    out[::ratio] = x[: n // ratio]
    return out


def load_cases(ctype: str) -> dict[str, np.ndarray]:
    """Instruction name to the index of the element each lane receives, -1 for zero."""
    n, size = lanes(ctype), DTYPES[ctype].itemsize
    i = np.arange(n)
    cases = {
        "vlds_norm": i,
        "vlds_brc_elem": 0 * i,
        "vlds_brc_datablock": i % (32 // size),
        "vlds_unpack": np.where(i % 2 == 0, i // 2, -1),
    }
    if size <= 2:
        cases["vlds_upsample"] = i // 2
        cases["vlds_downsample"] = 2 * i
    if size >= 2:
        cases["vlds_brc_elem2datablock"] = i // (32 // size)
    if size == 1:
        cases["vlds_unpack4"] = np.where(i % 4 == 0, i // 4, -1)
    return cases


@pytest.mark.parametrize("ctype", BY_SIZE.values())
def test_load_distributions(ctype):
    rng = np.random.default_rng(1)
    n, size = lanes(ctype), DTYPES[ctype].itemsize
    data = samples(ctype, rng, 4 * n)
    p = Program()
    source = p.input("data", data)
    p.add(f"vector_bool all = asc_create_mask_b{8 * size}(PAT_ALL);")
    expected = {}
    for name, index in load_cases(ctype).items():
        expected[name] = np.where(index < 0, np.zeros((), data.dtype), data[index])
        p.add(
            f"simd_inst::vsts_norm(simd_inst::{name}<{ctype}>({source}, 0), "
            f"{p.output(name, data.dtype, n)}, 0, all);"
        )
        # Post-update: the first load at the old address, the second one after the step.
        step = 32 // size
        after = np.where(index < 0, np.zeros((), data.dtype), data[index + step])
        first, second = f"{name}_first", f"{name}_second"
        p.add(
            f"auto {first} = simd_inst::{name}_postupdate<{ctype}>({source}, {step});",
            f"auto {second} = simd_inst::{name}<{ctype}>({first}.v1, 0);",
            f"simd_inst::vsts_norm({first}.v0, {p.output(first, data.dtype, n)}, 0, all);",
            f"simd_inst::vsts_norm({second}, {p.output(second, data.dtype, n)}, 0, all);",
        )
        expected[first], expected[second] = expected[name], after
    p.add(f"auto pair = simd_inst::vld_x2<{ctype}>({source}, DINTLV_B{8 * size});")
    for part in (0, 1):
        expected[f"pair{part}"] = data[part : 2 * n : 2]
        out = p.output(f"pair{part}", data.dtype, n)
        p.add(f"simd_inst::vsts_norm(pair.v{part}, {out}, 0, all);")
    values, result = p.simd()
    assert result.ok, result.findings
    wrong = [name for name, e in expected.items() if not same(values[name], e)]
    assert not wrong


@pytest.mark.parametrize("ctype", BY_SIZE.values())
def test_store_distributions(ctype):
    rng = np.random.default_rng(2)
    n, dtype = lanes(ctype), DTYPES[ctype]
    size = dtype.itemsize
    data = samples(ctype, rng)
    mask = rng.random(n) < 0.5
    raw = data.view(np.uint8).reshape(n, size)
    p = Program()
    p.add(
        f"auto data = simd_inst::vlds_norm<{ctype}>({p.input('data', data)}, 0);",
        "vector_bool mask = simd_inst::plds_norm("
        f"(__ubuf__ uint32_t*){p.input('mask', predicate_bits(mask, size))}, 0);",
    )
    expected: dict[str, np.ndarray] = {}

    def store(name: str, expect: np.ndarray, used: np.ndarray) -> None:
        """``expect`` are bytes; where not ``used`` the buffer keeps its 0xcc."""
        expected[name] = np.where(used, expect, 0xCC).astype(np.uint8)
        out = p.output(name, np.uint8, expect.size)
        p.add(f"simd_inst::{name}(data, (__ubuf__ {ctype}*){out}, 0, mask);")

    store("vsts_norm", raw.reshape(-1), np.repeat(mask, size))
    first = np.arange(VL) < size
    store("vsts_1st", raw.reshape(-1), first)
    if size >= 2:
        half = raw[:, : size // 2].reshape(-1)
        store(f"vsts_pack_b{8 * size}", half, np.repeat(mask, size // 2))
    if size != 2:
        quarter = data.view(np.uint32).astype(np.uint8)
        keep = mask if size == 4 else mask[::4]
        store("vsts_pack_quarter", quarter, keep)
    values, result = p.simd()
    assert result.ok, result.findings
    wrong = [name for name, e in expected.items() if (values[name] != e).any()]
    assert not wrong


def test_block_stores():
    """Eight blocks at a stride; without post-update the address includes the repeat stride."""
    rng = np.random.default_rng(3)
    data = samples("half", rng)
    mask = rng.random(128) < 0.5
    mask[16:32] = False
    p = Program()
    out, moved = p.output("out", np.float16, 16 * 32), p.output("moved", np.float16, 16 * 32)
    p.add(
        f"auto data = simd_inst::vlds_norm<half>({p.input('data', data)}, 0);",
        "vector_bool mask = simd_inst::plds_norm("
        f"(__ubuf__ uint32_t*){p.input('mask', predicate_bits(mask, 2))}, 0);",
        f"simd_inst::vsstb(data, {out}, (3 << 16) | 2, mask);",
        f"auto next = simd_inst::vsstb(data, {moved}, (3 << 16) | 2, mask, POST_UPDATE);",
        "vector_bool one = asc_create_mask_b16(PAT_VL16);",
        "next = simd_inst::vsstb(data, next, 1 << 16, one, POST_UPDATE);",
    )
    values, result = p.simd()
    assert result.ok, result.findings
    empty = np.full(2 * 16 * 32, 0xCC, np.uint8).view(np.float16).reshape(32, 16)
    shifted, plain = empty.copy(), empty.copy()
    for block in range(8):
        part, on = data[16 * block :][:16], mask[16 * block :][:16]
        plain[3 * block][on] = part[on]
        shifted[3 * block + 2][on] = part[on]
    plain[2] = data[:16]
    assert same(values["out"].reshape(32, 16), shifted)
    assert same(values["moved"].reshape(32, 16), plain)


def test_gather_and_scatter():
    rng = np.random.default_rng(4)
    words, shorts = samples("float", rng, 512), samples("half", rng, 512)
    bytes_ = rng.integers(0, 256, 512, dtype=np.uint8)
    wide, short = rng.permutation(512)[:64].astype(np.uint32), rng.permutation(512)[:128]
    short = short.astype(np.uint16)
    blocks = (rng.permutation(16)[:8] * 32).astype(np.uint32)
    offsets = np.resize(blocks, 64)
    masks = {4: rng.random(64) < 0.7, 2: rng.random(128) < 0.7}
    p = Program()
    p.add(
        f"auto wide = simd_inst::vlds_norm<uint32_t>({p.input('wide', wide)}, 0);",
        f"auto narrow = simd_inst::vlds_norm<uint16_t>({p.input('short', short)}, 0);",
        f"auto blocks = simd_inst::vlds_norm<uint32_t>({p.input('offsets', offsets)}, 0);",
        f"auto word = simd_inst::vlds_norm<float>({p.input('word', words[:64])}, 0);",
        f"auto byte = simd_inst::vlds_norm<uint8_t>({p.input('byte', bytes_[:256])}, 0);",
        "vector_bool m32 = asc_create_mask_b32(PAT_ALL), m16 = asc_create_mask_b16(PAT_ALL);",
    )
    for size, mask in masks.items():
        bits = p.input(f"bits{size}", predicate_bits(mask, size))
        p.add(f"auto p{size} = simd_inst::plds_norm((__ubuf__ uint32_t*){bits}, 0);")
    w, s, b = p.input("words", words), p.input("shorts", shorts), p.input("bytes", bytes_)
    outputs = {
        "words32": (f"simd_inst::vgather2({w}, wide, p4)", np.float32, 64, "m32"),
        "halves16": (f"simd_inst::vgather2({s}, narrow, p2)", np.float16, 128, "m16"),
        "bytes16": (f"simd_inst::vgather2({b}, narrow, p2)", np.uint16, 128, "m16"),
        "signed16": (
            f"simd_inst::vgather2((__ubuf__ int8_t*){b}, narrow, m16)",
            np.int16,
            128,
            "m16",
        ),
        "blocks": (f"simd_inst::vgatherb<float>({w}, blocks)", np.float32, 64, "m32"),
        "blocks_masked": (f"simd_inst::vgatherb<float>({w}, blocks, p4)", np.float32, 64, "m32"),
        "lanes": ("simd_inst::vselr((vector_u32&)word, wide)", np.uint32, 64, "m32"),
    }
    for name, (call, dtype, n, mask_name) in outputs.items():
        p.add(f"simd_inst::vsts_norm({call}, {p.output(name, dtype, n)}, 0, {mask_name});")
    p.add(f"simd_inst::vscatter(word, {p.output('scattered', np.float32, 512)}, wide, p4);")
    p.add(f"simd_inst::vscatter(byte, {p.output('scattered8', np.uint8, 512)}, narrow, p2);")
    values, result = p.simd()
    assert result.ok, result.findings
    by_block = words.reshape(64, 8)[blocks // 32].reshape(-1)
    expected = {
        "words32": np.where(masks[4], words[wide], 0),
        "halves16": np.where(masks[2], shorts[short], 0),
        "bytes16": np.where(masks[2], bytes_[short], 0),
        "signed16": bytes_[short].astype(np.int16),  # zeros above the byte, also for negative ones
        "blocks": by_block,
        "blocks_masked": np.where(masks[4], by_block, 0),
        "lanes": words[:64][wide % 64].view(np.uint32),
    }
    scattered = np.full(2048, 0xCC, np.uint8).view(np.float32)
    scattered[wide[masks[4]]] = words[:64][masks[4]]
    scattered8 = np.full(512, 0xCC, np.uint8)
    scattered8[short[masks[2]]] = bytes_[:256:2][masks[2]]
    expected |= {"scattered": scattered, "scattered8": scattered8}
    wrong = [name for name, e in expected.items() if not same(values[name], e)]
    assert not wrong


@pytest.mark.parametrize("ctype", ["uint8_t", "int16_t", "half", "float", "int32_t"])
def test_permutations(ctype):
    rng = np.random.default_rng(5)
    n, dtype = lanes(ctype), DTYPES[ctype]
    a, b = samples(ctype, rng), samples(ctype, rng)
    mask = rng.random(n) < 0.5
    both = np.concatenate([a, b])
    p = Program()
    p.add(f"vector_bool all = asc_create_mask_b{8 * dtype.itemsize}(PAT_ALL);")
    for name, v in {"a": a, "b": b}.items():
        p.add(f"auto {name} = simd_inst::vlds_norm<{ctype}>({p.input(name, v)}, 0);")
    bits = p.input("bits", predicate_bits(mask, dtype.itemsize))
    p.add(
        f"vector_bool mask = simd_inst::plds_norm((__ubuf__ uint32_t*){bits}, 0);",
        "auto in = simd_inst::vintlv(a, b), de = simd_inst::vdintlv(a, b);",
        f"auto up = simd_inst::vci<{ctype}>(({ctype})5, INC_ORDER);",
        f"auto down = simd_inst::vci<{ctype}>(({ctype})5, DEC_ORDER);",
        "auto squeezed = simd_inst::vsqz(a, mask, MODE_STORED);",
    )
    mixed = np.stack([a, b], axis=1).reshape(-1)
    squeezed = np.zeros(n, dtype)
    squeezed[: mask.sum()] = a[mask]
    expected = {
        "in.v0": mixed[:n],
        "in.v1": mixed[n:],
        "de.v0": both[0::2],
        "de.v1": both[1::2],
        "up": (np.arange(n) + 5).astype(dtype),
        "down": (np.arange(n)[::-1] + 5).astype(dtype),
        "squeezed": squeezed,
    }
    if dtype.kind == "i":
        p.add(f"auto rank = simd_inst::vusqz<{ctype}>(mask);")
        expected["rank"] = (np.cumsum(mask) - mask).astype(dtype)
    for name in expected:
        p.add(f"simd_inst::vsts_norm({name}, {p.output(name, dtype, n)}, 0, all);")
    values, result = p.simd()
    assert result.ok, result.findings
    wrong = [name for name, e in expected.items() if not same(values[name], e)]
    assert not wrong


def test_pack_and_unpack():
    rng = np.random.default_rng(6)
    words = samples("uint32_t", rng)
    bytes_ = rng.integers(-128, 128, 256).astype(np.int8)
    p = Program()
    p.add(
        f"auto words = simd_inst::vlds_norm<uint32_t>({p.input('words', words)}, 0);",
        f"auto bytes = simd_inst::vlds_norm<int8_t>({p.input('bytes', bytes_)}, 0);",
        "vector_bool m16 = asc_create_mask_b16(PAT_ALL);",
    )
    low, high = np.zeros(128, np.uint16), np.zeros(128, np.uint16)
    low[:64] = high[64:] = words.astype(np.uint16)
    expected = {
        "simd_inst::vpack<uint16_t>(words, LOWER)": low,
        "simd_inst::vpack<uint16_t>(words, HIGHER)": high,
        "simd_inst::vunpack(bytes, LOWER)": bytes_[:128].astype(np.int16),
        "simd_inst::vunpack(bytes, HIGHER)": bytes_[128:].astype(np.int16),
        "simd_inst::vunpack((vector_u8&)bytes, LOWER)": bytes_.view(np.uint8)[:128].astype(
            np.uint16
        ),
    }
    for call, e in expected.items():
        p.add(f"simd_inst::vsts_norm({call}, {p.output(call, e.dtype, 128)}, 0, m16);")
    values, result = p.simd()
    assert result.ok, result.findings
    wrong = [call for call, e in expected.items() if not same(values[call], e)]
    assert not wrong


def test_histograms_accumulate():
    rng = np.random.default_rng(7)
    data = np.concatenate([rng.integers(0, 256, 128), rng.integers(60, 70, 128)]).astype(np.uint8)
    mask = rng.random(256) < 0.8
    start = np.arange(128, dtype=np.uint16)
    p = Program()
    p.add(
        f"auto data = simd_inst::vlds_norm<uint8_t>({p.input('data', data)}, 0);",
        "vector_bool mask = simd_inst::plds_norm("
        f"(__ubuf__ uint32_t*){p.input('mask', predicate_bits(mask, 1))}, 0);",
        "vector_bool m16 = asc_create_mask_b16(PAT_ALL);",
        f"auto start = simd_inst::vlds_norm<uint16_t>({p.input('start', start)}, 0);",
    )
    counts = np.bincount(data[mask], minlength=256)
    expected = {}
    for name, table in (("dhistv2", counts), ("chistv2", np.cumsum(counts))):
        for b in (0, 1):
            key = f"{name}_{b}"
            p.add(
                f"auto {key} = start;",
                f"simd_inst::{name}(&{key}, data, mask, Bin_N{b});",
                f"simd_inst::vsts_norm({key}, {p.output(key, np.uint16, 128)}, 0, m16);",
            )
            expected[key] = start + table[128 * b :][:128].astype(np.uint16)
    values, result = p.simd()
    assert result.ok, result.findings
    wrong = [name for name, e in expected.items() if not same(values[name], e)]
    assert not wrong


def test_misaligned_address_is_found():
    p = Program()
    data = p.input("data", np.arange(128, dtype=np.float32))
    p.add(
        f"auto v = simd_inst::vlds_norm<float>({data} + 3, 0);",
        "vector_bool all = asc_create_mask_b32(PAT_ALL);",
        f"simd_inst::vsts_norm(v, {p.output('out', np.float32, 64)}, 0, all);",
    )
    values, result = p.simd()
    assert [f.kind for f in result.findings] == ["alignment"]
    assert "UB address 12" in result.findings[0].message
    assert (values["out"] == np.arange(3, 67)).all()


def test_store_then_load_with_a_barrier():
    x = np.arange(64, dtype=np.float32)
    p = Program()
    between, out = p.output("between", np.float32, 64), p.output("out", np.float32, 64)
    p.add(
        "vector_bool all = asc_create_mask_b32(PAT_ALL);",
        f"auto v = simd_inst::vlds_norm<float>({p.input('x', x)}, 0);",
        f"simd_inst::vsts_norm(v, {between}, 0, all);",
        "simd_inst::mem_bar(VST_VLD);",
        f"simd_inst::vsts_norm(simd_inst::vlds_norm<float>({between}, 0), {out}, 0, all);",
    )
    values, result = p.simd()
    assert result.ok, result.findings
    assert (values["out"] == x).all()


def test_instruction_that_is_not_modelled_is_named():
    p = Program()
    p.add(
        f"auto v = simd_inst::vlds_norm<float>({p.input('x', np.zeros(64, np.float32))}, 0);",
        "vector_bool all = asc_create_mask_b32(PAT_ALL);",
        f"simd_inst::vsts_intlv(v, {p.output('out', np.float32, 128)}, 0, all);",
    )
    with pytest.raises(CompileError, match="asc_storealign_intlv"):
        p.simd()


def test_plain_accesses_of_a_body_are_seen():
    p = Program()
    out = p.output("out", np.float32, 64)
    p.add(
        "float never = ((__ubuf__ float*)ub)[20000];",
        "vector_bool all = asc_create_mask_b32(PAT_ALL);",
        f"simd_inst::vsts_norm(simd_inst::vdup<float>(never, all, MODE_ZEROING), {out}, 0, all);",
    )
    _, result = p.simd()
    assert [f.kind for f in result.findings] == ["never-written"]
    assert "80000" in result.findings[0].message


def test_address_register_follows_the_innermost_loop():
    x = np.arange(6 * 128, dtype=np.float32)
    p = Program()
    source, out = p.input("x", x), p.output("out", np.float32, 6 * 64)
    p.add(
        "vector_bool all = asc_create_mask_b32(PAT_ALL);",
        "for (int32_t i = 0; i < 2; ++i) {",
        "  for (int32_t j = 4; j < 7; ++j) {",
        "    if (j > 0) {",
        f"      auto pair = simd_inst::vld_x2<float>({source} + i * 384, "
        "asc_update_addr_reg_b32(128), DINTLV_B32);",
        f"      simd_inst::vsts_norm(pair.v1, {out}, (i * 3 + j - 4) * 64, all);",
        "    }",
        "  }",
        "}",
    )
    values, result = p.simd()
    assert result.ok, result.findings
    assert (values["out"] == x[1::2]).all()
