"""All example kernels in the order in which figures are shown."""

from __future__ import annotations

from functools import partial
from types import ModuleType

from examples import (
    dynamic_add,
    flash_hinted,
    flash_simd,
    flash_simt,
    gemm_bias_gelu,
    gemm_cube,
    gemm_fp8,
    gemm_grouped,
    gemm_l0,
    gemm_relu,
    gemm_splitk,
    gemv,
    layernorm_manual,
    manual_ring,
    mlp,
    quant_fp8,
    rmsnorm,
    scan_rows,
    softmax_rows,
    streams,
    topk,
    while_sum,
)
from examples.workload import Tolerance, Workload


def _workload(module: ModuleType, name: str = "", **sizes: int) -> Workload:
    name = name or module.__name__.rpartition(".")[2]
    return Workload(
        name,
        getattr(module, name),
        partial(module.inputs, **sizes),
        module.reference,
        {output: Tolerance(**bound) for output, bound in module.TOLERANCES.items()},
        module.TINY,
    )


WORKLOADS: dict[str, Workload] = {
    w.name: w
    for w in (
        _workload(gemm_relu),
        _workload(gemm_cube),
        _workload(gemm_bias_gelu),
        _workload(gemm_fp8),
        _workload(gemm_l0),
        _workload(gemm_splitk),
        _workload(gemm_grouped),
        _workload(mlp),
        _workload(flash_simt),
        _workload(flash_simd),
        _workload(flash_hinted),
        _workload(softmax_rows),
        _workload(rmsnorm),
        _workload(layernorm_manual),
        _workload(quant_fp8),
        _workload(topk),
        *(_workload(streams, f"streams_{n}", count=n) for n in streams.COUNTS),
        _workload(scan_rows),
        _workload(while_sum),
        _workload(dynamic_add),
        _workload(manual_ring),
        _workload(gemv),
    )
}
