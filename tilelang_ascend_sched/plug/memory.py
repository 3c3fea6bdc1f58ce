"""What on-chip memory the buffers of a kernel may take, by the hardware file of its lowering."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .. import hardware
from ..solver.problem import MemoryGroup, ScheduleProblem

_MEMORIES = ("UB", "L0A", "L0B", "L0C", "L1")
"""The memories of AutoSchedule's groups, in its order. It counts with the capacities of the
package's own hardware file, less what buffers of enclosing loops take."""

_UNLIMITED = 1 << 39
"""More than any memory has: AutoSchedule counts with 2**40 bytes where a kernel lifts the limit."""


@dataclass(frozen=True)
class Memory:
    """capacities: bytes of each memory; lacking: bytes of them that AutoSchedule counts in vain."""

    capacities: dict[str, int]
    lacking: dict[str, int]
    file: str

    @classmethod
    def of(cls, path: str, simt: bool) -> Memory:
        """By the hardware file ``path``, but never more than the passes after the solver allow."""
        assumed = hardware.capacities("", simt)
        given = hardware.capacities(path, simt) if path else assumed
        least = {name: min(given[name], assumed[name]) for name in assumed}
        return cls(least, {name: assumed[name] - least[name] for name in assumed}, path)

    def limit(self, where: str, problem: ScheduleProblem) -> tuple[MemoryGroup, ...]:
        """The memory groups of a problem, named, with what the machine really has.

        Raises ``ValueError`` if one version of each buffer is too much; ``where`` names the loop.
        """
        groups = problem.memory_groups
        if len(groups) != len(_MEMORIES):
            return groups
        limited = []
        for name, group in zip(_MEMORIES, groups, strict=True):
            capacity = group.capacity
            if capacity < _UNLIMITED:
                capacity = max(0, capacity - self.lacking[name])
            least = sum(problem.buffers[index].size for index in group.buffers)
            if least > capacity:
                raise ValueError(
                    f"{where}: one version of each buffer takes {least} bytes of {name}, of which "
                    f"the hardware file {self.file} leaves {capacity}; use smaller tiles"
                )
            limited.append(replace(group, name=name, capacity=capacity))
        return tuple(limited)
