"""Counting of plain operators in SIMT text."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator_vector.program import Program
from tilelang_ascend_sched.emulator.simt_cost import Work, annotate, statement_work

UB = "((__ubuf__ float*)buf_dyn_shmem)"
T = "((int32_t)threadIdx.x)"


@pytest.mark.parametrize(
    ("line", "work"),
    [
        (f"float x = ({UB}[{T}] + {UB}[(({T} & 31) + 768)]);", Work(1)),
        (
            "y = ((0.5f * x) * (float(0x1p+0f/*1.0e+00*/) + tanhf((c * (x + ((k * x) * x))))));",
            Work(7),
        ),
        ("_.x = (v_.x/v__1.x);", Work(0, 1)),
        ("_.y = (v_.x<v__1.x);", Work(1)),
        ("top = max(top, (x - float(-0x1.8p+1f/*-3.0e+00*/)));", Work(2)),
        (f"*(__ubuf__ float2*)({UB} + (({T} * 2) + 64)) = (a * b);", Work(2)),
        ("float4 v = ((a * b) + c);", Work(8)),
        ("r = ((bool(c.x) ? a : b));", Work(1)),
        ("*(__ubuf__ float2*)(p + 2) = *(__ubuf__ float2*)(q + (i * 4));", Work()),
        (
            "((float2*)(&_))[0] = __bfloat1622float2((reinterpret_cast<bfloat16x2_t*>(&v_))[0]);",
            Work(),
        ),
        (
            "total[0] = tl::AscendAllReduce<tl::SumOp, 64, 1, 0>::run(total[0], (&(b[576])));",
            Work(),
        ),
        ("asc_syncthreads();", Work()),
        ("uint32_t k = ((m >> 5) | (n & 31));", Work(3)),
    ],
)
def test_statement(line, work):
    assert statement_work(line) == work


def test_one_call_for_each_straight_run():
    text = [
        "__simt_vf__ __launch_bounds__(64) inline void f(__ubuf__ float* x) {",
        "  float a = (b + c);",
        "  float d = (a / b);",
        "  if (a < d) {",
        "    a = (a * d);",
        "  }",
        "  x[0] = a;",
        "}",
        "void g() {",
        "  a = (b + c);",
        "}",
    ]
    out = annotate(text)
    assert len(out) == len(text)
    assert out[1] == "  ::emu::simt_work(1, 1); float a = (b + c);"
    assert out[4] == "    ::emu::simt_work(1, 0); a = (a * d);"
    changed = [i for i, (a, b) in enumerate(zip(text, out, strict=True)) if a != b]
    assert changed == [1, 4]


def cycles(*lines: str) -> int:
    p = Program()
    p.add(f"auto x = {p.input('x', np.ones(1024, np.float32))};", *lines)
    _, result = p.simt("1024")
    assert result.ok, result.findings
    return result.kernels[0].times[0]["cycles"]


def test_work_lengthens_the_body():
    """10 operations of 1024 lanes at 51 lanes a cycle, and as many divisions at 13."""
    store = "x[threadIdx.x] = {};"
    base = cycles("float a = x[threadIdx.x];", store.format("a"))
    chain = "(" * 10 + "a" + " * 1.5f)" * 10
    more = cycles("float a = x[threadIdx.x];", store.format(chain))
    assert abs(more - base - 10 * 1024 / 51) <= 2
    quotients = "(" * 10 + "a" + " / 1.5f)" * 10
    slow = cycles("float a = x[threadIdx.x];", store.format(quotients))
    assert abs(slow - base - 10 * 1024 / 13) <= 2
