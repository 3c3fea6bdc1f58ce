"""What tasks share besides buffers: mode registers, the GEMM template's L0, flags and locks.

No postponed annotations: see ``examples``.
"""

import pytest
import tilelang.ascend.language as T

from tests.analysis.edges import rows

SIDE = 32
WIDTH = 64
L0A, L0B = "L0A of templates", "L0B of templates"


def products(
    first: int = WIDTH, second: int = WIDTH, columns: int = SIDE, by_hand: str = "", turns: int = 1
):
    """Two products from L1, after four loads: inner lengths ``first`` and ``second``.

    columns: of the second. by_hand: "both" or "second", which then go through L0A and L0B buffers
    of the kernel's own.
    """

    @T.prim_func
    def products(
        A: T.Tensor((SIDE, first), T.bfloat16),
        B: T.Tensor((SIDE, first), T.bfloat16),
        D: T.Tensor((SIDE, second), T.bfloat16),
        E: T.Tensor((columns, second), T.bfloat16),
        C: T.Tensor((SIDE, SIDE), T.float32),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((SIDE, first), T.bfloat16)
            b = T.alloc_l1((SIDE, first), T.bfloat16)
            d = T.alloc_l1((SIDE, second), T.bfloat16)
            e = T.alloc_l1((columns, second), T.bfloat16)
            a0 = T.alloc_l0a((SIDE, first), T.bfloat16)
            b0 = T.alloc_l0b((SIDE, first), T.bfloat16)
            d0 = T.alloc_l0a((SIDE, second), T.bfloat16)
            e0 = T.alloc_l0b((columns, second), T.bfloat16)
            c = T.alloc_l0c((SIDE, SIDE), T.float32)
            f = T.alloc_l0c((SIDE, columns), T.float32)
            T.copy(A, a)
            T.copy(B, b)
            T.copy(D, d)
            T.copy(E, e)
            for _ in T.serial(turns):
                if by_hand == "both":
                    T.copy(a, a0)
                    T.copy(b, b0)
                    T.gemm(a0, b0, c, transpose_B=True, clear_accum=True)
                else:
                    T.gemm(a, b, c, transpose_B=True, clear_accum=True)
                if by_hand:
                    T.copy(d, d0)
                    T.copy(e, e0)
                    T.gemm(d0, e0, f, transpose_B=True, clear_accum=True)
                else:
                    T.gemm(d, e, f, transpose_B=True, clear_accum=True)
            T.copy(c, C)

    return products


def both(source: int, target: int, kind: str, distance: int) -> set:
    return {(source, target, kind, state, distance) for state in (L0A, L0B)}


TEMPLATES = {
    "equal pieces": ({}, set()),
    "equal pieces of another number": ({"first": 2048, "second": 4096}, set()),
    "pieces of other lengths": ({"second": 128}, both(0, 1, "WAW", 0) | both(1, 0, "WAW", 1)),
    "pieces of other widths": (
        {"columns": 64},
        {(0, 1, "WAW", L0B, 0), (1, 0, "WAW", L0B, 1)},
    ),
    "L0 buffers beside a template": (
        {"by_hand": "second"},
        {(0, 1, "RAW", L0A, 0), (0, 2, "RAW", L0B, 0), (1, 0, "WAR", L0A, 1)}
        | {(2, 0, "WAR", L0B, 1)}
        | both(0, 3, "RAW", 0)
        | both(3, 0, "WAR", 1),
    ),
    "L0 buffers alone": ({"by_hand": "both"}, set()),
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_products_share_the_bytes_of_l0(name: str) -> None:
    sizes, expected = TEMPLATES[name]
    found = rows(products(turns=3, **sizes), "_")
    assert {row for row in found if row[3] in (L0A, L0B)} == expected


def pointed_at():
    """A template's product, then a function that is given the pointer of an L0A buffer."""

    @T.prim_func
    def pointed_at(
        A: T.Tensor((SIDE, WIDTH), T.bfloat16),
        B: T.Tensor((SIDE, WIDTH), T.bfloat16),
        C: T.Tensor((SIDE, SIDE), T.float32),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((SIDE, WIDTH), T.bfloat16)
            b = T.alloc_l1((SIDE, WIDTH), T.bfloat16)
            a0 = T.alloc_l0a((SIDE, WIDTH), T.bfloat16)
            c = T.alloc_l0c((SIDE, SIDE), T.float32)
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, c, transpose_B=True, clear_accum=True)
            T.call_extern("handle", "touch", a0.data)
            T.copy(c, C)

    return pointed_at


def test_a_pointer_into_l0_reaches_the_bytes_of_the_template() -> None:
    assert rows(pointed_at(), storage=L0A) == {(2, 3, "RAW", L0A, 0)}


def scaled(by_hand: bool):
    """A block-scaled product, then new scales in L1 (unit 5) or in those of L0A."""

    @T.prim_func
    def scaled(
        A: T.Tensor((SIDE, 128), T.float8_e4m3fn),
        B: T.Tensor((SIDE, 128), T.float8_e4m3fn),
        Scale: T.Tensor((SIDE, 2), T.int16),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((SIDE, 128), T.float8_e4m3fn)
            b = T.alloc_l1((SIDE, 128), T.float8_e4m3fn)
            scale_a = T.alloc_l1((SIDE, 2), T.int16)
            scale_b = T.alloc_l1((SIDE, 2), T.int16)
            other = T.alloc_l1((SIDE, 2), T.int16)
            a0 = T.alloc_l0a((SIDE, 128), T.float8_e4m3fn)
            slot = T.alloc_l0a_sf(a0, T.int16)
            c = T.alloc_l0c((SIDE, SIDE), T.float32)
            T.copy(A, a)
            T.copy(B, b)
            T.copy(Scale, scale_a)
            T.copy(Scale, scale_b)
            T.gemm_blockscaled(a, b, c, scale_a, scale_b, transpose_B=True, clear_accum=True)
            T.copy(Scale, other)
            if by_hand:
                T.copy(other, slot)

    return scaled


@pytest.mark.parametrize("by_hand", [False, True])
def test_scales_in_l0_are_those_of_the_template_too(by_hand: bool) -> None:
    found = rows(scaled(by_hand), storage=L0A)
    assert found == ({(4, 6, "RAW", L0A, 0)} if by_hand else set())


def locked(lock: bool, product: bool):
    """A lock of the kernel's own around a load, before a product of the template."""

    @T.prim_func
    def locked(
        A: T.Tensor((SIDE, SIDE), T.bfloat16),
        B: T.Tensor((SIDE, SIDE), T.bfloat16),
        X: T.Tensor((SIDE, SIDE), T.bfloat16),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            b = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            x = T.alloc_l1((SIDE, SIDE), T.bfloat16)
            c = T.alloc_l0c((SIDE, SIDE), T.float32)
            T.copy(A, a)
            T.copy(B, b)
            if lock:
                T.ascend_get_buf("PIPE_MTE2", 0)
            T.copy(X, x)
            if lock:
                T.ascend_rls_buf("PIPE_MTE2", 0)
            if product:
                T.gemm(a, b, c, transpose_B=True, clear_accum=True)
            else:
                T.clear(c)

    return locked


@pytest.mark.parametrize(
    ("lock", "product", "edges"), [(True, True, 1), (True, False, 0), (False, True, 0)]
)
def test_the_template_takes_locks_too(lock: bool, product: bool, edges: int) -> None:
    assert len(rows(locked(lock, product), storage="locks")) == edges


def moded(first, second, padding: bool = False):
    """Two loads (units 0, 1), ``first``, a product, a store, a padded load, a store, ``second``."""

    @T.prim_func
    def moded(
        A: T.Tensor((SIDE, SIDE), T.float32),
        X: T.Tensor((SIDE, 30), T.float32),
        C: T.Tensor((SIDE, SIDE), T.float32),
        Y: T.Tensor((SIDE, 30), T.float32),
    ):
        with T.Kernel(1):
            a = T.alloc_l1((SIDE, SIDE), T.float32)
            b = T.alloc_l1((SIDE, SIDE), T.float32)
            c = T.alloc_l0c((SIDE, SIDE), T.float32)
            x = T.alloc_shared((SIDE, SIDE), T.float32)
            T.copy(A, a)
            T.copy(A, b)
            T.evaluate(first())
            T.gemm(a, b, c, transpose_B=True, clear_accum=True)
            T.copy(c, C)
            T.copy(X[0:SIDE, 0:30], x[0:SIDE, 0:30], data_select=padding)
            T.copy(x[0:SIDE, 0:30], Y[0:SIDE, 0:30])
            T.evaluate(second())

    return moded


def pad(value: float):
    return lambda: T.ascend_set_copy_pad_value(value, dtype="float32")


def nearest():
    return T.set_hf32_mode("nearest_even")


def along_n():
    return T.set_mmad_direction("n")


def along_m():
    return T.set_mmad_direction("m")


PRODUCT, STORE, LOAD, LAST = 3, 4, 5, 6
MODES = {
    "hf32": (nearest, T.set_hf32_mode, False, "hf32 mode", {PRODUCT}),
    "direction": (along_n, along_m, False, "mmad direction", {PRODUCT}),
    "atomic": (T.set_atomic, T.set_atomic_none, False, "atomic mode", {STORE, LAST}),
    "pad value of a padded load": (pad(1.0), pad(2.0), True, "pad value", {LOAD}),
    "pad value of a plain load": (pad(1.0), pad(2.0), False, "pad value", set()),
    "two modes": (nearest, along_m, False, "hf32 mode", {PRODUCT}),
}


@pytest.mark.parametrize("name", MODES)
def test_a_mode_is_set_before_its_users_and_changed_behind_them(name: str) -> None:
    first, second, padding, mode, users = MODES[name]
    expected = {(2, user, "RAW", mode, 0) for user in users}
    if name != "two modes":
        expected |= {(user, 7, "WAR", mode, 0) for user in users} | {(2, 7, "WAW", mode, 0)}
    found = rows(moded(first, second, padding))
    assert {row for row in found if row[3] == mode} == expected
