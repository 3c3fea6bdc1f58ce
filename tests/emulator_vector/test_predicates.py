"""Predicate registers of the SIMD unit bit by bit."""

from __future__ import annotations

import numpy as np

from tests.emulator_vector.program import Program


def bits_of(raw: np.ndarray) -> np.ndarray:
    return np.unpackbits(raw, bitorder="little").astype(bool)


def test_predicates():
    rng = np.random.default_rng(8)
    a, b, m = (rng.random(256) < 0.5 for _ in range(3))
    p = Program()
    for name, v in {"a": a, "b": b, "m": m}.items():
        source = p.input(name, np.packbits(v, bitorder="little"))
        p.add(f"auto {name} = simd_inst::plds_norm((__ubuf__ uint32_t*){source}, 0);")
    sparse = rng.integers(0, 256, 64, dtype=np.uint8)
    packed = p.input("packed", sparse)
    even = np.zeros(256, bool)
    even[0:128] = a[0::2]
    spread_low = np.zeros(256, bool)
    spread_low[0::2] = a[:128]
    expected = {
        "simd_inst::pand(a, b, m)": a & b & m,
        "simd_inst::por(a, b, m)": (a | b) & m,
        "simd_inst::pxor(a, b, m)": (a ^ b) & m,
        "simd_inst::pnot(a, m)": ~a & m,
        "simd_inst::psel(a, b, m)": np.where(m, a, b),
        "simd_inst::ppack(a, LOWER)": even,
        "simd_inst::ppack(a, HIGHER)": np.roll(even, 128),
        "simd_inst::punpack(a, LOWER)": spread_low,
        f"simd_inst::plds_upsample((__ubuf__ uint32_t*){packed}, 0)": np.repeat(
            bits_of(sparse[:16]), 2
        ),
        f"simd_inst::plds_downsample((__ubuf__ uint32_t*){packed}, 0)": bits_of(sparse)[::2],
    }
    for size in (1, 2, 4):
        groups = [v.reshape(-1, size) for v in (a, b)]
        mixed = np.stack(groups, axis=1).reshape(-1)
        both = np.concatenate(groups)
        for i in (0, 1):
            expected[f"simd_inst::pintlv_b{8 * size}(a, b).v{i}"] = mixed[256 * i :][:256]
            expected[f"simd_inst::pdintlv_b{8 * size}(a, b).v{i}"] = both[i::2].reshape(-1)
        n = 256 // size
        index = np.arange(n)
        patterns = {
            "PAT_ALL": index >= 0,
            "PAT_ALLF": index < 0,
            "PAT_M3": index % 3 == 0,
            "PAT_M4": index % 4 == 0,
            "PAT_H": index < n // 2,
            "PAT_Q": index < n // 4,
            **{f"PAT_VL{k}": index < k for k in (1, 2, 3, 4, 8, 16, 32, 64, 128)},
        }
        for pattern, on in patterns.items():
            bits = np.zeros(256, bool)
            bits[::size] = on
            expected[f"asc_create_mask_b{8 * size}({pattern})"] = bits
        tail = np.zeros(256, bool)
        tail[::size] = index < 13
        expected[f"simd_inst::update_mask_b{8 * size}(13)"] = tail
    for call in expected:
        out = p.output(call, np.uint8, 32)
        p.add(f"simd_inst::psts_norm({call}, (__ubuf__ uint32_t*){out}, 0);")
    pack = p.output("pack", np.uint8, 32)
    p.add(f"simd_inst::psts_pack(a, (__ubuf__ uint32_t*){pack}, 0);")
    values, result = p.simd()
    assert result.ok, result.findings
    wrong = [call for call, e in expected.items() if (bits_of(values[call]) != e).any()]
    assert not wrong
    assert (bits_of(values["pack"])[:128] == a[::2]).all()
    assert (values["pack"][16:] == 0xCC).all()


def test_tail_masks_count_down():
    p = Program()
    p.add("uint32_t left = 150;")
    for i in range(4):
        out = p.output(f"m{i}", np.uint8, 32)
        p.add(f"simd_inst::psts_norm(asc_update_mask_b32(left), (__ubuf__ uint32_t*){out}, 0);")
    values, result = p.simd()
    assert result.ok, result.findings
    counts = [int(bits_of(values[f"m{i}"]).sum()) for i in range(4)]
    assert counts == [64, 64, 22, 0]
