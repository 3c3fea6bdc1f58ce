"""A block-scaled GEMM as TileLang generates it, scales loaded through its own layout."""

import ml_dtypes
import numpy as np
import pytest
import tilelang.ascend.language as T

from tilelang_ascend_sched.emulator import emulate

M, N, K, STEP = 64, 48, 256, 128


def kernel():
    @T.prim_func
    def scaled(
        A: T.Tensor((M, K), T.float8_e4m3fn),
        B: T.Tensor((N, K), T.float8_e4m3fn),
        ScaleA: T.Tensor((M, K // 64), T.int16),
        ScaleB: T.Tensor((N, K // 64), T.int16),
        C: T.Tensor((M, N), T.float32),
    ):
        with T.Kernel(1) as _:
            a = T.alloc_l1((M, STEP), T.float8_e4m3fn)
            b = T.alloc_l1((N, STEP), T.float8_e4m3fn)
            scale_a = T.alloc_l1((M, STEP // 64), T.int16)
            scale_b = T.alloc_l1((N, STEP // 64), T.int16)
            c = T.alloc_l0c((M, N), T.float32)
            for k in T.Pipelined(K // STEP, num_stages=2):
                T.copy(A[0, k * STEP], a)
                T.copy(B[0, k * STEP], b)
                T.copy(ScaleA[0, k * (STEP // 64)], scale_a)
                T.copy(ScaleB[0, k * (STEP // 64)], scale_b)
                T.gemm_blockscaled(
                    a, b, c, scale_a, scale_b, transpose_B=True, clear_accum=(k == 0)
                )
            T.copy(c, C)

    return scaled


@pytest.mark.parametrize("policy", ["eager", "lazy", "random"])
def test_block_scaled_gemm(policy):
    rng = np.random.default_rng(0)
    operands, scales, wide = [], [], []
    for rows in (M, N):
        x = rng.integers(-4, 5, (rows, K)).astype(ml_dtypes.float8_e4m3fn)
        s = rng.integers(125, 130, (rows, K // 32)).astype(np.uint8)
        operands.append(x)
        scales.append(s.view(np.int16))
        factor = np.repeat(2.0 ** (s.astype(np.float32) - 127), 32, axis=1)
        wide.append(x.astype(np.float32) * factor)
    c = np.zeros((M, N), np.float32)
    result = emulate(
        kernel(),
        policy=policy,
        A=operands[0],
        B=operands[1],
        ScaleA=scales[0],
        ScaleB=scales[1],
        C=c,
    )
    assert [str(f) for f in result.findings] == []
    assert (c == wide[0] @ wide[1].T).all()
