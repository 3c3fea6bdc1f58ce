"""Every data mover and Cube mode against numpy, on texts of one instruction or few."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.emulator.asc import HEADER, handshake, load, vector_kernel
from tilelang_ascend_sched.emulator import emulate

L2_LOAD = "static_cast<asc_load_l2_cache_mode>(0)"
L2_STORE = "static_cast<asc_store_l2_cache_mode>(4)"


def random(shape, dtype=np.float32, low=-4, high=5):
    """Small integers: every product and sum of them is exact in float32."""
    return np.random.default_rng(3).integers(low, high, shape).astype(dtype)


def run_vector(*body: str, x: np.ndarray, y: np.ndarray, ctype: str = "float"):
    text = vector_kernel(*body).replace("__gm__ float*", f"__gm__ {ctype}*")
    result = emulate(text, X=x, Y=y, blocks=1)
    assert result.ok, [str(f) for f in result.findings]
    return y


def copy_out(bursts: int, size: int, dst_stride: int, src_stride: int, ub: str = "ub") -> str:
    return (
        f"asc_copy_ub2gm_align((__gm__ uint8_t*)Y, (__ubuf__ uint8_t*)({ub}), {bursts}, {size}, "
        f"{L2_STORE}, {dst_stride}, {src_stride});"
    )


def test_strided_rows_both_ways():
    x, y = random((8, 24)), np.zeros((8, 40), np.float32)
    read = (
        f"asc_copy_gm2ub_align((__ubuf__ uint8_t*)ub, (__gm__ uint8_t*)X, 8, 64, 0, 0, 0, "
        f"{L2_LOAD}, 96, 128);"
    )
    run_vector(read, handshake("MTE2", "MTE3"), copy_out(8, 64, 160, 128), x=x, y=y)
    assert (y[:, :16] == x[:, :16]).all() and not y[:, 16:].any()


def test_rows_shorter_than_a_block():
    x, y = random((8, 5)), np.zeros((8, 5), np.float32)
    read = (
        f"asc_copy_gm2ub_align((__ubuf__ uint8_t*)ub, (__gm__ uint8_t*)X, 8, 12, 0, 0, 0, "
        f"{L2_LOAD}, 20, 32);"
    )
    run_vector(read, handshake("MTE2", "MTE3"), copy_out(8, 12, 20, 32), x=x, y=y)
    assert (y[:, :3] == x[:, :3]).all() and not y[:, 3:].any()


@pytest.mark.parametrize(
    ("dtype", "ctype", "width"),
    [(np.float32, "float", 4), (np.float16, "half", 2), (np.int8, "int8_t", 1)],
)
def test_padding_fills_rows_with_the_pad_value(dtype, ctype, width):
    count, row = 5, 32 // width
    x, y = random((4, count), dtype), np.zeros((4, row), dtype)
    pad = np.array(7, dtype)
    bits = int.from_bytes(pad.tobytes(), "little")
    word = f"uint{8 * width}_t"
    body = [
        f"asc_set_copy_pad_val(({word}){bits});",
        f"asc_copy_gm2ub_align((__ubuf__ {word}*)ub, (__gm__ {word}*)X, 4, {count * width}, 0, "
        f"{row - count}, 1, {L2_LOAD}, {count * width}, 32);",
        handshake("MTE2", "MTE3"),
        copy_out(1, 128, 128, 128),
    ]
    run_vector(*body, x=x, y=y, ctype=ctype)
    assert (y[:, :count] == x).all() and (y[:, count:] == pad).all()


@pytest.mark.parametrize(
    ("dtype", "ctype", "suffix"),
    [
        (np.float32, "float", "float"),
        (np.float16, "half", "float16"),
        (ml_dtypes.bfloat16, "bfloat16_t", "bfloat"),
        (np.int32, "int32_t", "int32"),
        (np.int16, "int16_t", "int16"),
        (np.int8, "int8_t", "int8"),
    ],
)
@pytest.mark.parametrize(
    ("op", "expected"), [("add", np.add), ("max", np.maximum), ("min", np.minimum)]
)
def test_atomic_stores(dtype, ctype, suffix, op, expected):
    x, y = random(64, dtype), random(64, dtype)[::-1].copy()
    want = expected(x, y)
    size = x.nbytes
    body = [
        load("ub", "X", size),
        handshake("MTE2", "MTE3"),
        f"asc_set_atomic_{op}_{suffix}();",
        copy_out(1, size, size, size),
        "asc_set_atomic_none();",
    ]
    assert (run_vector(*body, x=x, y=y, ctype=ctype) == want).all()


def cube_kernel(*body: str, out: str = "float", operand: str = "bfloat16_t") -> str:
    lines = "\n".join(f"  {line}" for line in body)
    return (
        f'{HEADER}extern "C" __global__ __cube__ void k(__gm__ {operand}* A, '
        f"__gm__ {operand}* B, __gm__ {out}* C) {{\n  asc_init();\n"
        f"  __cbuf__ {operand} *l1 = (__cbuf__ {operand} *)0;\n"
        f"  __ca__ {operand} *l0a = (__ca__ {operand} *)0;\n"
        f"  __cb__ {operand} *l0b = (__cb__ {operand} *)0;\n"
        f"  __cc__ float *l0c = (__cc__ float *)0;\n{lines}\n}}\n"
    )


def nd2nz(l1: str, gm: str, rows: int, columns: int, pitch: int, form: str = "nd2nz") -> str:
    """``pitch`` bytes from one row of GM to the next."""
    n, d = (rows, columns) if form == "nd2nz" else (columns, rows)
    return (
        f"asc_set_gm2l1_nz_para(1, 1, {(n + 15) // 16 * 16}, 0); "
        f"asc_copy_gm2l1_{form}({l1}, {gm}, {pitch}, {L2_LOAD}, {n}, {d}, 0, 0);"
    )


def l0c2gm(n: int, m: int, quant: int = 0, relu: int = 0, stride: int | None = None) -> str:
    return (
        f"asc_copy_l0c2gm(C, l0c, {n}, {m}, {stride or n}, {(m + 15) // 16 * 16}, {L2_STORE}, "
        f"static_cast<asc_unit_flag_mode>(0), static_cast<asc_quant_mode>({quant}), "
        f"static_cast<asc_relu_pre_mode>({relu}), 0, 1, 0, 0);"
    )


def mmad(m: int, k: int, n: int, clear: bool = True) -> str:
    return f"asc_mmad(l0c, l0a, l0b, {m}, {k}, {n}, 0, true, false, {str(clear).lower()});"


def product(
    m: int, k: int, n: int, width: int, *tail: str, loads: list[str] | None = None
) -> list[str]:
    """C = A[m, k] @ B[n, k].T through L1 at 0 and 256 KiB."""
    c0 = 32 // width
    mb, nb, kb = -(-m // 16), -(-n // 16), -(-k // c0)
    far = f"(l1 + {262144 // width})"
    gm = loads or [nd2nz("l1", "A", m, k, k * width), nd2nz(far, "B", n, k, k * width)]
    return [
        *gm,
        handshake("MTE2", "MTE1"),
        f"asc_copy_l12l0a(l0a, l1, 0, 0, {mb}, {kb}, {mb}, {mb});",
        f"asc_copy_l12l0b(l0b, {far}, 0, 0, {nb}, {kb}, {nb}, {nb});",
        handshake("MTE1", "M"),
        mmad(m, k, n),
        *tail,
        handshake("M", "FIX"),
    ]


OPERANDS = [
    (ml_dtypes.bfloat16, "bfloat16_t"),
    (np.float16, "half"),
    (np.float32, "float"),
    (ml_dtypes.float8_e4m3fn, "fp8_e4_t"),
    (ml_dtypes.float8_e5m2, "fp8_e5_t"),
]


def run_cube(text: str, a, b, c):
    result = emulate(text, A=a, B=b, C=c, blocks=1)
    assert result.ok, [str(f) for f in result.findings]
    return c


@pytest.mark.parametrize(("dtype", "ctype"), OPERANDS)
@pytest.mark.parametrize(("m", "k", "n"), [(16, 64, 16), (48, 96, 32), (24, 32, 40), (1, 64, 17)])
def test_products(dtype, ctype, m, k, n):
    a, b = random((m, k), dtype), random((n, k), dtype, -3, 4)
    text = cube_kernel(*product(m, k, n, a.itemsize), l0c2gm(n, m), operand=ctype)
    c = run_cube(text, a, b, np.zeros((m, n), np.float32))
    assert (c == a.astype(np.float32) @ b.astype(np.float32).T).all()


def test_accumulation():
    a, b = random((32, 64), ml_dtypes.bfloat16), random((16, 64), ml_dtypes.bfloat16)
    text = cube_kernel(*product(32, 64, 16, 2, mmad(32, 64, 16, clear=False)), l0c2gm(16, 32))
    c = run_cube(text, a, b, np.zeros((32, 16), np.float32))
    assert (c == 2 * (a.astype(np.float32) @ b.astype(np.float32).T)).all()


@pytest.mark.parametrize(("mode", "dropped_ties"), [("NEAREST_EVEN", 0), ("NEAREST_AWAY", 1)])
def test_hf32_drops_mantissa_bits(mode, dropped_ties):
    """1 + 2**-12 lies half way between two values of hf32's 11-bit mantissa."""
    a = np.full((16, 8), 1 + 2.0**-12, np.float32)
    b = np.ones((16, 8), np.float32)
    text = cube_kernel(
        "asc_enable_hf32();",
        f"asc_set_hf32_round_mode(asc_hf32_round_mode::{mode});",
        *product(16, 8, 16, 4),
        "asc_disable_hf32();",
        l0c2gm(16, 16),
        operand="float",
    )
    c = run_cube(text, a, b, np.zeros((16, 16), np.float32))
    assert (c == 8 * (1 + dropped_ties * 2.0**-11)).all()


@pytest.mark.parametrize(
    ("dtype", "ctype", "quant"),
    [(ml_dtypes.bfloat16, "bfloat16_t", 16), (np.float16, "half", 1)],
)
def test_fixpipe_converts_and_applies_relu(dtype, ctype, quant):
    a, b = random((32, 64), ml_dtypes.bfloat16), random((48, 64), ml_dtypes.bfloat16)
    text = cube_kernel(*product(32, 64, 48, 2), l0c2gm(48, 32, quant, relu=1), out=ctype)
    c = run_cube(text, a, b, np.zeros((32, 48), dtype))
    wide = a.astype(np.float32) @ b.astype(np.float32).T
    assert (c == np.maximum(wide, 0).astype(dtype)).all()


def test_fixpipe_writes_a_part_of_the_tile_into_wider_rows():
    a, b = random((32, 64), ml_dtypes.bfloat16), random((48, 64), ml_dtypes.bfloat16)
    part = l0c2gm(20, 10, stride=64).replace(
        ", 16, static_cast<asc_store", ", 32, static_cast<asc_store"
    )
    c = run_cube(cube_kernel(*product(32, 64, 48, 2), part), a, b, np.zeros((32, 64), np.float32))
    wide = a.astype(np.float32) @ b.astype(np.float32).T
    assert (c[:10, :20] == wide[:10, :20]).all()
    assert not c[10:].any() and not c[:, 20:].any()


@pytest.mark.parametrize(("dtype", "ctype"), OPERANDS[:4])
def test_columns_of_gm_become_rows_of_l1(dtype, ctype):
    """dn2nz: B comes as [k, n]."""
    m, k, n = 16, 64, 32
    a, b = random((m, k), dtype), random((k, n), dtype, -3, 4)
    w = a.itemsize
    loads = [
        nd2nz("l1", "A", m, k, k * w),
        nd2nz(f"(l1 + {262144 // w})", "B", k, n, n * w, "dn2nz"),
    ]
    text = cube_kernel(*product(m, k, n, w, loads=loads), l0c2gm(n, m), operand=ctype)
    c = run_cube(text, a, b, np.zeros((m, n), np.float32))
    assert (c == a.astype(np.float32) @ b.astype(np.float32)).all()


@pytest.mark.parametrize(("dtype", "ctype"), OPERANDS[:4])
def test_transposing_loads(dtype, ctype):
    """A and B lie in L1 as [k, m] and [k, n]."""
    m, k, n = 32, 64, 64
    a, b = random((k, m), dtype), random((k, n), dtype, -3, 4)
    w = a.itemsize
    c0, far = 32 // w, f"(l1 + {262144 // w})"
    text = cube_kernel(
        nd2nz("l1", "A", k, m, m * w),
        nd2nz(far, "B", k, n, n * w),
        handshake("MTE2", "MTE1"),
        f"asc_copy_l12l0a_transpose(l0a, l1, 0, 0, {k // 16}, {m // c0}, {k // 16}, {m // 16});",
        f"asc_copy_l12l0b_transpose(l0b, {far}, 0, 0, {k // 16}, {n // c0}, {k // 16}, {n // 16});",
        handshake("MTE1", "M"),
        mmad(m, k, n),
        handshake("M", "FIX"),
        l0c2gm(n, m),
        operand=ctype,
    )
    c = run_cube(text, a, b, np.zeros((m, n), np.float32))
    assert (c == a.astype(np.float32).T @ b.astype(np.float32)).all()


def test_pieces_of_l1_go_to_l0():
    """The second half of k, as a GEMM with an inner loop loads it."""
    m, k, n = 32, 128, 16
    a, b = random((m, k), ml_dtypes.bfloat16), random((n, k), ml_dtypes.bfloat16)
    text = cube_kernel(
        nd2nz("l1", "A", m, k, k * 2),
        nd2nz("(l1 + 131072)", "B", n, k, k * 2),
        handshake("MTE2", "MTE1"),
        "asc_copy_l12l0a(l0a, l1, 0, 4, 2, 4, 2, 2);",
        "asc_copy_l12l0b(l0b, (l1 + 131072), 0, 4, 1, 4, 1, 1);",
        handshake("MTE1", "M"),
        mmad(m, 64, n),
        handshake("M", "FIX"),
        l0c2gm(n, m),
    )
    c = run_cube(text, a, b, np.zeros((m, n), np.float32))
    assert (c == a[:, 64:].astype(np.float32) @ b[:, 64:].astype(np.float32).T).all()


def test_k_that_does_not_fill_a_group_is_padded_with_zeros():
    m, k, n = 16, 40, 16
    a, b = random((m, k), ml_dtypes.bfloat16), random((n, k), ml_dtypes.bfloat16)
    text = cube_kernel(*product(m, k, n, 2), l0c2gm(n, m)).replace(mmad(m, k, n), mmad(m, 48, n))
    c = run_cube(text, a, b, np.zeros((m, n), np.float32))
    assert (c == a.astype(np.float32) @ b.astype(np.float32).T).all()


def test_fill_l1():
    """Rows beyond those of GM are filled with zeros first."""
    m, k, n = 32, 32, 16
    a, b = random((20, k), ml_dtypes.bfloat16), random((n, k), ml_dtypes.bfloat16)
    fill = (
        "asc_fill_l1((__cbuf__ uint16_t*)((__cbuf__ uint8_t*)l1 + 640), (uint32_t)(0), "
        "{ .repeat = static_cast<uint64_t>(2), .blk_num = static_cast<uint64_t>(12), "
        ".dst_gap = static_cast<uint64_t>(20)});"
    )
    loads = [fill, nd2nz("l1", "A", 20, k, k * 2), nd2nz("(l1 + 131072)", "B", n, k, k * 2)]
    text = cube_kernel(*product(m, k, n, 2, loads=loads), l0c2gm(n, m))
    c = run_cube(text, a, b, np.zeros((m, n), np.float32))
    expected = a.astype(np.float32) @ b.astype(np.float32).T
    assert (c[:20] == expected).all() and not c[20:].any()


def test_rows_of_l0_that_nothing_wrote_are_found():
    """20 rows of A were loaded, 32 are multiplied."""
    a, b = random((20, 32), ml_dtypes.bfloat16), random((16, 32), ml_dtypes.bfloat16)
    loads = [nd2nz("l1", "A", 20, 32, 64), nd2nz("(l1 + 131072)", "B", 16, 32, 64)]
    body = product(32, 32, 16, 2, loads=loads)
    c = np.zeros((32, 16), np.float32)
    result = emulate(cube_kernel(*body, l0c2gm(16, 32)), A=a, B=b, C=c, blocks=1)
    (finding,) = result.of_kind("never-written")
    assert "asc_mmad" in finding.message and "L0A byte 640" in finding.message
    body = [line.replace(mmad(32, 32, 16), mmad(20, 32, 16)) for line in body]
    assert emulate(cube_kernel(*body, l0c2gm(16, 20)), A=a, B=b, C=c, blocks=1).ok


def test_vector_core_fills_l1():
    """ub2l1 with a gap: a half of the columns comes from each vector core."""
    text = (
        f'{HEADER}extern "C" __global__ __mix__(1, 2) void k(__gm__ bfloat16_t* A, '
        "__gm__ bfloat16_t* B, __gm__ float* C) {\n"
        "  __cbuf__ bfloat16_t *l1 = (__cbuf__ bfloat16_t *)0;\n"
        "  __ca__ bfloat16_t *l0a = (__ca__ bfloat16_t *)0;\n"
        "  __cb__ bfloat16_t *l0b = (__cb__ bfloat16_t *)0;\n"
        "  __cc__ float *l0c = (__cc__ float *)0;\n"
        "  __ubuf__ bfloat16_t *ub = (__ubuf__ bfloat16_t *)0;\n"
        "  if ASC_IS_AIC {\n"
        f"    {nd2nz('(l1 + 131072)', 'B', 16, 32, 64)}\n"
        f"    {handshake('MTE2', 'MTE1')}\n"
        "    asc_sync_intra_wait(PIPE_MTE1, 0);\n    asc_sync_intra_wait(PIPE_MTE1, 16);\n"
        "    asc_copy_l12l0a(l0a, l1, 0, 0, 2, 2, 2, 2);\n"
        "    asc_copy_l12l0b(l0b, (l1 + 131072), 0, 0, 1, 2, 1, 1);\n"
        f"    {handshake('MTE1', 'M')}\n    {mmad(32, 32, 16)}\n    {handshake('M', 'FIX')}\n"
        f"    {l0c2gm(16, 32)}\n  }}\n"
        "  if ASC_IS_AIV {\n    int sid = asc_get_sub_block_id();\n"
        # 16 rows of 32 elements, read as two columns of 16 rows each.
        "    for (int c = 0; c < 2; ++c) {\n"
        "      asc_copy_gm2ub_align((__ubuf__ uint8_t*)(ub + c * 256), "
        f"(__gm__ uint8_t*)(A + sid * 512 + c * 16), 16, 32, 0, 0, 0, {L2_LOAD}, 64, 32);\n    }}\n"
        f"    {handshake('MTE2', 'MTE3')}\n"
        "    asc_copy_ub2l1((__cbuf__ void*)(l1 + sid * 256), (__ubuf__ void*)(ub), "
        "2, 16, 0, 16);\n"
        "    asc_sync_intra_arrive(PIPE_MTE3, 0);\n  }\n}\n"
    )
    a, b = random((32, 32), ml_dtypes.bfloat16), random((16, 32), ml_dtypes.bfloat16)
    c = run_cube(text, a, b, np.zeros((32, 16), np.float32))
    assert (c == a.astype(np.float32) @ b.astype(np.float32).T).all()


def scaled_kernel(m: int, k: int, n: int, fp4: bool) -> str:
    """A and B with a scale for every 32 elements along k, as [rows/16][k/64][16][2] bytes."""
    operand = "float4_e2m1x2_t" if fp4 else "fp8_e4_t"
    row = k // 2 if fp4 else k
    mb, nb, kb, pairs = m // 16, n // 16, row // 32, k // 64
    return (
        f'{HEADER}extern "C" __global__ __cube__ void k(__gm__ {operand}* A, __gm__ {operand}* B, '
        "__gm__ uint8_t* SA, __gm__ uint8_t* SB, __gm__ float* C) {\n"
        f"  __cbuf__ {operand} *l1 = (__cbuf__ {operand} *)0;\n"
        f"  __ca__ {operand} *l0a = (__ca__ {operand} *)0;\n"
        f"  __cb__ {operand} *l0b = (__cb__ {operand} *)0;\n"
        "  __cc__ float *l0c = (__cc__ float *)0;\n"
        f"  {nd2nz('(__cbuf__ int8_t*)(l1)', '(__gm__ int8_t*)(A)', m, row, row)}\n"
        f"  {nd2nz('(__cbuf__ int8_t*)(l1 + 131072)', '(__gm__ int8_t*)(B)', n, row, row)}\n"
        # The scales come in the order that L1 wants: rows of 32 bytes.
        f"  {nd2nz('(__cbuf__ uint8_t*)(l1 + 262144)', 'SA', mb * pairs, 32, 32)}\n"
        f"  {nd2nz('(__cbuf__ uint8_t*)(l1 + 393216)', 'SB', nb * pairs, 32, 32)}\n"
        f"  {handshake('MTE2', 'MTE1')}\n"
        f"  asc_copy_l12l0a(l0a, l1, 0, 0, {mb}, {kb}, {mb}, {mb});\n"
        f"  asc_copy_l12l0b(l0b, (l1 + 131072), 0, 0, {nb}, {kb}, {nb}, {nb});\n"
        f"  asc_copy_l12l0a_mx((uint64_t)(uintptr_t)(l0a) / 16, "
        f"(__cbuf__ fp8_e8m0_t*)(l1 + 262144), 0, 0, {mb}, {pairs}, {pairs}, {pairs});\n"
        f"  asc_copy_l12l0b_mx((uint64_t)(uintptr_t)(l0b) / 16, "
        f"(__cbuf__ fp8_e8m0_t*)(l1 + 393216), 0, 0, {nb}, {pairs}, {pairs}, {pairs});\n"
        f"  {handshake('MTE1', 'M')}\n"
        f"  asc_mmad_mx(l0c, l0a, l0b, {m}, {k}, {n}, 0, true, false, true);\n"
        f"  {handshake('M', 'FIX')}\n  {l0c2gm(n, m)}\n}}\n"
    )


def packed_scales(scales: np.ndarray) -> np.ndarray:
    """[rows, k / 32] to [rows/16][k/64][16][2]."""
    rows, groups = scales.shape
    return scales.reshape(rows // 16, 16, groups // 2, 2).transpose(0, 2, 1, 3).copy()


@pytest.mark.parametrize("fp4", [False, True])
def test_block_scaled_products(fp4):
    m, k, n = 32, 128, 48
    rng = np.random.default_rng(0)
    values = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
    a, b = (rng.choice(values, (rows, k)).astype(np.float32) for rows in (m, n))
    sa, sb = (rng.integers(124, 131, (rows, k // 32)).astype(np.uint8) for rows in (m, n))
    if fp4:
        given = []
        for wide in (a, b):
            code = wide.astype(ml_dtypes.float4_e2m1fn).view(np.uint8)
            given.append((code[:, 0::2] | code[:, 1::2] << 4).copy())
    else:
        given = [wide.astype(ml_dtypes.float8_e4m3fn) for wide in (a, b)]
    c = np.zeros((m, n), np.float32)
    result = emulate(
        scaled_kernel(m, k, n, fp4),
        A=given[0],
        B=given[1],
        SA=packed_scales(sa),
        SB=packed_scales(sb),
        C=c,
        blocks=1,
    )
    assert result.ok, [str(f) for f in result.findings]
    scale = [np.repeat(2.0 ** (s.astype(np.float32) - 127), 32, axis=1) for s in (sa, sb)]
    assert (c == (a * scale[0]) @ (b * scale[1]).T).all()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (l0c2gm(16, 16, quant=9), "quant_pre 9 (REQ8) makes int8, yet the destination is float32"),
        (l0c2gm(16, 16, quant=8), "quant_pre 8 is not modelled"),
        (l0c2gm(16, 16, relu=3), "relu_pre 3 is not modelled"),
        (mmad(16, 16, 16).replace("0, true, false", "0, true, true"), "bias from the BT buffer"),
        (mmad(16, 16, 16).replace(" 0, true", " 1, true"), "unit flag control 1 is not modelled"),
        (mmad(1, 16, 16).replace("0, true", "0, false"), "the GEMV mode is not modelled"),
        (mmad(16, 16, 16).replace("l0c", "(__cc__ half*)l0c"), "with float16 sums is not modelled"),
        (nd2nz("l1", "A", 16, 16, 32).replace(", 0, 0);", ", 0, 1);"), "smallc0_en = 1"),
    ],
)
def test_modes_not_modelled_are_named(line, message):
    a = random((16, 16), ml_dtypes.bfloat16)
    c = np.zeros((16, 16), np.float32)
    (finding,) = emulate(cube_kernel(line), A=a, B=a, C=c, blocks=1).findings
    assert finding.kind == "error" and message in finding.message
    assert "line 9" in finding.message
