"""Products of every kind the Cube has, with what surrounds them.

No postponed annotations: see ``examples``.
"""

import ml_dtypes
import numpy as np
import tilelang.ascend.language as T

from examples import EXACT, Tolerance, Workload

BF16 = np.dtype(ml_dtypes.bfloat16)
E5M2 = np.dtype(ml_dtypes.float8_e5m2)
ORDER = Tolerance(1e-5, 1e-3, "only the order of float32 additions differs")


def normal(rng: np.random.Generator, shape: tuple[int, ...], dtype: object = np.float32):
    return rng.standard_normal(shape, np.float32).astype(dtype)


def int8_steps():
    """int8 operands, int32 sums over four steps of K, stored as they are."""

    @T.prim_func
    def int8_steps(
        A: T.Tensor((64, 256), T.int8),
        B: T.Tensor((48, 256), T.int8),
        C: T.Tensor((64, 48), T.int32),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((64, 64), T.int8)
            b = T.alloc_l1((48, 64), T.int8)
            acc = T.alloc_l0c((64, 48), T.int32)
            for k in T.Pipelined(4, num_stages=2):
                T.copy(A[0, k * 64], a)
                T.copy(B[0, k * 64], b)
                T.gemm(a, b, acc, transpose_B=True, clear_accum=k == 0)
            T.copy(acc, C)

    return int8_steps


def int8_scaled():
    """int32 sums go to both Vector cores, are scaled by row and column and stored as bf16."""

    @T.prim_func
    def int8_scaled(
        A: T.Tensor((32, 64), T.int8),
        B: T.Tensor((64, 64), T.int8),
        Row: T.Tensor((32,), T.float32),
        Column: T.Tensor((64,), T.float32),
        C: T.Tensor((32, 64), T.bfloat16),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((32, 64), T.int8)
            b = T.alloc_l1((64, 64), T.int8)
            acc = T.alloc_l0c((32, 64), T.int32)
            sums = T.alloc_shared((16, 64), T.int32)
            row = T.alloc_shared((16,), T.float32)
            column = T.alloc_shared((64,), T.float32)
            out = T.alloc_shared((16, 64), T.bfloat16)
            T.copy(A, a)
            T.copy(B, b)
            T.copy(Column, column)
            T.dual_copy(Row, row)
            T.gemm(a, b, acc, transpose_B=True, clear_accum=True)
            T.dual_copy(acc, sums)
            with T.SimtVF(threads=64):
                for r in T.serial(16):
                    for c in T.Parallel(64):
                        wide = T.cast(sums[r, c], "float32") * row[r] * column[c]
                        out[r, c] = T.cast(wide, "bfloat16")
            T.dual_copy(out, C)

    return int8_scaled


def quantized_store():
    """float32 sums become int8 on the Vector cores, rounded and clipped."""

    @T.prim_func
    def quantized_store(
        A: T.Tensor((32, 64), T.bfloat16),
        B: T.Tensor((64, 64), T.bfloat16),
        C: T.Tensor((32, 64), T.int8),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((32, 64), T.bfloat16)
            b = T.alloc_l1((64, 64), T.bfloat16)
            acc = T.alloc_l0c((32, 64), T.float32)
            sums = T.alloc_shared((16, 64), T.float32)
            out = T.alloc_shared((16, 64), T.int8)
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, acc, transpose_B=True, clear_accum=True)
            T.dual_copy(acc, sums)
            with T.SimtVF(threads=64):
                for r in T.serial(16):
                    c = T.get_thread_binding()
                    wide = T.min(T.max(T.round(sums[r, c] * 8.0), -128.0), 127.0)
                    out[r, c] = T.cast(T.cast(wide, "int32"), "int8")
            T.dual_copy(out, C)

    return quantized_store


def e5m2_by_hand():
    """float8_e5m2, for which there is no L1 template: L0 filled by the kernel itself."""

    @T.prim_func
    def e5m2_by_hand(
        A: T.Tensor((32, 128), T.float8_e5m2),
        B: T.Tensor((32, 128), T.float8_e5m2),
        C: T.Tensor((32, 32), T.float32),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((32, 128), T.float8_e5m2)
            b = T.alloc_l1((32, 128), T.float8_e5m2)
            a0 = T.alloc_l0a((32, 64), T.float8_e5m2)
            b0 = T.alloc_l0b((32, 64), T.float8_e5m2)
            acc = T.alloc_l0c((32, 32), T.float32)
            T.copy(A, a)
            T.copy(B, b)
            for k in T.serial(2):
                T.copy(a[0:32, k * 64 : (k + 1) * 64], a0)
                T.copy(b[0:32, k * 64 : (k + 1) * 64], b0)
                T.gemm(a0, b0, acc, transpose_B=True, clear_accum=k == 0)
            T.copy(acc, C)

    return e5m2_by_hand


def transposed_operands(dtype: str):
    """A lies as [k, m] and B as [k, n]; both are turned on the way from L1 to L0."""

    def build():
        @T.prim_func
        def transposed_operands(
            A: T.Tensor((64, 32), dtype),
            B: T.Tensor((64, 64), dtype),
            C: T.Tensor((32, 64), T.float32),
        ):
            with T.Kernel(1):
                a = T.alloc_l1((64, 32), dtype)
                b = T.alloc_l1((64, 64), dtype)
                a0 = T.alloc_l0a((64, 32), dtype)
                b0 = T.alloc_l0b((64, 64), dtype)
                acc = T.alloc_l0c((32, 64), T.float32)
                T.copy(A, a)
                T.copy(B, b)
                T.copy(a, a0)
                T.copy(b, b0)
                T.gemm(a0, b0, acc, transpose_A=True, transpose_B=False, clear_accum=True)
                T.copy(acc, C)

        return transposed_operands

    return build


def turned_on_the_way():
    """B lies as [k, n] in GM and is turned by the load into L1."""

    @T.prim_func
    def turned_on_the_way(
        A: T.Tensor((32, 64), T.bfloat16),
        B: T.Tensor((64, 48), T.bfloat16),
        C: T.Tensor((32, 48), T.bfloat16),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((32, 64), T.bfloat16)
            b = T.alloc_l1((48, 64), T.bfloat16)
            acc = T.alloc_l0c((32, 48), T.float32)
            T.copy(A, a)
            T.copy(B, b, transpose=True)
            T.gemm(a, b, acc, transpose_B=True, clear_accum=True)
            T.copy(acc, C)

    return turned_on_the_way


def batches():
    """Six products over two blocks that each take the next one left."""

    @T.prim_func
    def batches(
        A: T.Tensor((6, 32, 64), T.float16),
        B: T.Tensor((6, 32, 64), T.float16),
        C: T.Tensor((6, 32, 32), T.float16),
    ):
        with T.Kernel(2) as block:
            a = T.alloc_l1((32, 64), T.float16)
            b = T.alloc_l1((32, 64), T.float16)
            acc = T.alloc_l0c((32, 32), T.float32)
            for i in T.Pipelined(3, num_stages=2):
                batch = i * 2 + block
                T.copy(A[batch, 0:32, 0:64], a)
                T.copy(B[batch, 0:32, 0:64], b)
                T.gemm(a, b, acc, transpose_B=True, clear_accum=True)
                T.copy(acc, C[batch, 0:32, 0:32])

    return batches


def under_unit_flags():
    """Sums over three steps, M and FIX held together by unit flags."""

    @T.prim_func
    def under_unit_flags(
        A: T.Tensor((2, 32, 96), T.bfloat16),
        B: T.Tensor((32, 96), T.bfloat16),
        C: T.Tensor((2, 32, 32), T.float32),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((32, 32), T.bfloat16)
            b = T.alloc_l1((32, 32), T.bfloat16)
            acc = T.alloc_l0c((32, 32), T.float32)
            for i in T.serial(2):
                for k in T.serial(3):
                    T.copy(A[i, 0:32, k * 32 : (k + 1) * 32], a)
                    T.copy(B[0, k * 32], b)
                    T.gemm(
                        a,
                        b,
                        acc,
                        transpose_B=True,
                        clear_accum=k == 0,
                        unit_flag_ctrl=T.if_then_else(k == 2, 3, 2),
                    )
                T.copy(acc, C[i, 0:32, 0:32], unit_flag_ctrl=3)

    return under_unit_flags


def any_rows():
    """A product of any number of rows; the last tile has what is left."""
    m = T.dynamic("m")

    @T.prim_func
    def any_rows(
        A: T.Tensor((m, 64), T.bfloat16),
        B: T.Tensor((48, 64), T.bfloat16),
        C: T.Tensor((m, 48), T.float32),
    ):
        with T.Kernel(2) as block:
            a = T.alloc_l1((32, 64), T.bfloat16)
            b = T.alloc_l1((48, 64), T.bfloat16)
            acc = T.alloc_l0c((32, 48), T.float32)
            T.copy(B, b)
            for i in T.serial(T.ceildiv(T.ceildiv(m, 32) - block, 2)):
                T.copy(A[(i * 2 + block) * 32, 0], a)
                T.gemm(a, b, acc, transpose_B=True, clear_accum=True)
                T.copy(acc, C[(i * 2 + block) * 32, 0])

    return any_rows


def columns_halved():
    """The sums' columns are dealt out to the two Vector cores."""

    @T.prim_func
    def columns_halved(
        A: T.Tensor((32, 32), T.bfloat16),
        B: T.Tensor((64, 32), T.bfloat16),
        C: T.Tensor((32, 64), T.float32),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((32, 32), T.bfloat16)
            b = T.alloc_l1((64, 32), T.bfloat16)
            acc = T.alloc_l0c((32, 64), T.float32)
            half = T.alloc_shared((32, 32), T.float32)
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, acc, transpose_B=True, clear_accum=True)
            T.dual_copy(acc, half)
            with T.SimtVF(threads=32):
                for r, c in T.Parallel(32, 32):
                    half[r, c] = T.exp(half[r, c] * 0.125)
            T.dual_copy(half, C)

    return columns_halved


FP4_GRID = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)


def scaled_fp4():
    """4-bit floats with a scale for each 32 of them, through L1."""

    @T.prim_func
    def scaled_fp4(
        A: T.Tensor((32, 128), T.float4_e2m1fn),
        B: T.Tensor((32, 128), T.float4_e2m1fn),
        ScaleA: T.Tensor((32, 2), T.int16),
        ScaleB: T.Tensor((32, 2), T.int16),
        C: T.Tensor((32, 32), T.float32),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((32, 128), T.float4_e2m1fn)
            b = T.alloc_l1((32, 128), T.float4_e2m1fn)
            scale_a = T.alloc_l1((32, 2), T.int16)
            scale_b = T.alloc_l1((32, 2), T.int16)
            acc = T.alloc_l0c((32, 32), T.float32)
            T.copy(A, a)
            T.copy(B, b)
            T.copy(ScaleA, scale_a)
            T.copy(ScaleB, scale_b)
            T.gemm_blockscaled(a, b, acc, scale_a, scale_b, transpose_B=True, clear_accum=True)
            T.copy(acc, C)

    return scaled_fp4


def scaled_fp8_by_hand():
    """Block-scaled fp8 with L0 and its scales filled by the kernel."""

    @T.prim_func
    def scaled_fp8_by_hand(
        A: T.Tensor((32, 128), T.float8_e4m3fn),
        B: T.Tensor((32, 128), T.float8_e4m3fn),
        ScaleA: T.Tensor((32, 2), T.int16),
        ScaleB: T.Tensor((32, 2), T.int16),
        C: T.Tensor((32, 32), T.float32),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((32, 128), T.float8_e4m3fn)
            b = T.alloc_l1((32, 128), T.float8_e4m3fn)
            scale_a = T.alloc_l1((32, 2), T.int16)
            scale_b = T.alloc_l1((32, 2), T.int16)
            a0 = T.alloc_l0a((32, 128), T.float8_e4m3fn)
            b0 = T.alloc_l0b((32, 128), T.float8_e4m3fn)
            slot_a = T.alloc_l0a_sf(a0, T.int16)
            slot_b = T.alloc_l0b_sf(b0, T.int16)
            acc = T.alloc_l0c((32, 32), T.float32)
            T.copy(A, a)
            T.copy(B, b)
            T.copy(ScaleA, scale_a)
            T.copy(ScaleB, scale_b)
            T.copy(a, a0)
            T.copy(b, b0)
            T.copy(scale_a, slot_a)
            T.copy(scale_b, slot_b)
            T.gemm_blockscaled(a0, b0, acc, slot_a, slot_b, transpose_B=True, clear_accum=True)
            T.copy(acc, C)

    return scaled_fp8_by_hand


def product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return A.astype(np.float32) @ np.swapaxes(B.astype(np.float32), -1, -2)


def bytes_of(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(-128, 128, shape).astype(np.int8)


def whole(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return A.astype(np.int32) @ B.astype(np.int32).T


def clipped(A: np.ndarray, B: np.ndarray) -> dict[str, np.ndarray]:
    return {"C": np.clip(np.rint(product(A, B) * 8), -128, 127).astype(np.int8)}


def scales(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(124, 131, (32, 4)).astype(np.uint8).view(np.int16)


def scaled(x: np.ndarray, s: np.ndarray) -> np.ndarray:
    return x * np.repeat(2.0 ** (s.view(np.uint8).astype(np.float32) - 127), 32, axis=1)


def unpacked(x: np.ndarray) -> np.ndarray:
    return FP4_GRID[np.stack([x & 15, x >> 4], axis=-1).reshape(x.shape[0], -1)]


def fp4_inputs(rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {
        **{n: rng.integers(0, 256, (32, 64)).astype(np.uint8) for n in ("A", "B")},
        **{n: scales(rng) for n in ("ScaleA", "ScaleB")},
    }


def fp8_inputs(rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {
        **{n: rng.integers(-8, 9, (32, 128)).astype(ml_dtypes.float8_e4m3fn) for n in ("A", "B")},
        **{n: scales(rng) for n in ("ScaleA", "ScaleB")},
    }


def turned(name: str) -> Workload:
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    return Workload(
        f"transposed_{name}",
        transposed_operands(name),
        lambda rng: {
            n: rng.integers(-4, 5, (64, w)).astype(dtype) for n, w in (("A", 32), ("B", 64))
        },
        lambda A, B: {"C": A.astype(np.float32).T @ B.astype(np.float32)},
        {"C": EXACT},
    )


CUBE = (
    Workload(
        "int8_steps",
        int8_steps,
        lambda rng: {"A": bytes_of(rng, 64, 256), "B": bytes_of(rng, 48, 256)},
        lambda A, B: {"C": whole(A, B)},
        {"C": EXACT},
    ),
    Workload(
        "int8_scaled",
        int8_scaled,
        lambda rng: {
            "A": bytes_of(rng, 32, 64),
            "B": bytes_of(rng, 64, 64),
            "Row": normal(rng, (32,)),
            "Column": normal(rng, (64,)),
        },
        lambda A, B, Row, Column: {
            "C": (whole(A, B).astype(np.float32) * Row[:, None] * Column).astype(BF16)
        },
        {"C": EXACT},
    ),
    Workload(
        "quantized_store",
        quantized_store,
        lambda rng: {
            n: rng.integers(-3, 4, (r, 64)).astype(BF16) for n, r in (("A", 32), ("B", 64))
        },
        clipped,
        {"C": EXACT},
    ),
    Workload(
        "e5m2_by_hand",
        e5m2_by_hand,
        lambda rng: {n: rng.integers(-4, 5, (32, 128)).astype(E5M2) for n in ("A", "B")},
        lambda A, B: {"C": product(A, B)},
        {"C": EXACT},
    ),
    *(turned(n) for n in ("bfloat16", "float32", "float8_e4m3fn")),
    Workload(
        "turned_on_the_way",
        turned_on_the_way,
        lambda rng: {"A": normal(rng, (32, 64), BF16), "B": normal(rng, (64, 48), BF16)},
        lambda A, B: {"C": (A.astype(np.float32) @ B.astype(np.float32)).astype(BF16)},
        {
            "C": Tolerance(
                1e-2, 1e-2, "a sum next to a rounding boundary of bf16 may fall either way"
            )
        },
    ),
    Workload(
        "batches",
        batches,
        lambda rng: {n: rng.integers(-4, 5, (6, 32, 64)).astype(np.float16) for n in ("A", "B")},
        lambda A, B: {"C": product(A, B).astype(np.float16)},
        {"C": EXACT},
    ),
    Workload(
        "under_unit_flags",
        under_unit_flags,
        lambda rng: {"A": normal(rng, (2, 32, 96), BF16), "B": normal(rng, (32, 96), BF16)},
        lambda A, B: {"C": A.astype(np.float32) @ B.astype(np.float32).T},
        {"C": ORDER},
    ),
    Workload(
        "any_rows",
        any_rows,
        lambda rng, m=75: {"A": normal(rng, (m, 64), BF16), "B": normal(rng, (48, 64), BF16)},
        lambda A, B: {"C": product(A, B)},
        {"C": ORDER},
    ),
    Workload(
        "columns_halved",
        columns_halved,
        lambda rng: {"A": normal(rng, (32, 32), BF16), "B": normal(rng, (64, 32), BF16)},
        lambda A, B: {"C": np.exp(product(A, B) / 8)},
        {"C": Tolerance(1e-5, 1e-5, "an exponential of a sum in another order")},
    ),
    Workload(
        "scaled_fp4",
        scaled_fp4,
        fp4_inputs,
        lambda A, B, ScaleA, ScaleB: {
            "C": scaled(unpacked(A), ScaleA) @ scaled(unpacked(B), ScaleB).T
        },
        {"C": ORDER},
    ),
    Workload(
        "scaled_fp8_by_hand",
        scaled_fp8_by_hand,
        fp8_inputs,
        lambda A, B, ScaleA, ScaleB: {
            "C": scaled(A.astype(np.float32), ScaleA) @ scaled(B.astype(np.float32), ScaleB).T
        },
        {"C": ORDER},
    ),
)
