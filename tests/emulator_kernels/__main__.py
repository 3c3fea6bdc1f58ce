"""``python -m tests.emulator_kernels [NAME...]``: every kernel, lowered both ways, under many
interleavings."""

from __future__ import annotations

import sys

from tests.emulator_kernels import KERNELS
from tests.emulator_kernels.run import complaints
from tests.kernels.run import lowered
from tilelang_ascend_sched.emulator import POLICIES


def main(names: list[str]) -> int:
    bad = 0
    for name in names or list(KERNELS):
        workload = KERNELS[name]
        for ours in (True, False):
            try:
                text = lowered(workload.build, ours)
                told = {
                    complaint
                    for seed in range(2)
                    for policy in POLICIES
                    for complaint in complaints(workload, text, policy, seed)
                }
            except Exception as error:  # told with the rest
                told = {f"{type(error).__name__}: {str(error).strip().splitlines()[-1]}"}
            bad += bool(told)
            print(f"{name:28} {'ours' if ours else 'stock':6} {'wrong' if told else 'right'}")
            for complaint in sorted(told):
                print(f"    {complaint[:220]}")
            sys.stdout.flush()
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
