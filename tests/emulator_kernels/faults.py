"""Correct kernels out of which TileLang generates text that is wrong or that no device has a
meaning for, with the trace it leaves.

No postponed annotations: see ``examples``.
"""

import ml_dtypes
import numpy as np
import tilelang.ascend.language as T

from examples import EXACT, Workload

SIDE = 32


def steps_of_one_body():
    """The second loop of a SIMD body reads what the first has stored; no barrier is put between."""

    @T.prim_func
    def steps_of_one_body(X: T.Tensor((2, 64), T.float32), Y: T.Tensor((2, 64), T.float32)):
        with T.Kernel(1):
            x = T.alloc_shared((2, 64), T.float32)
            y = T.alloc_shared((2, 64), T.float32)
            T.copy(X, x)
            with T.SimdVF():
                for r, c in T.Parallel(2, 64):
                    x[r, c] = x[r, c] * 2.0
                for r, c in T.Parallel(2, 64):
                    y[r, c] = x[r, c] + 1.0
            T.copy(y, Y)

    return steps_of_one_body


def stored_as(dtype: str):
    """Sums in float32 are stored as another type; nothing sets the scale of the conversion, and
    to some types there is none."""

    def build():
        @T.prim_func
        def stored_as(
            A: T.Tensor((SIDE, SIDE), T.bfloat16),
            B: T.Tensor((SIDE, SIDE), T.bfloat16),
            C: T.Tensor((SIDE, SIDE), dtype),
        ):
            with T.Kernel(1):
                a = T.alloc_l1((SIDE, SIDE), T.bfloat16)
                b = T.alloc_l1((SIDE, SIDE), T.bfloat16)
                acc = T.alloc_l0c((SIDE, SIDE), T.float32)
                T.copy(A, a)
                T.copy(B, b)
                T.gemm(a, b, acc, transpose_B=True, clear_accum=True)
                T.copy(acc, C)

        return stored_as

    return build


def bits_in_common():
    """A fold by "and" over several threads, for which the device templates have no operator."""

    @T.prim_func
    def bits_in_common(X: T.Tensor((8, 32), T.int32), Y: T.Tensor((8,), T.int32)):
        with T.Kernel(1):
            x = T.alloc_shared((8, 32), T.int32)
            y = T.alloc_shared((8,), T.int32)
            T.copy(X, x)
            with T.SimtVF(threads=32):
                part = T.alloc_fragment((8, 32), T.int32)
                total = T.alloc_fragment((8,), T.int32)
                for r, c in T.Parallel(8, 32):
                    part[r, c] = x[r, c]
                T.reduce_bitand(part, total, dim=1)
                for i in T.Parallel(8):
                    y[i] = total[i]
            T.copy(y, Y)

    return bits_in_common


def halves_to_integers():
    """float16 to int32, two values a thread: the pair is reinterpreted instead of converted."""

    @T.prim_func
    def halves_to_integers(X: T.Tensor((4, 128), T.float16), Y: T.Tensor((4, 128), T.int32)):
        with T.Kernel(1):
            x = T.alloc_shared((4, 128), T.float16)
            y = T.alloc_shared((4, 128), T.int32)
            T.copy(X, x)
            with T.SimtVF(threads=64):
                for r, c in T.Parallel(4, 128):
                    y[r, c] = T.cast(x[r, c], "int32")
            T.copy(y, Y)

    return halves_to_integers


def _product(dtype: str) -> Workload:
    wanted = np.dtype(getattr(ml_dtypes, dtype, dtype))
    return Workload(
        f"stored_as_{dtype}",
        stored_as(dtype),
        lambda rng: {
            n: rng.integers(-2, 3, (SIDE, SIDE)).astype(ml_dtypes.bfloat16) for n in ("A", "B")
        },
        lambda A, B: {"C": (A.astype(np.float32) @ B.astype(np.float32).T).astype(wanted)},
        {"C": EXACT},
    )


FAULTS: dict[str, tuple[Workload, str]] = {
    workload.name: (workload, trace)
    for workload, trace in (
        (
            Workload(
                "steps_of_one_body",
                steps_of_one_body,
                lambda rng: {"X": rng.standard_normal((2, 64), np.float32)},
                lambda X: {"Y": 2 * X + 1},
                {"Y": EXACT},
            ),
            "race-simd: the load at line",
        ),
        (_product("int8"), "blind-spot: asc_copy_l0c2gm: quant_pre 9 (REQ8"),
        (_product("int16"), "blind-spot: asc_copy_l0c2gm: quant_pre 28 (DEQS16"),
        (_product("float8_e4m3fn"), "error: asc_copy_l0c2gm: quant_pre 0 converts nothing"),
    )
}
"""They run, with the values that were meant, or end with an error."""

NO_TEXT: dict[str, tuple[Workload, str]] = {
    workload.name: (workload, message)
    for workload, message in (
        (
            Workload(
                "bits_in_common",
                bits_in_common,
                lambda rng: {"X": rng.integers(0, 2**31, (8, 32)).astype(np.int32)},
                lambda X: {"Y": np.bitwise_and.reduce(X, axis=1)},
                {"Y": EXACT},
            ),
            "`BitAndOp` is not modelled",
        ),
        (
            Workload(
                "halves_to_integers",
                halves_to_integers,
                lambda rng: {"X": rng.integers(-99, 100, (4, 128)).astype(np.float16)},
                lambda X: {"Y": X.astype(np.int32)},
                {"Y": EXACT},
            ),
            "cannot convert",
        ),
    )
}
"""No compiler takes the text."""
