"""The scheduling passes of TileLang's Ascend lowering, in the order in which a kernel meets them.

The first thirteen run between ``AscendInsertOOBPadding`` and ``Simplify`` of TileLang's pipeline,
the last two after host and device code are split.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PassInfo:
    """One pass of the chain.

    name: the pass is ``tl.<name>``, made by ``tilelang.ascend.transform.<name>``.
    decides: what it decides, in one line.
    ours: the plugin has a pass of its own under that name.
    """

    name: str
    decides: str
    ours: bool = False


PASSES: tuple[PassInfo, ...] = (
    PassInfo(
        "NormalizeControlFlowForSchedule",
        "`while` becomes a bounded loop; conditions and loop bounds become bindings",
        ours=True,
    ),
    PassInfo(
        "NormalizeConflictHints", "conflict hints become loop and root annotations", ours=True
    ),
    PassInfo("MaterializeScheduleUnits", "what a task is; the stages asked for by hand", ours=True),
    PassInfo("AnnotateMultiBufferEligible", "which loop owns which storage's epochs"),
    PassInfo("EstimateLatency", "latency and issue interval of each task", ours=True),
    PassInfo("AutoSchedule", "issue order, stage, buffer versions (asks the solver)"),
    PassInfo("AssignCore", "widest legal AIC/AIV mask of each task"),
    PassInfo("PrepareMultiBuffer", "the clock of each ring; its counters"),
    PassInfo("ResolveCore", "the mask narrowed by real consumers"),
    PassInfo("InsertSync", "set/wait flags, barriers, cross-core flags, storage reuse"),
    PassInfo("MaterializeMultiBuffer", "the version index of each access"),
    PassInfo("LowerScheduledTIR", "one AIC and one AIV body; prologue and epilogue guards"),
    PassInfo("RestoreWhileLoops", "bounded loops become `while` again", ours=True),
    PassInfo("MergeUBAllocations", "addresses in every on-chip scope"),
    PassInfo("RewriteFlagToBuf", "8 flag slots an event pair; the rest to locks", ours=True),
)
