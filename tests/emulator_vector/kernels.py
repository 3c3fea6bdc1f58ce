"""Kernels whose bodies TileLang lowers in different ways; each with what numpy expects.

No postponed annotations: the parameters of a prim_func are evaluated where it is defined.
"""

from collections.abc import Callable
from dataclasses import dataclass

import ml_dtypes
import numpy as np
import tilelang.ascend.language as T

BF16 = np.dtype(ml_dtypes.bfloat16)
E4M3 = np.dtype(ml_dtypes.float8_e4m3fn)


@dataclass(frozen=True)
class Kernel:
    func: object
    inputs: dict[str, np.ndarray]
    expected: dict[str, np.ndarray]
    rtol: float = 0.0


def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def normal(shape: tuple[int, ...], dtype: np.dtype | type) -> np.ndarray:
    return rng().standard_normal(shape).astype(np.float32).astype(dtype)


def elementwise(name: str, dtype: np.dtype | type) -> Kernel:
    """``x * y + x``, a maximum and a choice, vectorized two or four lanes wide."""

    @T.prim_func
    def kernel(
        X: T.Tensor((8, 256), name), Y: T.Tensor((8, 256), name), Z: T.Tensor((8, 256), name)
    ):
        with T.Kernel(1):
            x = T.alloc_shared((8, 256), name)
            y = T.alloc_shared((8, 256), name)
            z = T.alloc_shared((8, 256), name)
            T.copy(X, x)
            T.copy(Y, y)
            with T.SimtVF(threads=128):
                for i, j in T.Parallel(8, 256):
                    z[i, j] = T.if_then_else(
                        x[i, j] > y[i, j], x[i, j] * y[i, j] + x[i, j], T.max(y[i, j], x[i, j])
                    )
            T.copy(z, Z)

    if np.dtype(dtype).kind in "iu":
        x = rng().integers(0, 90, (8, 256)).astype(dtype)
        y = np.roll(x, 3)
    else:
        x, y = normal((8, 256), dtype), np.roll(normal((8, 256), dtype), 3)
    return Kernel(kernel, {"X": x, "Y": y}, {"Z": np.where(x > y, x * y + x, np.maximum(x, y))})


def cast(source: str, target: str, from_dtype: np.dtype, to_dtype: np.dtype) -> Kernel:
    """Conversion in a SIMT body, packed pairs where the widths allow it."""

    @T.prim_func
    def kernel(X: T.Tensor((4, 512), source), Y: T.Tensor((4, 512), target)):
        with T.Kernel(1):
            x = T.alloc_shared((4, 512), source)
            y = T.alloc_shared((4, 512), target)
            T.copy(X, x)
            with T.SimtVF(threads=128):
                for i, j in T.Parallel(4, 512):
                    y[i, j] = T.cast(x[i, j], target)
            T.copy(y, Y)

    wide = normal((4, 512), np.float32) * 200
    x = wide.astype(from_dtype)
    top = float(ml_dtypes.finfo(to_dtype).max)
    return Kernel(
        kernel, {"X": x}, {"Y": np.clip(x.astype(np.float32), -top, top).astype(to_dtype)}
    )


def reduction(
    kind: str, function: Callable[..., np.ndarray], name: str = "float32", rtol: float = 1e-5
) -> Kernel:
    """A fold along rows, threads sharing a row."""

    @T.prim_func
    def kernel(X: T.Tensor((16, 256), name), Y: T.Tensor((16,), name)):
        with T.Kernel(1):
            x = T.alloc_shared((16, 256), name)
            y = T.alloc_shared((16,), name)
            T.copy(X, x)
            with T.SimtVF(threads=128):
                part = T.alloc_fragment((16, 256), name)
                total = T.alloc_fragment((16,), name)
                for i, j in T.Parallel(16, 256):
                    part[i, j] = x[i, j]
                getattr(T, f"reduce_{kind}")(part, total, dim=1)
                for i in T.Parallel(16):
                    y[i] = total[i]
            T.copy(y, Y)

    dtype = np.dtype(name)
    x = normal((16, 256), np.float32)
    x = (x * 100).astype(dtype) if dtype.kind == "i" else x.astype(dtype)
    return Kernel(kernel, {"X": x}, {"Y": function(x, axis=1).astype(dtype)}, rtol=rtol)


def softmax() -> Kernel:
    """Row softmax in one SIMT body, with two folds and an exponential."""

    @T.prim_func
    def kernel(X: T.Tensor((8, 512), T.float32), Y: T.Tensor((8, 512), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((8, 512), T.float32)
            T.copy(X, x)
            with T.SimtVF(threads=256):
                part = T.alloc_fragment((8, 512), T.float32)
                top = T.alloc_fragment((8,), T.float32)
                mass = T.alloc_fragment((8,), T.float32)
                for i, j in T.Parallel(8, 512):
                    part[i, j] = x[i, j]
                T.reduce_max(part, top, dim=1)
                for i, j in T.Parallel(8, 512):
                    part[i, j] = T.exp(part[i, j] - top[i])
                T.reduce_sum(part, mass, dim=1)
                for i, j in T.Parallel(8, 512):
                    x[i, j] = part[i, j] / mass[i]
            T.copy(x, Y)

    x = normal((8, 512), np.float32)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return Kernel(kernel, {"X": x}, {"Y": e / e.sum(axis=1, keepdims=True)}, rtol=1e-5)


def gather_histogram() -> Kernel:
    """Indices from memory, loads through them, and atomics on UB and GM."""

    @T.prim_func
    def kernel(
        X: T.Tensor((256,), T.float32),
        I: T.Tensor((256,), T.int32),  # noqa: E741
        Y: T.Tensor((256,), T.float32),
        Count: T.Tensor((16,), T.int32),
        Total: T.Tensor((1,), T.float32),
    ):
        with T.Kernel(1):
            x = T.alloc_shared((256,), T.float32)
            index = T.alloc_shared((256,), T.int32)
            y = T.alloc_shared((256,), T.float32)
            count = T.alloc_shared((16,), T.int32)
            T.copy(X, x)
            T.copy(I, index)
            with T.SimtVF(threads=128):
                for i in T.Parallel(16):
                    count[i] = 0
            with T.SimtVF(threads=128):
                for i in T.Parallel(256):
                    y[i] = x[index[i]]
                    T.atomic_add(count[index[i] % 16], 1)
                    T.atomic_add(Total[0], x[index[i]])
            T.copy(y, Y)
            T.copy(count, Count)

    x = rng().integers(-8, 8, 256).astype(np.float32)
    index = rng().integers(0, 256, 256).astype(np.int32)
    count = np.bincount(index % 16, minlength=16).astype(np.int32)
    total = x[index].sum(keepdims=True)
    inputs = {"X": x, "I": index, "Total": np.zeros(1, np.float32)}
    return Kernel(kernel, inputs, {"Y": x[index], "Count": count, "Total": total})


def ballot_rank() -> Kernel:
    """Each lane counts the lanes before it whose value is positive."""

    @T.prim_func
    def kernel(X: T.Tensor((64,), T.float32), Y: T.Tensor((64,), T.int32)):
        with T.Kernel(1):
            x = T.alloc_shared((64,), T.float32)
            y = T.alloc_shared((64,), T.int32)
            T.copy(X, x)
            with T.SimtVF(threads=64):
                t = T.get_thread_binding()
                votes = T.ballot(x[t] > T.float32(0))
                y[t] = T.cast(votes >> T.cast(t % 32, "uint64"), "int32") & 1
            T.copy(y, Y)

    x = normal((64,), np.float32)
    return Kernel(kernel, {"X": x}, {"Y": (x > 0).astype(np.int32)})


def simd_parallel() -> Kernel:
    """A loop that TileLang turns into SIMD instructions by itself."""

    @T.prim_func
    def kernel(
        X: T.Tensor((16, 128), T.float32),
        Y: T.Tensor((16, 128), T.float32),
        Z: T.Tensor((16, 128), T.float32),
    ):
        with T.Kernel(1):
            x = T.alloc_shared((16, 128), T.float32)
            y = T.alloc_shared((16, 128), T.float32)
            z = T.alloc_shared((16, 128), T.float32)
            T.copy(X, x)
            T.copy(Y, y)
            with T.SimdVF():
                for i, j in T.Parallel(16, 128):
                    z[i, j] = x[i, j] * y[i, j] - x[i, j] / 2.0
            T.copy(z, Z)

    x, y = normal((16, 128), np.float32), np.roll(normal((16, 128), np.float32), 5)
    return Kernel(kernel, {"X": x, "Y": y}, {"Z": x * y - x / 2})


def simd_quantize() -> Kernel:
    """bfloat16 rows to fp8 in registers: unpack, scale, convert, store a quarter."""

    @T.prim_func
    def kernel(X: T.Tensor((8, 256), T.bfloat16), Y: T.Tensor((8, 256), "float8_e4m3fn")):
        with T.Kernel(1):
            x = T.alloc_shared((8, 256), T.bfloat16)
            y = T.alloc_shared((8, 256), "float8_e4m3fn")
            T.copy(X, x)
            with T.SimdVF():
                words = T.simd.pset(32, "PAT_ALL")
                for r in T.serial(8):
                    for c in T.serial(4):
                        narrow = T.simd.vld(x[r, c * 64], "UNPK_B16")
                        wide = T.simd.vcvt(narrow, "float32", part=0)
                        scaled = T.simd.vmuls(wide, T.float32(8))
                        T.simd.vsts(
                            y[r, c * 64],
                            T.simd.vcvt(scaled, "float8_e4m3fn", part=0),
                            words,
                            "PK4_B32",
                        )
            T.copy(y, Y)

    x = normal((8, 256), BF16)
    return Kernel(kernel, {"X": x}, {"Y": (x.astype(np.float32) * 8).astype(E4M3)})


def simd_merging() -> Kernel:
    """A running maximum of columns where a comparison allows it: merging, predicates, locals."""

    @T.prim_func
    def kernel(X: T.Tensor((32, 64), T.float32), Y: T.Tensor((64,), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((32, 64), T.float32)
            y = T.alloc_shared((64,), T.float32)
            T.copy(X, x)
            with T.SimdVF():
                best = T.simd.alloc_var("float32")
                best = T.simd.vdup(T.float32(-9), "float32")
                for r in T.serial(32):
                    row = T.simd.vld(x[r, 0])
                    small = T.simd.vcmps(row, T.float32(1), op="lt")
                    best = T.simd.vmax(best, row, small, "MODE_MERGING")
                T.simd.vsts(y[0], best)
            T.copy(y, Y)

    x = normal((32, 64), np.float32)
    return Kernel(kernel, {"X": x}, {"Y": np.where(x < 1, x, -9).max(axis=0)})


def simd_pointers() -> Kernel:
    """Pointers that advance by themselves, an array of registers, a predicate kept in memory."""

    @T.prim_func
    def kernel(
        X: T.Tensor((8, 64), T.float32),
        Y: T.Tensor((64,), T.float32),
        Blocks: T.Tensor((8, 64), T.float32),
    ):
        with T.Kernel(1):
            x = T.alloc_shared((8, 64), T.float32)
            y = T.alloc_shared((64,), T.float32)
            blocks = T.alloc_shared((8, 64), T.float32)
            saved = T.alloc_shared((8,), T.uint32)
            T.copy(X, x)
            with T.SimdVF():
                everything = T.simd.pset(32, "PAT_ALL")
                sums = T.simd.alloc_local(2, "float32")
                for i in T.Unroll(2, explicit=True):
                    sums[i] = T.simd.vdup(T.float32(0), "float32")
                source = T.simd.make_ubuf_ptr(T.access_ptr(x[0, 0], "r", extent=512), "float32")
                target = T.simd.make_ubuf_ptr(
                    T.access_ptr(blocks[0, 0], "w", extent=512), "float32"
                )
                for _ in T.serial(4):
                    for i in T.Unroll(2, explicit=True):
                        row, source = T.simd.vld(source, post_inc=64)
                        T.simd.vmula(sums[i], row, row, everything)
                        # One 32-byte block of the row each 8 rows of blocks: a transposition.
                        target = T.simd.vsstb(row, target, (8 << 16) | 1, everything, update=True)
                positive = T.simd.vcmps(sums[1], T.float32(4), op="gt")
                T.simd.pst(saved[0], positive)
                T.simd.mem_bar("VST_VLD")
                chosen = T.simd.vsel(sums[0], sums[1], T.simd.pld(saved[0]))
                T.simd.vsts(y[0], chosen)
            T.copy(y, Y)
            T.copy(blocks, Blocks)

    x = normal((8, 64), np.float32)
    even, odd = np.zeros(64, np.float32), np.zeros(64, np.float32)
    for r in range(0, 8, 2):
        even = (x[r].astype(np.float64) ** 2 + even).astype(np.float32)
        odd = (x[r + 1].astype(np.float64) ** 2 + odd).astype(np.float32)
    blocks = x.reshape(8, 8, 8).transpose(1, 0, 2).reshape(8, 64)
    return Kernel(kernel, {"X": x}, {"Y": np.where(odd > 4, even, odd), "Blocks": blocks})


def random_numbers() -> Kernel:
    """Philox in a SIMT body: the mean is all that is expected of it."""

    @T.prim_func
    def kernel(Y: T.Tensor((128,), T.float32)):
        with T.Kernel(1):
            y = T.alloc_shared((128,), T.float32)
            with T.SimtVF(threads=128):
                t = T.get_thread_binding()
                T.rng_init(5)
                y[t] = T.rng_rand_float()
            T.copy(y, Y)

    return Kernel(kernel, {}, {"Y": np.zeros(128, np.float32)}, rtol=np.inf)


KERNELS: dict[str, Callable[[], Kernel]] = {
    **{
        f"elementwise_{name}": lambda n=name, d=dtype: elementwise(n, d)
        for name, dtype in {
            "float32": np.float32,
            "float16": np.float16,
            "bfloat16": BF16,
            "int32": np.int32,
            "int8": np.int8,
            "uint16": np.uint16,
        }.items()
    },
    **{
        f"cast_{a}_{b}": lambda a=a, b=b, x=x, y=y: cast(a, b, x, y)
        for a, b, x, y in (
            ("bfloat16", "float8_e4m3fn", BF16, E4M3),
            ("float16", "float8_e4m3fn", np.dtype(np.float16), E4M3),
            ("float32", "float8_e5m2", np.dtype(np.float32), np.dtype(ml_dtypes.float8_e5m2)),
            ("float8_e4m3fn", "float32", E4M3, np.dtype(np.float32)),
            ("float32", "bfloat16", np.dtype(np.float32), BF16),
            ("bfloat16", "float32", BF16, np.dtype(np.float32)),
        )
    },
    "reduce_sum": lambda: reduction("sum", np.sum),
    "reduce_max": lambda: reduction("max", np.max),
    "reduce_absmax": lambda: reduction("absmax", lambda x, axis: np.abs(x).max(axis=axis)),
    "reduce_sum_int32": lambda: reduction("sum", np.sum, "int32", 0),
    "reduce_min_int32": lambda: reduction("min", np.min, "int32", 0),
    "reduce_max_float16": lambda: reduction("max", np.max, "float16", 0),
    "reduce_sum_float16": lambda: reduction("sum", np.sum, "float16", 2e-2),
    "softmax": softmax,
    "gather_histogram": gather_histogram,
    "ballot_rank": ballot_rank,
    "simd_parallel": simd_parallel,
    "simd_quantize": simd_quantize,
    "simd_merging": simd_merging,
    "simd_pointers": simd_pointers,
    "random_numbers": random_numbers,
}
