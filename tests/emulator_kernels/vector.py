"""SIMT bodies of many kinds: odd sizes, masks, scans, sorting, gathering, conversions.

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


def odd_softmax():
    """Rows of 77, of which each has one value more than the row before."""

    @T.prim_func
    def odd_softmax(X: T.Tensor((6, 77), T.float32), Y: T.Tensor((6, 77), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((6, 96), T.float32)
            T.copy(X, x[0:6, 0:77])
            with T.SimtVF(threads=32):
                part = T.alloc_fragment((96,), T.float32)
                top = T.alloc_fragment((1,), T.float32)
                mass = T.alloc_fragment((1,), T.float32)
                for r in T.serial(6):
                    for c in T.Parallel(96):
                        part[c] = T.if_then_else(c < 72 + r, x[r, c], -T.infinity("float32"))
                    T.reduce_max(part, top, dim=0)
                    for c in T.Parallel(96):
                        part[c] = T.exp(part[c] - top[0])
                    T.reduce_sum(part, mass, dim=0)
                    for c in T.Parallel(96):
                        x[r, c] = part[c] / mass[0]
            T.copy(x[0:6, 0:77], Y)

    return odd_softmax


def layernorm():
    """Mean and variance of each row of 96, then weight and bias."""

    @T.prim_func
    def layernorm(
        X: T.Tensor((8, 96), T.bfloat16),
        W: T.Tensor((96,), T.float32),
        B: T.Tensor((96,), T.float32),
        Y: T.Tensor((8, 96), T.bfloat16),
    ):
        with T.Kernel(2) as block:
            x = T.alloc_shared((4, 96), T.bfloat16)
            w = T.alloc_shared((96,), T.float32)
            b = T.alloc_shared((96,), T.float32)
            T.copy(X[block * 4, 0], x)
            T.copy(W, w)
            T.copy(B, b)
            with T.SimtVF(threads=96):
                part = T.alloc_fragment((4, 96), T.float32)
                square = T.alloc_fragment((4, 96), T.float32)
                mean = T.alloc_fragment((4,), T.float32)
                spread = T.alloc_fragment((4,), T.float32)
                for r, c in T.Parallel(4, 96):
                    part[r, c] = T.cast(x[r, c], "float32")
                T.reduce_sum(part, mean, dim=1)
                for r, c in T.Parallel(4, 96):
                    part[r, c] = part[r, c] - mean[r] / 96.0
                    square[r, c] = part[r, c] * part[r, c]
                T.reduce_sum(square, spread, dim=1)
                for r, c in T.Parallel(4, 96):
                    x[r, c] = T.cast(
                        part[r, c] * T.rsqrt(spread[r] / 96.0 + 1e-5) * w[c] + b[c], "bfloat16"
                    )
            T.copy(x, Y[block * 4, 0])

    return layernorm


def transpose():
    """37 rows of 41 become 41 rows of 37."""

    @T.prim_func
    def transpose(X: T.Tensor((37, 41), T.float16), Y: T.Tensor((41, 37), T.float16)):
        with T.Kernel(1):
            x = T.alloc_shared((37, 48), T.float16)
            y = T.alloc_shared((41, 48), T.float16)
            T.copy(X, x[0:37, 0:41])
            with T.SimtVF(threads=64):
                for r, c in T.Parallel(41, 37):
                    y[r, c] = x[c, r]
            T.copy(y[0:41, 0:37], Y)

    return transpose


def running(kind: str):
    """Running sums or maxima along rows."""

    def build():
        @T.prim_func
        def running(X: T.Tensor((4, 64), T.float32), Y: T.Tensor((4, 64), T.float32)):
            with T.Kernel(1):
                x = T.alloc_shared((4, 64), T.float32)
                T.copy(X, x)
                with T.SimtVF(threads=4):
                    r = T.get_thread_binding()
                    so_far = T.alloc_var("float32")
                    so_far = x[r, 0]
                    for c in T.serial(1, 64):
                        if kind == "sum":
                            so_far = so_far + x[r, c]
                        else:
                            so_far = T.max(so_far, x[r, c])
                        x[r, c] = so_far
                T.copy(x, Y)

        return running

    return build


def doubling_scan():
    """An inclusive sum over 128 threads by doubling steps, two barriers each."""

    @T.prim_func
    def doubling_scan(X: T.Tensor((128,), T.int32), Y: T.Tensor((128,), T.int32)):
        with T.Kernel(1):
            x = T.alloc_shared((128,), T.int32)
            T.copy(X, x)
            with T.SimtVF(threads=128):
                t = T.get_thread_binding()
                left = T.alloc_var("int32")
                for step in T.serial(7):
                    left = 0
                    if t >= 1 << step:
                        left = x[t - (1 << step)]
                    T.sync_threads()
                    x[t] = x[t] + left
                    T.sync_threads()
            T.copy(x, Y)

    return doubling_scan


def top_three():
    """The three largest of each row and where they stand, the first of equals."""

    @T.prim_func
    def top_three(
        X: T.Tensor((8, 64), T.float32),
        Y: T.Tensor((8, 8), T.float32),
        I: T.Tensor((8, 8), T.int32),  # noqa: E741
    ):
        with T.Kernel(1):
            x = T.alloc_shared((8, 64), T.float32)
            y = T.alloc_shared((8, 8), T.float32)
            index = T.alloc_shared((8, 8), T.int32)
            T.copy(X, x)
            with T.SimtVF(threads=8):
                r = T.get_thread_binding()
                best = T.alloc_var("float32")
                place = T.alloc_var("int32")
                for k in T.serial(8):
                    best = -T.infinity("float32")
                    place = 0
                    for c in T.serial(64):
                        if x[r, c] > best:
                            best = x[r, c]
                            place = c
                    y[r, k] = best
                    index[r, k] = place
                    x[r, place] = -T.infinity("float32")
            T.copy(y, Y)
            T.copy(index, I)

    return top_three


def histogram():
    """Blocks count in UB first, then add to GM by an atomic store."""

    @T.prim_func
    def histogram(X: T.Tensor((512,), T.int32), Y: T.Tensor((64,), T.int32)):
        with T.Kernel(4) as block:
            x = T.alloc_shared((128,), T.int32)
            count = T.alloc_shared((64,), T.int32)
            T.copy(X[block * 128 : block * 128 + 128], x)
            with T.SimtVF(threads=64):
                for c in T.Parallel(64):
                    count[c] = 0
            with T.SimtVF(threads=128):
                for c in T.Parallel(128):
                    T.atomic_add(count[x[c]], 1)
            T.set_atomic("add", "int32")
            T.copy(count, Y)
            T.set_atomic_none()

    return histogram


def reductions(axis: int):
    """Folds along either axis, of sizes that are no power of two along rows."""

    def build():
        kept = 24 if axis == 1 else 64

        @T.prim_func
        def reductions(X: T.Tensor((24, 64), T.float32), Y: T.Tensor((5, kept), T.float32)):
            with T.Kernel(1):
                x = T.alloc_shared((24, 64), T.float32)
                y = T.alloc_shared((5, kept), T.float32)
                T.copy(X, x)
                with T.SimtVF(threads=64):
                    part = T.alloc_fragment((24, 64), T.float32)
                    for r, c in T.Parallel(24, 64):
                        part[r, c] = x[r, c]
                    total = T.alloc_fragment((kept,), T.float32)
                    T.reduce_sum(part, total, dim=axis)
                    for i in T.Parallel(kept):
                        y[0, i] = total[i]
                    T.reduce_max(part, total, dim=axis)
                    for i in T.Parallel(kept):
                        y[1, i] = total[i]
                    T.reduce_min(part, total, dim=axis)
                    for i in T.Parallel(kept):
                        y[2, i] = total[i]
                    T.reduce_abssum(part, total, dim=axis)
                    for i in T.Parallel(kept):
                        y[3, i] = total[i]
                    T.reduce_absmax(part, total, dim=axis)
                    for i in T.Parallel(kept):
                        y[4, i] = total[i]
                T.copy(y, Y)

        return reductions

    return build


def bits():
    """Bit patterns: shifts, exclusive or, the sign carried along."""

    @T.prim_func
    def bits(X: T.Tensor((8, 32), T.int32), Z: T.Tensor((8, 32), T.int32)):
        with T.Kernel(1):
            x = T.alloc_shared((8, 32), T.int32)
            T.copy(X, x)
            with T.SimtVF(threads=32):
                for r, c in T.Parallel(8, 32):
                    x[r, c] = x[r, c] * 3 + (x[r, c] >> 3) ^ (~x[r, c] << 2)
            T.copy(x, Z)

    return bits


def rotary():
    """Halves of a head turned against each other."""

    @T.prim_func
    def rotary(
        X: T.Tensor((6, 64), T.bfloat16),
        Angle: T.Tensor((6, 32), T.float32),
        Y: T.Tensor((6, 64), T.bfloat16),
    ):
        with T.Kernel(1):
            x = T.alloc_shared((6, 64), T.bfloat16)
            angle = T.alloc_shared((6, 32), T.float32)
            T.copy(X, x)
            T.copy(Angle, angle)
            with T.SimtVF(threads=32):
                for r in T.serial(6):
                    for c in T.Parallel(32):
                        a = T.cast(x[r, c], "float32")
                        b = T.cast(x[r, c + 32], "float32")
                        sine = T.sin(angle[r, c])
                        cosine = T.cos(angle[r, c])
                        x[r, c] = T.cast(a * cosine - b * sine, "bfloat16")
                        x[r, c + 32] = T.cast(a * sine + b * cosine, "bfloat16")
            T.copy(x, Y)

    return rotary


def gated():
    """SwiGLU over any number of rows and columns; blocks take rows in turn."""
    m, n = T.dynamic("m"), T.dynamic("n")

    @T.prim_func
    def gated(
        X: T.Tensor((m, n), T.float32),
        G: T.Tensor((m, n), T.float32),
        Y: T.Tensor((m, n), T.float32),
    ):
        with T.Kernel(3) as block:
            x = T.alloc_shared((64,), T.float32)
            g = T.alloc_shared((64,), T.float32)
            for i in T.serial(T.ceildiv(m - block, 3)):
                for j in T.serial(T.ceildiv(n, 64)):
                    T.copy(X[i * 3 + block, j * 64], x)
                    T.copy(G[i * 3 + block, j * 64], g)
                    with T.SimtVF(threads=64):
                        for c in T.Parallel(64):
                            if j * 64 + c < n:
                                x[c] = x[c] * g[c] / (1.0 + T.exp(-g[c]))
                    T.copy(x, Y[i * 3 + block, j * 64])

    return gated


def embedding():
    """Rows of a table named by a tensor, loaded one by one."""

    @T.prim_func
    def embedding(
        Table: T.Tensor((32, 48), T.float16),
        I: T.Tensor((10,), T.int32),  # noqa: E741
        Y: T.Tensor((10, 48), T.float16),
    ):
        with T.Kernel(2) as block:
            row = T.alloc_shared((1, 48), T.float16)
            for i in T.Pipelined(5, num_stages=2):
                T.copy(Table[I[block * 5 + i], 0], row)
                T.copy(row, Y[block * 5 + i, 0])

    return embedding


def whole_block_sum():
    """Threads of four warps add through UB, with barriers of the whole region."""

    @T.prim_func
    def whole_block_sum(X: T.Tensor((128,), T.float32), Y: T.Tensor((8,), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((128,), T.float32)
            y = T.alloc_shared((8,), T.float32)
            T.copy(X, x)
            with T.SimtVF(threads=128):
                t = T.get_thread_binding()
                for step in T.serial(7):
                    if t < 64 >> step:
                        x[t] = x[t] + x[t + (64 >> step)]
                    T.sync_threads()
                if t < 8:
                    y[t] = x[0] + T.cast(t, "float32")
            T.copy(y, Y)

    return whole_block_sum


def conversions():
    """float32 through every narrower type and back."""

    @T.prim_func
    def conversions(X: T.Tensor((64,), T.float32), Y: T.Tensor((8, 64), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((64,), T.float32)
            y = T.alloc_shared((8, 64), T.float32)
            T.copy(X, x)
            with T.SimtVF(threads=64):
                t = T.get_thread_binding()
                y[0, t] = T.cast(T.cast(x[t], "float16"), "float32")
                y[1, t] = T.cast(T.cast(x[t], "bfloat16"), "float32")
                y[2, t] = T.cast(T.cast(x[t], "float8_e4m3fn"), "float32")
                y[3, t] = T.cast(T.cast(x[t], "float8_e5m2"), "float32")
                y[4, t] = T.cast(T.cast(x[t], "int32"), "float32")
                y[5, t] = T.cast(T.cast(T.cast(x[t], "int32"), "int16"), "float32")
                y[6, t] = T.cast(T.cast(T.cast(x[t], "int32"), "int8"), "float32")
                y[7, t] = T.cast(T.cast(x[t], "int64"), "float32")
            T.copy(y, Y)

    return conversions


def votes():
    """Ballots, votes and folds of a warp, some lanes masked."""

    @T.prim_func
    def votes(X: T.Tensor((64,), T.int32), Y: T.Tensor((6, 64), T.int32)):
        with T.Kernel(1):
            x = T.alloc_shared((64,), T.int32)
            y = T.alloc_shared((6, 64), T.int32)
            T.copy(X, x)
            with T.SimtVF(threads=64):
                t = T.get_thread_binding()
                y[0, t] = T.cast(T.ballot(x[t] > 0), "int32")
                y[1, t] = T.warp_reduce_sum(x[t])
                y[2, t] = T.warp_reduce_max(x[t])
                y[3, t] = T.warp_reduce_min(x[t])
                y[4, t] = 0
                y[5, t] = 0
                if x[t] % 3 == 0:
                    y[4, t] = T.cast(T.activemask(), "int32")
                    y[5, t] = T.warp_reduce_sum(x[t])
            T.copy(y, Y)

    return votes


def returned_by_atomics():
    """Each thread takes a ticket; the old values are all different."""

    @T.prim_func
    def returned_by_atomics(X: T.Tensor((64,), T.int32), Y: T.Tensor((64,), T.int32)):
        with T.Kernel(1):
            x = T.alloc_shared((64,), T.int32)
            y = T.alloc_shared((64,), T.int32)
            next_free = T.alloc_shared((8,), T.int32)
            T.copy(X, x)
            with T.SimtVF(threads=64):
                for c in T.Parallel(64):
                    y[c] = 0
                for c in T.Parallel(8):
                    next_free[c] = 0
            with T.SimtVF(threads=64):
                t = T.get_thread_binding()
                if x[t] > 0:
                    slot = T.atomic_add(next_free[0], 1, return_prev=True)
                    T.atomic_max(y[slot], x[t])
            T.copy(y, Y)

    return returned_by_atomics


def softmax_of_odd(X: np.ndarray) -> dict[str, np.ndarray]:
    y = np.zeros_like(X)
    for r, row in enumerate(X):
        live = row[: min(72 + r, 77)]
        e = np.exp(live - live.max())
        y[r, : live.size] = e / e.sum()
    return {"Y": y}


def normed(X: np.ndarray, W: np.ndarray, B: np.ndarray) -> dict[str, np.ndarray]:
    x = X.astype(np.float64)
    x = x - x.mean(1, keepdims=True)
    return {"Y": (x / np.sqrt((x**2).mean(1, keepdims=True) + 1e-5) * W + B).astype(BF16)}


def largest(X: np.ndarray) -> dict[str, np.ndarray]:
    order = np.argsort(-X, axis=1, kind="stable")[:, :8].astype(np.int32)
    return {"Y": np.take_along_axis(X, order, 1), "I": order}


def folded(axis: int):
    def reference(X: np.ndarray) -> dict[str, np.ndarray]:
        size = np.abs(X)
        folds = (X.sum(axis), X.max(axis), X.min(axis), size.sum(axis), size.max(axis))
        return {"Y": np.stack(folds)}

    return reference


def rotated(X: np.ndarray, Angle: np.ndarray) -> dict[str, np.ndarray]:
    a, b = X[:, :32].astype(np.float32), X[:, 32:].astype(np.float32)
    s, c = np.sin(Angle), np.cos(Angle)
    return {"Y": np.concatenate([a * c - b * s, a * s + b * c], axis=1).astype(BF16)}


def narrowed(X: np.ndarray) -> dict[str, np.ndarray]:
    whole = X.astype(np.int64)
    floats = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
    rows = [X.astype(np.dtype(getattr(ml_dtypes, n, n))).astype(np.float32) for n in floats]
    rows += [whole.astype(t).astype(np.float32) for t in (np.int32, np.int16, np.int8, np.int64)]
    return {"Y": np.stack(rows)}


def voted(X: np.ndarray) -> dict[str, np.ndarray]:
    y = np.zeros((6, 64), np.int32)
    for w in range(2):
        lanes = X[32 * w : 32 * w + 32]
        ballot = sum(1 << i for i in range(32) if lanes[i] > 0)
        here = slice(32 * w, 32 * w + 32)
        y[0, here] = np.array(ballot, np.uint32).astype(np.int32)
        y[1:4, here] = np.array([lanes.sum(), lanes.max(), lanes.min()])[:, None]
        third = np.fmod(lanes, 3) == 0
        mask = sum(1 << i for i in range(32) if third[i])
        y[4, here][third] = np.array(mask, np.uint32).astype(np.int32)
        y[5, here][third] = lanes[third].sum()
    return {"Y": y}


def tickets(X: np.ndarray) -> dict[str, np.ndarray]:
    # Threads run in order here; any order would be as right.
    taken = X[X > 0]
    return {"Y": np.concatenate([taken, np.zeros(64 - taken.size, np.int32)])}


VECTOR = (
    Workload(
        "odd_softmax",
        odd_softmax,
        lambda rng: {"X": normal(rng, (6, 77))},
        softmax_of_odd,
        {"Y": CLOSE},
    ),
    Workload(
        "layernorm",
        layernorm,
        lambda rng: {
            "X": normal(rng, (8, 96), BF16),
            "W": normal(rng, (96,)),
            "B": normal(rng, (96,)),
        },
        normed,
        {"Y": Tolerance(1e-2, 1e-2, "a value next to a rounding boundary of bf16")},
    ),
    Workload(
        "transpose",
        transpose,
        lambda rng: {"X": normal(rng, (37, 41), np.float16)},
        lambda X: {"Y": X.T.copy()},
        {"Y": EXACT},
    ),
    Workload(
        "running_sum",
        running("sum"),
        lambda rng: {"X": rng.integers(-9, 10, (4, 64)).astype(np.float32)},
        lambda X: {"Y": np.cumsum(X, 1)},
        {"Y": EXACT},
    ),
    Workload(
        "running_maximum",
        running("max"),
        lambda rng: {"X": normal(rng, (4, 64))},
        lambda X: {"Y": np.maximum.accumulate(X, 1)},
        {"Y": EXACT},
    ),
    Workload(
        "doubling_scan",
        doubling_scan,
        lambda rng: {"X": rng.integers(-99, 100, 128).astype(np.int32)},
        lambda X: {"Y": np.cumsum(X, dtype=np.int32)},
        {"Y": EXACT},
    ),
    Workload(
        "top_three",
        top_three,
        lambda rng: {"X": rng.permuted(np.arange(512, dtype=np.float32)).reshape(8, 64)},
        largest,
        {"Y": EXACT, "I": EXACT},
    ),
    Workload(
        "histogram_in_ub",
        histogram,
        lambda rng: {
            "X": rng.integers(0, 64, 512).astype(np.int32),
            "Y": rng.integers(0, 9, 64).astype(np.int32),
        },
        lambda X, Y: {"Y": Y + np.bincount(X, minlength=64).astype(np.int32)},
        {"Y": EXACT},
    ),
    *(
        Workload(
            f"reductions_{axis}",
            reductions(axis),
            lambda rng: {"X": normal(rng, (24, 64))},
            folded(axis),
            {"Y": CLOSE},
        )
        for axis in (0, 1)
    ),
    Workload(
        "bits",
        bits,
        lambda rng: {"X": rng.integers(-(2**31), 2**31, (8, 32)).astype(np.int32)},
        lambda X: {"Z": X * 3 + (X >> 3) ^ (~X << 2)},
        {"Z": EXACT},
    ),
    Workload(
        "rotary",
        rotary,
        lambda rng: {"X": normal(rng, (6, 64), BF16), "Angle": normal(rng, (6, 32))},
        rotated,
        {"Y": Tolerance(1e-2, 1e-2, "a value next to a rounding boundary of bf16")},
    ),
    Workload(
        "gated",
        gated,
        lambda rng, m=7, n=150: {"X": normal(rng, (m, n)), "G": normal(rng, (m, n))},
        lambda X, G: {"Y": X * G / (1 + np.exp(-G))},
        {"Y": CLOSE},
    ),
    Workload(
        "embedding",
        embedding,
        lambda rng: {
            "Table": normal(rng, (32, 48), np.float16),
            "I": rng.integers(0, 32, 10).astype(np.int32),
        },
        lambda Table, I: {"Y": Table[I]},  # noqa: E741
        {"Y": EXACT},
    ),
    Workload(
        "whole_block_sum",
        whole_block_sum,
        lambda rng: {"X": rng.integers(-9, 10, 128).astype(np.float32)},
        lambda X: {"Y": X.sum() + np.arange(8, dtype=np.float32)},
        {"Y": EXACT},
    ),
    Workload(
        "conversions",
        conversions,
        lambda rng: {"X": (normal(rng, (64,)) * 100).astype(np.float32)},
        narrowed,
        {"Y": EXACT},
    ),
    Workload(
        "votes",
        votes,
        lambda rng: {"X": rng.integers(-99, 100, 64).astype(np.int32)},
        voted,
        {"Y": EXACT},
    ),
    Workload(
        "returned_by_atomics",
        returned_by_atomics,
        lambda rng: {"X": rng.integers(-99, 100, 64).astype(np.int32)},
        tickets,
        {"Y": EXACT},
    ),
)
