"""Arguments, bad input and the compiled kernels' cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import torch

from examples import WORKLOADS
from tests.emulator.asc import HEADER, handshake, load, run, store, vector_kernel
from tilelang_ascend_sched.emulator import CompileError, Settings, build, emulate, source

ADD = WORKLOADS["dynamic_add"]
SIZES = {"n": 64, "rows": 8, "blocks": 2}


def dynamic(m: int) -> dict[str, np.ndarray]:
    return ADD.inputs(np.random.default_rng(0), m=m, **SIZES)


@pytest.mark.parametrize("m", [0, 1, 7, 16, 37])
def test_symbolic_rows(m):
    inputs = dynamic(m)
    z = np.zeros((m, 64), np.float32)
    result = emulate(ADD.build(**SIZES), **inputs, Z=z)
    assert result.ok
    assert ADD.mismatch("Z", z, ADD.reference(**inputs)["Z"]) is None


def test_torch_tensors_are_written_in_place():
    inputs = dynamic(9)
    x, y = (torch.from_numpy(inputs[name]) for name in ("X", "Y"))
    z = torch.zeros(9, 64)
    assert emulate(ADD.build(**SIZES), X=x, Y=y, Z=z).ok
    assert torch.equal(z, x + y)


def test_torch_bfloat16_without_numpy_dtype():
    text = vector_kernel(load("ub", "X", 128), handshake("MTE2", "MTE3"), store("ub", "Y", 128))
    text = text.replace(
        "__gm__ float* X, __gm__ float* Y", "__gm__ bfloat16_t* X, __gm__ bfloat16_t* Y"
    )
    x = torch.arange(64, dtype=torch.bfloat16)
    y = torch.zeros(64, dtype=torch.bfloat16)
    assert emulate(text, X=x, Y=y, blocks=1).ok
    assert torch.equal(x, y)


def test_strided_arrays_are_written_in_place():
    base = np.zeros((64, 2), np.float32)
    text = vector_kernel(load("ub", "X", 256), handshake("MTE2", "MTE3"), store("ub", "Y", 256))
    assert emulate(text, X=np.arange(64, dtype=np.float32), Y=base[:, 1], blocks=1).ok
    assert (base[:, 1] == np.arange(64)).all() and not base[:, 0].any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Z": None}, "missing Z"),
        ({"W": np.zeros(3)}, "unknown W; the kernel has X, Y, Z"),
        ({"X": np.zeros((9, 64))}, "argument X: dtype float64 where float32 is needed"),
        ({"X": np.zeros((9, 65), np.float32)}, r"argument X: shape \(9, 65\) where \(9, 64\)"),
        ({"Y": np.zeros((8, 64), np.float32)}, r"argument Y: shape \(8, 64\) where \(9, 64\)"),
        ({"X": [1, 2]}, "argument X: expected a numpy array or torch tensor, got list"),
        ({"X": np.broadcast_to(np.float32(0), (9, 64))}, "argument X: the array is read-only"),
    ],
)
def test_wrong_arguments(change, message):
    arguments = {**dynamic(9), "Z": np.zeros((9, 64), np.float32), **change}
    arguments = {name: value for name, value in arguments.items() if value is not None}
    with pytest.raises(ValueError, match=message):
        emulate(ADD.build(**SIZES), **arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"policy": "greedy"},
            "unknown policy 'greedy': choose from eager, lazy, random, starve:S",
        ),
        ({"policy": "starve:X"}, "unknown policy"),
        ({"seed": -1}, "seed=-1 is not in 0"),
        ({"seed": "x"}, "seed='x' is not an integer"),
        ({"seed": 2**70}, "seed=.* is not in 0"),
        ({"settings": Settings(step_budget=0)}, "step_budget=0"),
        ({"settings": Settings(workers=-1)}, "workers=-1 is not in 0"),
        ({"settings": Settings(timeline_block=1.5)}, "timeline_block=1.5 is not an integer"),
    ],
)
def test_wrong_options(options, message):
    text = vector_kernel("asc_sync();")
    with pytest.raises(ValueError, match=message):
        run(text, **{"blocks": 1, **options})


def test_arguments_that_overlap_in_part():
    x = np.zeros(64, np.float32)
    with pytest.raises(ValueError, match="arguments X and Y overlap in part"):
        emulate(vector_kernel("asc_sync();"), X=x, Y=x[8:], blocks=1)


def test_one_array_for_two_parameters():
    copy = [load("ub", "X", 128), handshake("MTE2", "MTE3"), store("ub", "(Y + 32)", 128)]
    x = np.arange(64, dtype=np.float32)
    assert emulate(vector_kernel(*copy), X=x, Y=x, blocks=1).ok
    assert (x == np.tile(np.arange(32), 2)).all()


def test_what_a_kernel_prints():
    text = vector_kernel('debug_print_var("block", (int)block_idx);')
    printed = run(text, blocks=2)[0].printed.splitlines()
    assert sorted(printed) == [f"msg='block' BlockIdx={b}: dtype=int value={b}" for b in range(2)]


def test_the_cache_stays_bounded(empty_cache, monkeypatch):
    monkeypatch.setattr(build, "_prelude", lambda: Path("/dev/null"))
    monkeypatch.setitem(build._KEPT, "kernels", 2)
    paths = [build.kernel_library(source.read(BARE + f"// {i}\n")) for i in range(4)]
    assert [p.exists() for p in paths] == [False, True, True, True]


@pytest.mark.parametrize(
    ("blocks", "message"),
    [(None, "pass blocks="), (-1, "blocks=-1 is not in 0"), ("2", "blocks='2' is not an integer")],
)
def test_text_needs_blocks(blocks, message):
    one = np.zeros(1, np.float32)
    with pytest.raises(ValueError, match=message):
        emulate(vector_kernel(), X=one, Y=one, blocks=blocks)


def test_what_is_no_kernel():
    with pytest.raises(ValueError, match="no kernel"):
        emulate("int main() {}", blocks=1)
    with pytest.raises(ValueError, match=r"expected a prim_func.*got int"):
        emulate(5)


SCALE = vector_kernel(
    load("ub", "X", 256),
    handshake("MTE2", "V"),
    "asc_vf_call<f>(cce::dim3(64), ub, factor, shift);",
    handshake("V", "MTE3"),
    store("ub", "Y", 256),
    functions=(
        "__simt_vf__ __launch_bounds__(64) inline void f(__ubuf__ float* ub, float factor, "
        "int32_t shift) {\n  ub[threadIdx.x] = ub[threadIdx.x] * factor + shift;\n}\n"
    ),
    parameters="float factor, int32_t shift",
)


def test_scalar_arguments():
    result, y = run(SCALE, arguments={"factor": 0.5, "shift": -3})
    assert result.ok
    assert (y == np.arange(64) * 0.5 - 3).all()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1 << 31, "argument shift: 2147483648 does not fit `int32_t`"),
        (0.5, "argument shift: 0.5 does not fit"),
        ("3", "argument shift: expected a number"),
    ],
)
def test_wrong_scalars(value, message):
    with pytest.raises(ValueError, match=message):
        run(SCALE, arguments={"factor": 1.0, "shift": value})


def test_several_kernels_run_in_order():
    copy = [load("ub", "X", 256), handshake("MTE2", "MTE3"), store("ub", "Y", 256)]
    first = vector_kernel(*copy)
    second = vector_kernel(*copy).removeprefix(HEADER)
    second = second.replace(" k(", " l(").replace("X, __gm__ float* Y", "Y, __gm__ float* Z")
    second = second.replace("(X)", "(_)").replace("(Y)", "(Z)").replace("(_)", "(Y)")
    x = np.arange(64, dtype=np.float32)
    y, z = np.zeros_like(x), np.zeros_like(x)
    result = emulate(first + second, X=x, Y=y, Z=z, blocks=1)
    assert result.ok and [k.name for k in result.kernels] == ["k", "l"]
    assert (z == x).all()


def test_unknown_instruction_is_named():
    text = vector_kernel("asc_fancy_new_thing(ub, 3);")
    line = text.splitlines().index("  asc_fancy_new_thing(ub, 3);") + 1
    with pytest.raises(CompileError) as error:
        run(text)
    assert str(error.value) == (
        f"kernel.asc:{line}: `asc_fancy_new_thing` is not modelled by the emulator: "
        "asc_fancy_new_thing(ub, 3);"
    )


def test_wrong_operands_are_named():
    with pytest.raises(CompileError, match="`asc_copy_ub2l1` is not modelled with these arg"):
        run(vector_kernel("asc_copy_ub2l1(ub);"))


def test_mode_not_modelled_is_named():
    text = vector_kernel("asc_set_gm2l1_nz_para(2, 1, 16, 0);")
    (finding,) = run(text)[0].findings
    assert finding.kind == "error" and "2 matrices are not modelled" in finding.message


def test_missing_compiler(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(RuntimeError, match="no host C\\+\\+ compiler: `no-such-compiler`"):
        run(vector_kernel("asc_sync();"))


# Small enough to be compiled without the precompiled header.
BARE = """#include "emu/kernel.h"
#include "emu/sync.h"
extern "C" __global__ __vector__ void k(__gm__ float* X) {
  asc_sync();
}
"""


def test_compiled_kernels_are_kept(empty_cache, monkeypatch):
    monkeypatch.setattr(build, "_prelude", lambda: Path("/dev/null"))
    first = build.kernel_library(source.read(BARE))
    file = first.stat().st_ino
    assert build.kernel_library(source.read(BARE)) == first
    assert first.stat().st_ino == file
    assert build.kernel_library(source.read(BARE + "// another\n")) != first
    assert not [p for p in first.parent.iterdir() if p.name.startswith("build-")]


def test_two_processes_compile_at_once(empty_cache):
    """Both find no kernel, both publish the same one."""
    script = (
        "import sys; from pathlib import Path\n"
        "from tilelang_ascend_sched.emulator import build, source\n"
        "build._prelude = lambda: Path('/dev/null')\n"
        "print(build.kernel_library(source.read(sys.stdin.read())))\n"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=dict(os.environ),
        )
        for _ in range(2)
    ]
    for process in processes:
        process.stdin.write(BARE)
        process.stdin.close()
    paths = {process.stdout.read().strip().splitlines()[-1] for process in processes}
    assert [process.wait() for process in processes] == [0, 0]
    assert len(paths) == 1 and Path(paths.pop()).is_file()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("__ubuf__ float *u = (__ubuf__ float *)0;", "(__ubuf__ float *)(::emu::ub_base() + 0)"),
        ("f((__ubuf__ uint8_t*)0x40, 1);", "(__ubuf__ uint8_t *)(::emu::ub_base() + 0x40)"),
        ("f((__ubuf__ uint8_t*)(u));", "(__ubuf__ uint8_t*)(u)"),
        ("f((__cbuf__ float *)0);", "f((__cbuf__ float *)0);"),
        (
            "x = *(__ubuf__ float2*)(u + 8);",
            "*(__ubuf__ float2*)::emu::simt::whole<float2>(u + 8)",
        ),
    ],
)
def test_only_literal_addresses_of_ub_are_changed(line, expected):
    text = f'extern "C" __global__ __vector__ void k() {{\n{line}\n}}\n'
    assert expected in source.read(text).text


def test_vector_function_calls_are_issued():
    text = (
        "__simd_vf__ inline void k_simd_vf_0(__ubuf__ float* a) {\n  a;\n}\n"
        "__simd_vf__ inline void k_simd_vf_0_1() {\n}\n"
        'extern "C" __global__ __vector__ void k() {\n'
        "  k_simd_vf_0(a);\n  k_simd_vf_0_1();\n"
        "  ascend_nd2nz_scatter<16, 64, float, bfloat16_t>((__ubuf__ float*)(a), b);\n}\n"
    )
    lines = source.read(text).text.splitlines()
    assert "::emu::simd_call<k_simd_vf_0>(::std::source_location::current(), a);" in lines[7]
    assert "::emu::simd_call<k_simd_vf_0_1>(::std::source_location::current());" in lines[8]
    assert "::emu::simd_call<ascend_nd2nz_scatter<16, 64, float, bfloat16_t>>(" in lines[9]
    assert lines[1].startswith("__simd_vf__ inline void k_simd_vf_0(")


def test_kernel_kinds_and_parameters():
    text = (
        'extern "C" __global__ __mix__(1, 2) void a(__gm__ float* X, int32_t m) {}\n'
        'extern "C" __global__ __cube__ void b(__gm__ fp8_e4_t* X) {}\n'
        'extern "C" __global__ __vector__ void c() {}\n'
    )
    kernels = source.read(text).kernels
    assert [(k.name, k.kind, k.line) for k in kernels] == [
        ("a", "mix", 1),
        ("b", "cube", 2),
        ("c", "vector", 3),
    ]
    assert [(p.name, p.ctype, p.is_array) for p in kernels[0].parameters] == [
        ("X", "float", True),
        ("m", "int32_t", False),
    ]


def test_fp8_arrays():
    text = vector_kernel(load("ub", "X", 64), handshake("MTE2", "MTE3"), store("ub", "Y", 64))
    text = text.replace("__gm__ float* ", "__gm__ fp8_e4_t* ")
    x = np.arange(64).astype(ml_dtypes.float8_e4m3fn)
    y = np.zeros_like(x)
    assert emulate(text, X=x, Y=y, blocks=1).ok
    assert (x.view(np.uint8) == y.view(np.uint8)).all()
