"""The example kernels. ``WORKLOADS`` maps each name to its kernel, data and expected results."""

from __future__ import annotations

from types import ModuleType

from examples import gemm_relu
from examples.workload import EXACT, Tolerance, Workload

__all__ = ["EXACT", "WORKLOADS", "Tolerance", "Workload"]


def _workload(module: ModuleType) -> Workload:
    name = module.__name__.rpartition(".")[2]
    return Workload(
        name,
        getattr(module, name),
        module.inputs,
        module.reference,
        {output: Tolerance(**bound) for output, bound in module.TOLERANCES.items()},
        module.TINY,
    )


WORKLOADS: dict[str, Workload] = {w.name: w for w in (_workload(gemm_relu),)}
