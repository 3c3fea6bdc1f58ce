"""The schedule report: what a lowering decided, why, and whose each pass was."""

from .schedule import BufferReport, LoopReport, Note, PassReport, ScheduleReport

__all__ = ["BufferReport", "LoopReport", "Note", "PassReport", "ScheduleReport"]
