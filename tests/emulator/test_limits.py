"""Capacities and alignments at their edges, several kernels of one text, and races of blocks."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.emulator.asc import (
    HEADER,
    handshake,
    line_of,
    load,
    run,
    set_flag,
    store,
    vector_kernel,
    wait_flag,
)
from tilelang_ascend_sched.emulator import Settings, emulate

KIB = 1024
SIMT = (
    "__simt_vf__ __launch_bounds__(32) inline void f(__ubuf__ float* ub) {\n"
    "ub[threadIdx.x] = 1.0f;\n}\n"
)


def kinds(result) -> list[str]:
    return [f.kind for f in result.findings]


@pytest.mark.parametrize(("functions", "size"), [("", 248 * KIB), (SIMT, 216 * KIB)])
def test_last_bytes_of_ub(functions, size):
    def at(offset: int):
        operand = f"(__ubuf__ uint8_t *){offset}"
        return run(vector_kernel(load(operand, "X", 32), functions=functions))[0]

    assert at(size - 32).ok
    (finding,) = at(size).findings
    assert finding.kind == "capacity" and f"beyond its {size} bytes" in finding.message
    assert f"UB bytes {size}..{size + 31}" in finding.message


def test_last_bytes_of_ub_in_a_vector_function():
    def at(first: int):
        call = f"asc_vf_call<f>(cce::dim3(32), (__ubuf__ float *){first});"
        return run(vector_kernel(call, functions=SIMT))[0]

    assert at(216 * KIB - 128).ok
    assert kinds(at(216 * KIB - 64)) == ["capacity"]


def cube_kernel(*body: str) -> str:
    lines = "\n".join(f"  {line}" for line in body)
    return f'{HEADER}extern "C" __global__ __cube__ void k(__gm__ bfloat16_t* A) {{\n{lines}\n}}\n'


def on_cube(*body: str):
    return emulate(cube_kernel(*body), A=np.ones((16, 16), ml_dtypes.bfloat16), blocks=1)


def to_l1(address: int) -> str:
    return (
        f"asc_set_gm2l1_nz_para(1, 1, 16, 0); asc_copy_gm2l1_nd2nz((__cbuf__ bfloat16_t *){address}"
        ", A, 32, static_cast<asc_load_l2_cache_mode>(0), 16, 16, 0, 0);"
    )


def to_l0(which: str, address: int) -> str:
    return (
        f"asc_copy_l12l0{which}((__c{which}__ bfloat16_t *){address}, (__cbuf__ bfloat16_t *)0, "
        "0, 0, 1, 1, 1, 1);"
    )


def mmad(address: int) -> str:
    return (
        f"asc_mmad((__cc__ float *){address}, (__ca__ bfloat16_t *)0, (__cb__ bfloat16_t *)0, "
        "16, 16, 16, 0, true, false, true);"
    )


FILLED = [to_l1(0), handshake("MTE2", "MTE1")]
LOADED = [*FILLED, to_l0("a", 0), to_l0("b", 0), handshake("MTE1", "M")]


@pytest.mark.parametrize(
    ("before", "access", "space", "size", "bytes_", "alignment"),
    [
        ([], to_l1, "L1", 512 * KIB, 512, 32),
        (FILLED, lambda at: to_l0("a", at), "L0A", 64 * KIB, 512, 512),
        (FILLED, lambda at: to_l0("b", at), "L0B", 64 * KIB, 512, 512),
        (LOADED, mmad, "L0C", 256 * KIB, 1024, 64),
    ],
    ids=["L1", "L0A", "L0B", "L0C"],
)
def test_edges_of_the_cubes_memories(before, access, space, size, bytes_, alignment):
    assert on_cube(*before, access(size - bytes_)).ok
    (finding,) = on_cube(*before, access(size)).findings
    assert finding.kind == "out-of-range" and f"{space} bytes {size}.." in finding.message
    (finding,) = on_cube(*before, access(alignment // 2 + alignment)).findings
    assert finding.kind == "alignment" and f"aligned to {alignment} bytes" in finding.message


COPY = [load("ub", "X", 256), handshake("MTE2", "MTE3"), store("ub", "Y", 256)]


def two_kernels(first: list[str], second: list[str]) -> str:
    """The second one reads what the first one wrote."""
    text = vector_kernel(*second).removeprefix(HEADER).replace(" k(", " l(")
    text = text.replace("X, __gm__ float* Y", "Y, __gm__ float* Z")
    return vector_kernel(*first) + text.replace("(Y)", "(Z)").replace("(X)", "(Y)")


def run_two(first: list[str], second: list[str], **options):
    x = np.arange(64, dtype=np.float32)
    y, z = np.zeros_like(x), np.zeros_like(x)
    return emulate(two_kernels(first, second), X=x, Y=y, Z=z, **{"blocks": 1, **options}), z


def test_one_kernel_is_over_before_the_next_begins():
    result, z = run_two(COPY, COPY)
    assert result.ok and (z == np.arange(64)).all()


@pytest.mark.parametrize("wrong", [0, 1])
def test_a_fault_is_found_in_whichever_kernel_has_it(wrong):
    bodies = [COPY, COPY]
    bodies[wrong] = [COPY[0], COPY[2]]
    text = two_kernels(*bodies)
    (race,) = run_two(*bodies)[0].of_kind("race")
    stores = [i for i, line in enumerate(text.splitlines(), 1) if "ub2gm" in line]
    assert race.sites[1].kernel_line == stores[wrong]


def test_flags_do_not_outlive_their_kernel():
    result, _ = run_two([*COPY, set_flag("MTE2", "V", 7)], [*COPY, wait_flag("MTE2", "V", 7)])
    assert kinds(result) == ["flag-left-set", "deadlock"]


@pytest.mark.parametrize("workers", [1, 2])
def test_races_of_blocks_by_kind(workers):
    """Whichever process ran them."""
    settings = Settings(workers=workers)
    reads = vector_kernel(
        load("ub", "(X + block_idx * 64)", 256),
        handshake("MTE2", "MTE3"),
        store("ub", "(Y + block_idx * 64)", 256),
        load("(ub + 64)", "(Y + (block_idx + 1) % 4 * 64)", 256),
    )
    (race,) = run(reads, blocks=4, settings=settings)[0].of_kind("race")
    assert race.block == -1 and race.message.split()[0] in ("RAW", "WAR")
    assert {s.kernel_line for s in race.sites} == {
        line_of(reads, "(Y + block_idx * 64)"),
        line_of(reads, "% 4"),
    }
    scalar = vector_kernel("if (block_idx == 2) { Y[0] = 1.0f; } else { ub[0] = Y[0]; }")
    (race,) = run(scalar, blocks=4, settings=settings)[0].of_kind("race")
    assert "on GM Y bytes 0..3" in race.message and "scalar access" in race.message
    apart = reads.replace("(Y + (block_idx + 1) % 4 * 64)", "(X + (block_idx + 1) % 4 * 64)")
    assert run(apart, blocks=4, settings=settings)[0].ok
