"""What is hard to follow in an instruction is bounded, not given up; what is unknown is named.

No postponed annotations: see ``examples``.
"""

import pytest
import tilelang.ascend.language as T
from tvm import tirx
from tvm.tirx import Stmt, Var
from tvm.tirx import floormod as mod

from tests.verify.device import (
    Y,
    again,
    barrier,
    cross_set,
    cross_wait,
    either,
    handshake,
    kernel,
    load,
    loop,
    multiply,
    number,
    opaque,
    packed,
    placed,
    seq,
    set_flag,
    store,
    wait_flag,
    write,
)
from tests.verify.lowered import device, stock
from tests.verify.mutate import mutants
from tilelang_ascend_sched.verify import NOT_PROVEN, PROVEN, REFUSED, VerifyReport, verify

N = Var("n", "int32")


def gather():
    """Reads and writes at addresses in vector registers."""

    @T.prim_func
    def gather(
        X: T.Tensor((4, 64), "float32"),
        I: T.Tensor((4, 64), "uint32"),  # noqa: E741
        Y: T.Tensor((4, 64), "float32"),
        Z: T.Tensor((4, 64), "float32"),
    ):
        with T.Kernel(1):
            x = T.alloc_shared((64,), "float32")
            places = T.alloc_shared((64,), "uint32")
            y = T.alloc_shared((64,), "float32")
            z = T.alloc_shared((64,), "float32")
            for i in T.serial(4):
                T.copy(X[i, 0:64], x)
                T.copy(I[i, 0:64], places)
                with T.SimdVF():
                    index = T.simd.vld(places[0])
                    value = T.simd.vgather2(x[0], index)
                    T.simd.vsts(y[0], value)
                    T.simd.vscatter(value, z[0], index)
                T.copy(y, Y[i, 0:64])
                T.copy(z, Z[i, 0:64])

    return gather


def moving_pointer():
    """Blocks of 32 bytes stored through a pointer that moves along."""

    @T.prim_func
    def moving_pointer(X: T.Tensor((4, 1024), "bfloat16"), Y: T.Tensor((4, 1024), "bfloat16")):
        with T.Kernel(1):
            x = T.alloc_shared((1024,), "bfloat16")
            y = T.alloc_shared((1024,), "bfloat16")
            for i in T.serial(4):
                T.copy(X[i, 0:1024], x)
                with T.SimdVF():
                    to = T.simd.make_ubuf_ptr(y[0], "bfloat16")
                    for r in T.serial(8):
                        to = T.simd.vsstb(T.simd.vld(x[r * 128]), to, 1, update=True)
                T.copy(y, Y[i, 0:1024])

    return moving_pointer


@pytest.mark.parametrize("build", [gather, moving_pointer])
def test_vector_addresses_stay_in_their_buffer(build):
    lowered = stock(build)
    report = lowered.check()
    assert report.verdict == PROVEN, str(report)
    assert any("stay inside their buffers" in text for text in report.assumptions)
    for mutant in mutants(lowered.device):
        if mutant.what == "delete":
            report = lowered.check(mutant.func)
            assert report.verdict == REFUSED, f"{mutant}\n{report}"


def test_flags_between_blocks():
    func = device("between_blocks")
    report = verify(func)
    assert report.verdict == PROVEN, str(report)
    assert any("flags between blocks" in text for text in report.assumptions)
    for mutant in mutants(func):
        if mutant.what == "delete":
            assert verify(mutant.func).verdict == REFUSED, str(mutant)


def test_what_blocks_exchange_without_flags():
    """One block alone does not tell which of another one's accesses come first."""
    func = device("between_blocks")
    for _ in ("set", "wait"):
        func = next(
            mutant.func
            for mutant in mutants(func)
            if mutant.what == "delete" and "cross_core" in mutant.statement
        )
    assert verify(func).verdict == NOT_PROVEN


@pytest.mark.parametrize("mode", [0, 1])
def test_flags_of_one_kind_of_core(mode):
    """The core itself waits for its own store by way of the others."""

    def through_gm(*between):
        return kernel(store(0, 0), *between, load(1, 0, tensor=Y))

    sets, waits = cross_set(mode, "PIPE_MTE3", 0), cross_wait(mode, "PIPE_MTE2", 0)
    assert verify(through_gm(sets, waits)).verdict == PROVEN
    assert verify(through_gm(sets)).verdict == REFUSED
    assert verify(through_gm(waits)).verdict == REFUSED
    assert verify(through_gm()).verdict == REFUSED


@pytest.mark.parametrize("turns", [3, N])
def test_what_the_scalar_unit_has_waited_for_is_over(turns):
    """A flag may be set again after such a wait; what the unit wrote may still be under way."""
    scalars = () if isinstance(turns, int) else (N,)
    again = kernel(loop(turns, lambda _: handshake("MTE2_S", 0)), scalars=scalars)
    assert verify(again).verdict == PROVEN
    sets, waits = set_flag("MTE2_S", 0), wait_flag("MTE2_S", 0)
    assert verify(kernel(sets, sets, waits, waits)).verdict == REFUSED
    written = loop(turns, lambda _: seq(write(0), sets, waits))
    assert verify(kernel(written, store(0, 0), scalars=scalars)).verdict == REFUSED
    ordered = seq(handshake("S_MTE3", 0), store(0, 0))
    assert verify(kernel(written, ordered, scalars=scalars)).verdict == PROVEN


def test_unknown_mode_and_function_are_named():
    report = verify(kernel(load(0, 0), cross_set(3, "PIPE_MTE3", 0)))
    assert report.verdict == NOT_PROVEN
    assert "another mode" in str(report)
    report = verify(kernel(load(0, 0), opaque("user_function")))
    assert report.verdict == NOT_PROVEN
    assert "user_function" in str(report)


@pytest.mark.parametrize("end", [[], [again()]], ids=["", "continue"])
def test_a_loop_reads_its_length_after_every_turn(end):
    """It is in bytes that the loop itself gives to another buffer."""

    def loaded_over(place: int) -> VerifyReport:
        length = number(0, 0)

        def loops(which: int) -> Stmt:
            body = placed(1, place, load_from=1)[which], barrier("PIPE_ALL"), *end
            return loop(length[which], lambda _: seq(*body))

        ready = handshake("MTE2_S", 0)
        func, unpacked = packed(
            placed(0, 0, load_from=0), (ready, ready), (loops(0), loops(1)),
            placed(1, place, store_to=0),
        )  # fmt: skip
        return verify(func, unpacked=unpacked)

    assert loaded_over(1).verdict == PROVEN, str(loaded_over(1))
    report = loaded_over(0)
    assert report.verdict != PROVEN
    assert "shared bytes" in {finding.kind for finding in report.findings}, str(report)


I64 = Var("wide", "int64")
ODD = {
    "nothing": kernel(tirx.Evaluate(0)),
    "no turns": kernel(loop(0, lambda i: load(i, i))),
    "fewer than no turns": kernel(loop(-3, lambda i: load(i, i))),
    "int64": kernel(
        loop(tirx.IntImm("int64", 3), lambda i: seq(load(0, i), handshake("MTE2_V", 0))),
    ),
    "downwards": kernel(
        loop(9, lambda i: seq(load(8 - i, 8 - i), handshake("MTE2_V", 0), handshake("V_MTE2", 0)))
    ),
    "empty branches": kernel(either(N > 3, tirx.Evaluate(0), tirx.Evaluate(0)), scalars=(N,)),
    "symbols everywhere": kernel(
        loop(N, lambda i: seq(load(mod(i * N, 4), i * N), handshake("MTE2_V", mod(i, 2)))),
        scalars=(N,),
    ),
    "unknown id": kernel(set_flag("MTE2_V", N), wait_flag("MTE2_V", N), scalars=(N,)),
    "division by an input": kernel(load(0, tirx.floordiv(N, N)), scalars=(N,)),
    "division by zero": kernel(load(0, tirx.floordiv(N, N - N)), scalars=(N,)),
}
RIGHT = {
    "nothing",
    "no turns",
    "fewer than no turns",
    "downwards",
    "empty branches",
    "division by an input",
    "division by zero",
}


@pytest.mark.parametrize("name", list(ODD))
def test_odd_code_has_a_verdict(name):
    """Never a crash, and proven only where it is right."""
    report = verify(ODD[name])
    assert (report.verdict == PROVEN) == (name in RIGHT), str(report)
    assert report.verdict == PROVEN or report.findings


def accumulator_to_ub(stored: bool):
    """Nothing for the AIVs to do, unless the product is stored from there."""

    def build():
        @T.prim_func
        def accumulator_to_ub(
            A: T.Tensor((64, 64), "bfloat16"),
            B: T.Tensor((64, 64), "bfloat16"),
            C: T.Tensor((64, 64), "float32"),
        ):
            with T.Kernel(1):
                a = T.alloc_l1((64, 64), "bfloat16")
                b = T.alloc_l1((64, 64), "bfloat16")
                product = T.alloc_l0c((64, 64), "float32")
                rows = T.alloc_shared((64, 64), "float32")
                T.copy(A, a)
                T.copy(B, b)
                T.gemm(a, b, product, transpose_B=True, clear_accum=True)
                T.copy(product, rows)
                if stored:
                    T.copy(rows, C)

        return accumulator_to_ub

    return build


def test_copy_to_a_core_that_the_kernel_has_not():
    report = stock(accumulator_to_ub(False)).check()
    assert report.verdict == REFUSED, str(report)
    (finding,) = report.findings
    assert finding.kind == "no core"
    assert "no code for AIVs" in finding.message
    assert "no core" not in {f.kind for f in stock(accumulator_to_ub(True)).check().findings}


def test_ub_on_the_cube_core():
    """A kernel without a schedule that multiplies runs on the Cube alone, stores from UB too."""
    report = verify(kernel(multiply(), barrier("PIPE_ALL"), store(0, 0)))
    assert report.verdict == REFUSED, str(report)
    assert [finding.kind for finding in report.findings] == ["no core"]
    assert verify(kernel(multiply())).verdict == PROVEN
    assert verify(kernel(store(0, 0))).verdict == PROVEN
