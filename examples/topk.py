"""Top-k of a router: the ``k`` largest scores of each token in falling order, and their places."""

import numpy as np
import tilelang.ascend.language as T

WARP = 32
LOWEST = float(np.finfo(np.float32).min)


def topk(
    tokens: int = 4096,
    experts: int = 256,
    k: int = 8,
    tile: int = 64,
    threads: int = 512,
    blocks: int = 8,
):
    """A warp takes a token: k times the maximum of what is left, the lowest place among equals.

    Every lane looks after ``experts / 32`` scores and keeps a bit for each one already taken.
    """
    share = tokens // blocks
    warps = threads // WARP
    per_lane = experts // WARP

    @T.prim_func
    def topk(
        X: T.Tensor((tokens, experts), T.float32),
        Value: T.Tensor((tokens, k), T.float32),
        Index: T.Tensor((tokens, k), T.int32),
    ):
        with T.Kernel(blocks) as block:
            x = T.alloc_shared((tile, experts), T.float32)
            value = T.alloc_shared((tile, k), T.float32)
            index = T.alloc_shared((tile, k), T.int32)
            for step in T.Pipelined(share // tile, num_stages=2):
                row = block * share + step * tile
                T.copy(X[row, 0], x)
                with T.SimtVF(threads=threads):
                    thread = T.get_thread_binding()
                    lane = thread % WARP
                    best = T.alloc_var(T.float32)
                    place = T.alloc_var(T.int32)
                    top = T.alloc_var(T.float32)
                    taken = T.alloc_var(T.int32)
                    for s in T.serial(tile // warps):
                        r = s * warps + thread // WARP
                        taken = 0
                        for t in T.serial(k):
                            best = T.float32(LOWEST)
                            place = experts
                            for p in T.serial(per_lane):
                                free = T.bitwise_and(T.shift_right(taken, p), 1) == 0
                                if free and x[r, p * WARP + lane] > best:
                                    best = x[r, p * WARP + lane]
                                    place = p * WARP + lane
                            top = T.warp_reduce_max(best)
                            if best < top:
                                place = experts
                            place = T.warp_reduce_min(place)
                            if place % WARP == lane:
                                taken = T.bitwise_or(taken, T.shift_left(1, place // WARP))
                            if lane == 0:
                                value[r, t] = top
                                index[r, t] = place
                T.copy(value, Value[row, 0])
                T.copy(index, Index[row, 0])

    return topk


TINY = {"tokens": 32, "experts": 64, "k": 8, "tile": 8, "threads": 128, "blocks": 2}


def inputs(
    rng: np.random.Generator, tokens: int = 4096, experts: int = 256, **_: int
) -> dict[str, np.ndarray]:
    """Standard normal scores in steps of 1/8, so that many are equal."""
    scores = rng.standard_normal((tokens, experts), np.float32)
    return {"X": np.round(scores * 8) / 8}


def reference(X: np.ndarray, k: int = 8) -> dict[str, np.ndarray]:
    """A stable sort by falling score."""
    index = np.argsort(-X, axis=1, kind="stable")[:, :k]
    return {"Value": np.take_along_axis(X, index, 1), "Index": index.astype(np.int32)}


TOLERANCES = {
    "Value": {"rtol": 0.0, "atol": 0.0, "why": "scores are copied"},
    "Index": {"rtol": 0.0, "atol": 0.0, "why": "places are integers, ties are settled"},
}
