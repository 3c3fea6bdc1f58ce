"""``python -m benchmarks``: tables of ours against stock, measured in one run."""

from __future__ import annotations

from benchmarks.kernels import kernels

if __name__ == "__main__":
    kernels(prog_name="python -m benchmarks")
