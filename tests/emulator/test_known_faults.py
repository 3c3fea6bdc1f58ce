"""Faults that TileLang's own scheduling is known to leave in, found in what it generates."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tests.emulator.asc import HEADER, handshake
from tilelang_ascend_sched.emulator import emulate

TEMPLATE_AND_EXPLICIT = (
    HEADER
    + """#include <tl_templates/ascend/gemm.h>
extern "C" __global__ __cube__ void k(__gm__ bfloat16_t* A, __gm__ float* C) {
  __cbuf__ bfloat16_t *l1 = (__cbuf__ bfloat16_t *)0;
  __ca__ bfloat16_t *l0a = (__ca__ bfloat16_t *)0;
  __cb__ bfloat16_t *l0b = (__cb__ bfloat16_t *)0;
  __cc__ float *l0c = (__cc__ float *)0;
  asc_set_gm2l1_nz_para(1, 1, 32, 0);
  asc_copy_gm2l1_nd2nz(l1, A, 128, static_cast<asc_load_l2_cache_mode>(0), 32, 64, 0, 0);
  %s
  asc_copy_l12l0a(l0a, l1, 0, 0, 2, 4, 2, 2);
  asc_copy_l12l0b(l0b, l1, 0, 0, 2, 4, 2, 2);
  %s
  asc_mmad(l0c, l0a, l0b, 32, 64, 32, 0, true, false, true);
  %s
  ascend_gemm_l1<32, 64, 32, 32, true, bfloat16_t>(l0c, l1, l1, false, 0, 0);
  %s
  asc_copy_l0c2gm(C, l0c, 32, 32, 32, 32, static_cast<asc_store_l2_cache_mode>(0),
      static_cast<asc_unit_flag_mode>(0), static_cast<asc_quant_mode>(0),
      static_cast<asc_relu_pre_mode>(0), 0, 1, 0, 0);
}
"""
)


def run_template(between: str):
    text = TEMPLATE_AND_EXPLICIT % (
        handshake("MTE2", "MTE1"),
        handshake("MTE1", "M"),
        between,
        handshake("M", "FIX"),
    )
    a = np.random.default_rng(0).integers(-4, 5, (32, 64)).astype(ml_dtypes.bfloat16)
    c = np.zeros((32, 32), np.float32)
    result = emulate(text, A=a, C=c, blocks=1)
    return result, c, a.astype(np.float32) @ a.astype(np.float32).T


def test_gemm_template_beside_explicit_l0_buffers():
    """The template loads L0 from address 0 under locks that explicit buffers know nothing of."""
    result, _, _ = run_template("")
    spaces = {f.message.split(" race on ")[1].split()[0] for f in result.of_kind("race")}
    assert spaces == {"L0A", "L0B"}
    templates = [s for f in result.of_kind("race") for s in f.sites if s.file.endswith("gemm.h")]
    assert templates and {s.kernel_line for s in templates} == {17}


def test_gemm_template_ordered_by_hand():
    result, c, expected = run_template(handshake("M", "MTE1", 1))
    assert result.ok, [str(f) for f in result.findings]
    assert (c == 2 * expected).all()


def test_fragment_that_lives_across_two_simt_regions():
    """It becomes UB that all threads share, though each thread meant its own."""
    import tilelang.ascend.language as T

    @T.prim_func
    def kernel(X: T.Tensor((256, 64), T.float32), Y: T.Tensor((256, 64), T.float32)):
        with T.Kernel(1) as _:
            x = T.alloc_shared((256, 64), T.float32)
            row = T.alloc_fragment((64,), T.float32)
            T.copy(X, x)
            with T.SimtVF(threads=256):
                for i in T.Parallel(256):
                    for c in T.serial(64):
                        row[c] = x[i, c] * 2
            with T.SimtVF(threads=256):
                for i in T.Parallel(256):
                    for c in T.serial(64):
                        x[i, c] = row[c]
            T.copy(x, Y)

    x, y = np.ones((256, 64), np.float32), np.zeros((256, 64), np.float32)
    result = emulate(kernel, X=x, Y=y)
    assert result.of_kind("race-simt")
