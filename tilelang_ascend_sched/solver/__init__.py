"""Schedules loops and regions: the least initiation interval or time, proven where it can be."""

from __future__ import annotations

from .answer import Bound, ScheduleAnswer, Verdict, Work
from .checker import CheckError, violations
from .problem import (
    Buffer,
    Edge,
    MemoryGroup,
    OwnerExclusion,
    Policy,
    ProblemError,
    Resource,
    ScheduleProblem,
    Task,
)
from .solver import solve

__all__ = [
    "Bound",
    "Buffer",
    "CheckError",
    "Edge",
    "MemoryGroup",
    "OwnerExclusion",
    "Policy",
    "ProblemError",
    "Resource",
    "ScheduleAnswer",
    "ScheduleProblem",
    "Task",
    "Verdict",
    "Work",
    "solve",
    "violations",
]
