"""SIMD bodies: registers, predicates, barriers between stores and loads.

No postponed annotations: see ``examples``.
"""

import ml_dtypes
import numpy as np
import tilelang.ascend.language as T

from examples import EXACT, Tolerance, Workload

BF16 = np.dtype(ml_dtypes.bfloat16)
CLOSE = Tolerance(1e-5, 1e-5, "a float32 sum in another order, or a function good to an ulp or two")


def normal(rng: np.random.Generator, shape: tuple[int, ...], dtype: object = np.float32):
    return rng.standard_normal(shape, np.float32).astype(dtype)


def simd_softmax():
    """Rows of 150, the last register masked; powers go through UB behind a barrier."""

    @T.prim_func
    def simd_softmax(X: T.Tensor((4, 150), T.float32), Y: T.Tensor((4, 150), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((4, 192), T.float32)
            T.copy(X, x[0:4, 0:150])
            with T.SimdVF():
                tail = T.simd.update_mask(T.uint32(22), 32)
                all_lanes = T.simd.pset(32, "PAT_ALL")
                for r in T.serial(4):
                    last = T.simd.vsel(
                        T.simd.vld(x[r, 128]), T.simd.vdup(T.float32(-3e38), "float32"), tail
                    )
                    top = T.simd.vmax(T.simd.vmax(T.simd.vld(x[r, 0]), T.simd.vld(x[r, 64])), last)
                    peak = T.simd.vdupv(T.simd.vcmax(top, all_lanes))
                    for c in T.serial(2):
                        T.simd.vsts(x[r, c * 64], T.simd.vexpdif(T.simd.vld(x[r, c * 64]), peak))
                    T.simd.vsts(x[r, 128], T.simd.vexpdif(last, peak), tail)
                    T.simd.mem_bar("VST_VLD")
                    mass = T.simd.vadd(T.simd.vld(x[r, 0]), T.simd.vld(x[r, 64]))
                    rest = T.simd.vsel(
                        T.simd.vld(x[r, 128]), T.simd.vdup(T.float32(0), "float32"), tail
                    )
                    total = T.simd.vdupv(T.simd.vcadd(T.simd.vadd(mass, rest)))
                    for c in T.serial(2):
                        T.simd.vsts(x[r, c * 64], T.simd.vdiv(T.simd.vld(x[r, c * 64]), total))
                    T.simd.vsts(x[r, 128], T.simd.vdiv(T.simd.vld(x[r, 128]), total), tail)
            T.copy(x[0:4, 0:150], Y)

    return simd_softmax


def compaction():
    """The positive values of each row, moved together; how many there are."""

    @T.prim_func
    def compaction(
        X: T.Tensor((4, 64), T.int32), Y: T.Tensor((4, 64), T.int32), N: T.Tensor((4, 8), T.int32)
    ):
        with T.Kernel(1):
            x = T.alloc_shared((4, 64), T.int32)
            y = T.alloc_shared((4, 64), T.int32)
            n = T.alloc_shared((4, 8), T.int32)
            T.copy(X, x)
            with T.SimdVF():
                first = T.simd.pset(32, "PAT_VL8")
                for r in T.serial(4):
                    row = T.simd.vld(x[r, 0])
                    positive = T.simd.vcmps(row, T.int32(0), op="gt")
                    T.simd.vsts(y[r, 0], T.simd.vsqz(row, positive))
                    ones = T.simd.vdup(T.int32(1), "int32", positive)
                    T.simd.vsts(n[r, 0], T.simd.vcadd(ones), first)
            T.copy(y, Y)
            T.copy(n, N)

    return compaction


def scattered():
    """Rows scattered backwards by an index, and gathered again by another."""

    @T.prim_func
    def scattered(
        X: T.Tensor((64,), T.float32),
        I: T.Tensor((64,), T.uint32),  # noqa: E741
        Y: T.Tensor((64,), T.float32),
        Z: T.Tensor((64,), T.float32),
    ):
        with T.Kernel(1):
            x = T.alloc_shared((64,), T.float32)
            index = T.alloc_shared((64,), T.uint32)
            y = T.alloc_shared((64,), T.float32)
            z = T.alloc_shared((64,), T.float32)
            T.copy(X, x)
            T.copy(I, index)
            with T.SimdVF():
                where = T.simd.vld(index[0])
                T.simd.vscatter(T.simd.vld(x[0]), y[0], where)
                T.simd.vsts(z[0], T.simd.vgather2(x[0], where))
            T.copy(y, Y)
            T.copy(z, Z)

    return scattered


def byte_histogram():
    """How often each byte occurs, in both halves of the range, plain and summed up."""

    @T.prim_func
    def byte_histogram(X: T.Tensor((4, 256), T.uint8), Y: T.Tensor((4, 128), T.uint16)):
        with T.Kernel(1):
            x = T.alloc_shared((4, 256), T.uint8)
            y = T.alloc_shared((4, 128), T.uint16)
            T.copy(X, x)
            with T.SimdVF():
                counts = T.simd.alloc_local(4, "uint16")
                for i in T.Unroll(4, explicit=True):
                    counts[i] = T.simd.vdup(T.uint16(0), "uint16")
                for r in T.serial(4):
                    row = T.simd.vld(x[r, 0])
                    T.simd.dhistv2(counts[0], row, bin=0)
                    T.simd.dhistv2(counts[1], row, bin=1)
                    T.simd.chistv2(counts[2], row, bin=0)
                    T.simd.chistv2(counts[3], row, bin=1)
                for i in T.Unroll(4, explicit=True):
                    T.simd.vsts(y[i, 0], counts[i], dist="NORM_B16")
            T.copy(y, Y)

    return byte_histogram


def long_numbers():
    """64-bit sums of two words with carries, and the long products of 32-bit words."""

    @T.prim_func
    def long_numbers(
        A: T.Tensor((2, 64), T.uint32),
        B: T.Tensor((2, 64), T.uint32),
        Y: T.Tensor((4, 64), T.uint32),
    ):
        with T.Kernel(1):
            a = T.alloc_shared((2, 64), T.uint32)
            b = T.alloc_shared((2, 64), T.uint32)
            y = T.alloc_shared((4, 64), T.uint32)
            T.copy(A, a)
            T.copy(B, b)
            with T.SimdVF():
                carry, low = T.simd.vaddc(T.simd.vld(a[0, 0]), T.simd.vld(b[0, 0]))
                _, high = T.simd.vaddcs(T.simd.vld(a[1, 0]), T.simd.vld(b[1, 0]), carry)
                T.simd.vsts(y[0, 0], low)
                T.simd.vsts(y[1, 0], high)
                low_part, high_part = T.simd.vmull(T.simd.vld(a[0, 0]), T.simd.vld(b[0, 0]))
                T.simd.vsts(y[2, 0], low_part)
                T.simd.vsts(y[3, 0], high_part)
            T.copy(y, Y)

    return long_numbers


def precise():
    """Exact division, and functions that keep numbers too small to be normal."""

    @T.prim_func
    def precise(
        X: T.Tensor((64,), T.float32),
        D: T.Tensor((64,), T.float32),
        Y: T.Tensor((4, 64), T.float32),
    ):
        with T.Kernel(1):
            x = T.alloc_shared((64,), T.float32)
            d = T.alloc_shared((64,), T.float32)
            y = T.alloc_shared((4, 64), T.float32)
            T.copy(X, x)
            T.copy(D, d)
            with T.SimdVF():
                value = T.simd.vld(x[0])
                T.simd.vsts(y[0, 0], T.simd.vdiv(value, T.simd.vld(d[0]), precision="exact"))
                T.simd.vsts(y[1, 0], T.simd.vexp(value, precision="ftz_false"))
                T.simd.vsts(y[2, 0], T.simd.vln(T.simd.vabs(value), precision="ftz_false"))
                T.simd.vsts(y[3, 0], T.simd.vsqrt(T.simd.vabs(value), precision="ftz_false"))
            T.copy(y, Y)

    return precise


def interleaved():
    """Real and imaginary parts in turn: taken apart, multiplied, put together again."""

    @T.prim_func
    def interleaved(X: T.Tensor((4, 128), T.float32), Y: T.Tensor((4, 128), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((4, 128), T.float32)
            T.copy(X, x)
            with T.SimdVF():
                for r in T.serial(4):
                    re, im = T.simd.vld2(x[r, 0], "DINTLV_B32")
                    square = T.simd.vsub(T.simd.vmul(re, re), T.simd.vmul(im, im))
                    cross = T.simd.vmuls(T.simd.vmul(re, im), T.float32(2))
                    left, right = T.simd.vintlv(square, cross)
                    T.simd.vsts(x[r, 0], left)
                    T.simd.vsts(x[r, 64], right)
            T.copy(x, Y)

    return interleaved


def fp4_rows():
    """bf16 rows scaled by their largest magnitude and packed into 4-bit floats."""

    @T.prim_func
    def fp4_rows(X: T.Tensor((4, 128), T.bfloat16), Y: T.Tensor((4, 64), T.uint8)):
        with T.Kernel(1):
            x = T.alloc_shared((4, 128), T.bfloat16)
            y = T.alloc_shared((4, 64), T.uint8)
            T.copy(X, x)
            with T.SimdVF():
                all_words = T.simd.pset(32, "PAT_ALL")
                for r in T.serial(4):
                    packed = T.simd.vcvt(T.simd.vld(x[r, 0]), "float4_e2m1fn", part=0)
                    T.simd.vsts(
                        y[r, 0], T.reinterpret("uint8x256", packed), all_words, dist="PK4_B32"
                    )
            T.copy(y, Y)

    return fp4_rows


def automatic():
    """A loop that the compiler turns into SIMD by itself."""

    @T.prim_func
    def automatic(X: T.Tensor((8, 128), T.float32), Y: T.Tensor((8, 128), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((8, 128), T.float32)
            y = T.alloc_shared((8, 128), T.float32)
            T.copy(X, x)
            T.copy(X, y)
            with T.SimdVF():
                for r, c in T.Parallel(8, 128):
                    y[r, c] = x[r, c] * x[r, c] / 4.0 - y[r, c]
            T.copy(y, Y)

    return automatic


def softmax_of(X: np.ndarray) -> dict[str, np.ndarray]:
    e = np.exp(X - X.max(1, keepdims=True))
    return {"Y": e / e.sum(1, keepdims=True)}


def compacted(X: np.ndarray) -> dict[str, np.ndarray]:
    y, n = np.zeros_like(X), np.zeros((4, 8), np.int32)
    for r, row in enumerate(X):
        live = row[row > 0]
        y[r, : live.size], n[r, 0] = live, live.size
    return {"Y": y, "N": n}


def counted(X: np.ndarray) -> dict[str, np.ndarray]:
    plain = np.bincount(X.reshape(-1), minlength=256)
    return {"Y": np.concatenate([plain, np.cumsum(plain)]).reshape(4, 128).astype(np.uint16)}


def words(A: np.ndarray, B: np.ndarray) -> dict[str, np.ndarray]:
    a, b = (x[0].astype(np.uint64) | x[1].astype(np.uint64) << 32 for x in (A, B))
    both = (a + b, A[0].astype(np.uint64) * B[0])
    split = [w for x in both for w in (x & 0xFFFFFFFF, x >> np.uint64(32))]
    return {"Y": np.stack(split).astype(np.uint32)}


def precise_values(X: np.ndarray, D: np.ndarray) -> dict[str, np.ndarray]:
    wide = X.astype(np.float64)
    rows = (wide / D, np.exp(wide), np.log(np.abs(wide)), np.sqrt(np.abs(wide)))
    return {"Y": np.stack(rows).astype(np.float32)}


def squares(X: np.ndarray) -> dict[str, np.ndarray]:
    z = X[:, 0::2] + 1j * X[:, 1::2].astype(np.complex128)
    return {"Y": np.stack([(z * z).real, (z * z).imag], -1).reshape(X.shape).astype(np.float32)}


def packed_fp4(X: np.ndarray) -> dict[str, np.ndarray]:
    codes = X.astype(np.float32).astype(ml_dtypes.float4_e2m1fn).view(np.uint8) & 15
    return {"Y": (codes[:, 0::2] | codes[:, 1::2] << 4).astype(np.uint8)}


SIMD = (
    Workload(
        "simd_softmax",
        simd_softmax,
        lambda rng: {"X": normal(rng, (4, 150))},
        softmax_of,
        {"Y": CLOSE},
    ),
    Workload(
        "compaction",
        compaction,
        lambda rng: {"X": rng.integers(-50, 50, (4, 64)).astype(np.int32)},
        compacted,
        {"Y": EXACT, "N": EXACT},
    ),
    Workload(
        "scattered",
        scattered,
        lambda rng: {"X": normal(rng, (64,)), "I": rng.permutation(64).astype(np.uint32)},
        lambda X, I: {"Y": X[np.argsort(I)], "Z": X[I]},  # noqa: E741
        {"Y": EXACT, "Z": EXACT},
    ),
    Workload(
        "byte_histogram",
        byte_histogram,
        lambda rng: {"X": rng.integers(0, 256, (4, 256)).astype(np.uint8)},
        counted,
        {"Y": EXACT},
    ),
    Workload(
        "long_numbers",
        long_numbers,
        lambda rng: {n: rng.integers(0, 2**32, (2, 64)).astype(np.uint32) for n in ("A", "B")},
        words,
        {"Y": EXACT},
    ),
    Workload(
        "precise",
        precise,
        lambda rng: {"X": normal(rng, (64,)) * 30, "D": normal(rng, (64,))},
        precise_values,
        {"Y": Tolerance(3e-7, 0, "an ulp or two")},
    ),
    Workload(
        "interleaved",
        interleaved,
        lambda rng: {"X": rng.integers(-9, 10, (4, 128)).astype(np.float32)},
        squares,
        {"Y": EXACT},
    ),
    Workload(
        "fp4_rows",
        fp4_rows,
        lambda rng: {"X": (normal(rng, (4, 128)) * 3).astype(BF16)},
        packed_fp4,
        {"Y": EXACT},
    ),
    Workload(
        "automatic",
        automatic,
        lambda rng: {"X": normal(rng, (8, 128))},
        lambda X: {"Y": X * X / 4 - X},
        {"Y": CLOSE},
    ),
)
