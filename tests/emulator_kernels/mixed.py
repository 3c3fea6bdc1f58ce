"""Kernels of both kinds of core, of several launches, and of blocks that wait for each other.

No postponed annotations: see ``examples``.
"""

import math

import ml_dtypes
import numpy as np
import tilelang.ascend.language as T

from examples import EXACT, Tolerance, Workload

BF16 = np.dtype(ml_dtypes.bfloat16)
WEIGHTS = Tolerance(0.0, 2e-2, "weights between 0 and 1 are rounded to bf16, values are below 4")


def normal(rng: np.random.Generator, shape: tuple[int, ...], dtype: object = np.float32):
    return rng.standard_normal(shape, np.float32).astype(dtype)


def attention(window: int):
    """One query tile over four key tiles, causal or with a window; softmax in SIMT."""
    side, d, tiles = 32, 32, 4
    half = side // 2
    scale = 1 / math.sqrt(d)

    def build():
        @T.prim_func
        def attention(
            Q: T.Tensor((side, d), T.bfloat16),
            K: T.Tensor((side * tiles, d), T.bfloat16),
            V: T.Tensor((side * tiles, d), T.bfloat16),
            O: T.Tensor((side, d), T.float32),  # noqa: E741
        ):
            with T.Kernel(1):
                q = T.alloc_l1((side, d), T.bfloat16)
                k = T.alloc_l1((side, d), T.bfloat16)
                v = T.alloc_l1((d, side), T.bfloat16)
                weights = T.alloc_l1((side, side), T.bfloat16)
                scores_l0c = T.alloc_l0c((side, side), T.float32)
                update_l0c = T.alloc_l0c((side, d), T.float32)
                scores = T.alloc_shared((half, side), T.float32)
                power = T.alloc_shared((half, side), T.bfloat16)
                update = T.alloc_shared((half, d), T.float32)
                out = T.alloc_shared((half, d), T.float32)
                peak = T.alloc_shared((half,), T.float32)
                mass = T.alloc_shared((half,), T.float32)
                fade = T.alloc_shared((half,), T.float32)
                T.copy(Q, q)
                with T.SimtVF(threads=half):
                    for r in T.Parallel(half):
                        peak[r] = -1e30
                        mass[r] = 0.0
                        for c in T.serial(d):
                            out[r, c] = 0.0
                for j in T.Pipelined(tiles, num_stages=2):
                    T.copy(K[j * side, 0], k)
                    T.gemm(q, k, scores_l0c, transpose_B=True, clear_accum=True)
                    T.dual_copy(scores_l0c, scores)
                    with T.SimtVF(threads=half):
                        r = T.get_thread_binding()
                        top = T.alloc_var("float32")
                        total = T.alloc_var("float32")
                        top = peak[r]
                        for c in T.serial(side):
                            top = T.max(top, scores[r, c] * scale)
                        fade[r] = T.exp(peak[r] - top)
                        total = 0.0
                        for c in T.serial(side):
                            if j * side + c >= window * j:
                                power[r, c] = T.cast(T.exp(scores[r, c] * scale - top), "bfloat16")
                                total = total + T.exp(scores[r, c] * scale - top)
                            else:
                                power[r, c] = T.cast(0.0, "bfloat16")
                        mass[r] = mass[r] * fade[r] + total
                        peak[r] = top
                    T.dual_copy(power, weights)
                    T.copy(V[j * side : (j + 1) * side, 0:d], v, transpose=True)
                    T.gemm(weights, v, update_l0c, transpose_B=True, clear_accum=True)
                    T.dual_copy(update_l0c, update)
                    with T.SimtVF(threads=half):
                        for r in T.Parallel(half):
                            for c in T.serial(d):
                                out[r, c] = out[r, c] * fade[r] + update[r, c]
                with T.SimtVF(threads=half):
                    for r in T.Parallel(half):
                        for c in T.serial(d):
                            out[r, c] = out[r, c] / mass[r]
                T.dual_copy(out, O)

        return attention

    return build


def image_columns():
    """A 3 x 3 convolution: a Vector launch writes the columns, a Cube launch multiplies."""
    height, width, channels, filters = 8, 8, 4, 16
    depth = 48

    @T.prim_func
    def image_columns(
        X: T.Tensor((height + 2, width + 2, channels), T.float16),
        W: T.Tensor((filters, depth), T.float16),
        Columns: T.Tensor((height * width, depth), T.float16),
        Y: T.Tensor((height * width, filters), T.float32),
    ):
        with T.Kernel(2) as block:
            x = T.alloc_shared((height + 2, (width + 2) * channels + 8), T.float16)
            columns = T.alloc_shared((height * width // 2, depth), T.float16)
            T.copy(
                X[0 : height + 2, 0 : width + 2, 0:channels],
                T.view(x, (height + 2, 12, channels))[0 : height + 2, 0 : width + 2, 0:channels],
            )
            with T.SimtVF(threads=32):
                p = T.get_thread_binding()
                for i in T.serial(depth):
                    if i < 9 * channels:
                        row = (block * 32 + p) // width + i // channels // 3
                        column = (block * 32 + p) % width + i // channels % 3
                        columns[p, i] = x[row, column * channels + i % channels]
                    else:
                        columns[p, i] = T.cast(0.0, "float16")
            T.copy(columns, Columns[block * 32, 0])
        with T.Kernel(1):
            a = T.alloc_l1((height * width, depth), T.float16)
            w = T.alloc_l1((filters, depth), T.float16)
            acc = T.alloc_l0c((height * width, filters), T.float32)
            T.copy(Columns, a)
            T.copy(W, w)
            T.gemm(a, w, acc, transpose_B=True, clear_accum=True)
            T.copy(acc, Y)

    return image_columns


def whole_sum():
    """Every block stores its sum, and once all have, block 0 adds them up."""

    @T.prim_func
    def whole_sum(
        X: T.Tensor((4, 64), T.float32),
        Part: T.Tensor((4, 8), T.float32),
        Y: T.Tensor((8,), T.float32),
    ):
        with T.Kernel(4) as block:
            x = T.alloc_shared((64,), T.float32)
            part = T.alloc_shared((8,), T.float32)
            parts = T.alloc_shared((4, 8), T.float32)
            y = T.alloc_shared((8,), T.float32)
            T.copy(X[block, 0:64], x)
            with T.SimtVF(threads=8):
                t = T.get_thread_binding()
                total = T.alloc_var("float32")
                total = 0.0
                for i in T.serial(8):
                    total = total + x[i * 8 + t]
                part[t] = total
            T.copy(part, Part[block, 0:8])
            T.ascend_sync_inter_arrive("PIPE_MTE3", 0)
            T.ascend_sync_inter_wait("PIPE_MTE2", 0)
            if block == 0:
                T.copy(Part, parts)
                with T.SimtVF(threads=8):
                    t = T.get_thread_binding()
                    total = T.alloc_var("float32")
                    total = 0.0
                    for i in T.serial(4):
                        total = total + parts[i, t]
                    y[t] = total
                T.copy(y, Y)

    return whole_sum


def normed_product():
    """Rows are normed on the Vector cores, go to L1 and are multiplied there."""

    @T.prim_func
    def normed_product(
        X: T.Tensor((32, 64), T.float32),
        W: T.Tensor((32, 64), T.bfloat16),
        Y: T.Tensor((32, 32), T.float32),
    ):
        with T.Kernel(1):
            x = T.alloc_shared((16, 64), T.float32)
            normed = T.alloc_shared((16, 64), T.bfloat16)
            a = T.alloc_l1((32, 64), T.bfloat16)
            w = T.alloc_l1((32, 64), T.bfloat16)
            acc = T.alloc_l0c((32, 32), T.float32)
            T.copy(W, w)
            T.dual_copy(X, x)
            with T.SimtVF(threads=64):
                square = T.alloc_fragment((16, 64), T.float32)
                mass = T.alloc_fragment((16,), T.float32)
                for r, c in T.Parallel(16, 64):
                    square[r, c] = x[r, c] * x[r, c]
                T.reduce_sum(square, mass, dim=1)
                for r, c in T.Parallel(16, 64):
                    normed[r, c] = T.cast(x[r, c] * T.rsqrt(mass[r] / 64.0 + 1e-6), "bfloat16")
            T.dual_copy(normed, a)
            T.gemm(a, w, acc, transpose_B=True, clear_accum=True)
            T.copy(acc, Y)

    return normed_product


def taking_turns():
    """Tiles are taken in turn until none is left, as a persistent kernel does."""
    m = T.dynamic("m")

    @T.prim_func
    def taking_turns(X: T.Tensor((m, 64), T.float32), Y: T.Tensor((m, 64), T.float32)):
        with T.Kernel(3) as block:
            x = T.alloc_shared((4, 64), T.float32)
            tile = T.alloc_var("int32")
            tile = block
            while tile < T.ceildiv(m, 4):
                T.copy(X[tile * 4, 0], x)
                with T.SimtVF(threads=64):
                    for r in T.serial(4):
                        for c in T.Parallel(64):
                            if tile * 4 + r < m:
                                x[r, c] = T.max(x[r, c], 0.0) - T.cast(tile, "float32")
                T.copy(x, Y[tile * 4, 0])
                tile += 3

    return taking_turns


def attended(window: int):
    def reference(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> dict[str, np.ndarray]:
        q, k, v = (x.astype(np.float64) for x in (Q, K, V))
        scores = q @ k.T / np.sqrt(q.shape[1])
        key = np.arange(k.shape[0])
        scores[:, key < window * (key // 32)] = -np.inf
        weights = np.exp(scores - scores.max(1, keepdims=True))
        return {"O": (weights @ v / weights.sum(1, keepdims=True)).astype(np.float32)}

    return reference


def convolved(X: np.ndarray, W: np.ndarray) -> dict[str, np.ndarray]:
    columns = np.zeros((64, 48), np.float16)
    for p in range(64):
        columns[p, :36] = X[p // 8 : p // 8 + 3, p % 8 : p % 8 + 3].reshape(-1)
    return {"Columns": columns, "Y": columns.astype(np.float32) @ W.astype(np.float32).T}


def summed(X: np.ndarray) -> dict[str, np.ndarray]:
    part = X.reshape(4, 8, 8).sum(1)
    return {"Part": part, "Y": part.sum(0)}


def multiplied(X: np.ndarray, W: np.ndarray) -> dict[str, np.ndarray]:
    normed = X / np.sqrt((X.astype(np.float64) ** 2).mean(1, keepdims=True) + 1e-6)
    return {"Y": normed.astype(BF16).astype(np.float32) @ W.astype(np.float32).T}


def turns(X: np.ndarray) -> dict[str, np.ndarray]:
    tile = (np.arange(X.shape[0]) // 4).astype(np.float32)
    return {"Y": np.maximum(X, 0) - tile[:, None]}


def attention_inputs(rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {n: normal(rng, (r, 32), BF16) for n, r in (("Q", 32), ("K", 128), ("V", 128))}


def small_integers(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(-4, 5, shape).astype(np.float32)


MIXED = (
    *(
        Workload(
            f"attention_{window}",
            attention(window),
            attention_inputs,
            attended(window),
            {"O": WEIGHTS},
        )
        for window in (0, 36)
    ),
    Workload(
        "image_columns",
        image_columns,
        lambda rng: {
            "X": np.pad(small_integers(rng, 8, 8, 4), ((1, 1), (1, 1), (0, 0))).astype(np.float16),
            "W": small_integers(rng, 16, 48).astype(np.float16),
        },
        convolved,
        {"Columns": EXACT, "Y": EXACT},
    ),
    Workload(
        "whole_sum",
        whole_sum,
        lambda rng: {"X": small_integers(rng, 4, 64)},
        summed,
        {"Part": EXACT, "Y": EXACT},
    ),
    Workload(
        "normed_product",
        normed_product,
        lambda rng: {"X": normal(rng, (32, 64)), "W": normal(rng, (32, 64), BF16)},
        multiplied,
        {"Y": Tolerance(2e-2, 5e-2, "a normed value next to a rounding boundary of bf16")},
    ),
    Workload(
        "taking_turns",
        taking_turns,
        lambda rng, m=21: {"X": small_integers(rng, m, 64)},
        turns,
        {"Y": EXACT},
    ),
)
