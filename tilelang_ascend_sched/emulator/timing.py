"""Cycles of a run: busy shares, the critical path, and the least the kernel could take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tilelang_ascend_sched.emulator.result import CORES, PIPES, KernelRun


@dataclass(frozen=True)
class Event:
    """An instruction that ran, or a synchronization that made its pipe wait. Times in cycles."""

    core: str
    pipe: str
    block: int
    name: str
    line: str
    """In the kernel's text, or in a template with the line that calls it."""
    start: int
    end: int
    """The pipe is free again."""
    done: int
    """The data are there."""
    cause: int
    """Index of the event that decided the start; -1: none."""
    wakes: int
    """For a wait, index of the event that ended it; -1: none."""
    is_wait: bool


@dataclass(frozen=True)
class Floor:
    """A bound on the cycles of any schedule of the same instructions: all of one pipe's work, the
    least it takes until that pipe's first instruction has its data, and the least from its last
    instruction to the end."""

    cycles: int
    core: str
    pipe: str
    work: int
    fill: int
    drain: int


@dataclass(frozen=True)
class Timing:
    """The time model's figures for one kernel launch; the slowest block where one is meant."""

    block: int
    cycles: int
    busy: dict[tuple[str, str], float]
    """Share of the cycles that each pipe of the block works, by core and pipe; idle pipes left
    out."""
    critical_path: tuple[Event, ...]
    """Each event starts when the one before it lets it."""
    floor: Floor

    @property
    def busiest(self) -> tuple[str, str]:
        """Core and pipe that work most."""
        return max(self.busy, key=lambda key: self.busy[key])


def events_of(run: KernelRun) -> list[Event]:
    """The events that were kept: those of the slowest block, or of the one asked for."""
    found = []
    for agent, block, name, line, start, end, done, cause, wakes, is_wait in run.events:
        core, pipe = divmod(agent, len(PIPES))
        found.append(
            Event(
                CORES[core], PIPES[pipe], block, name, line, start, end, done, cause, wakes,
                bool(is_wait),
            )
        )  # fmt: skip
    return found


def timing(run: KernelRun) -> Timing | None:
    """None if the run has no times: it had no blocks, was not asked for them, or broke off."""
    if not run.times or not run.events:
        return None
    events = events_of(run)
    slowest = max(run.times, key=lambda t: (t["cycles"], -t["block"]))
    chosen = next((t for t in run.times if t["block"] == events[0].block), slowest)
    cycles = max(chosen["cycles"], 1)
    busy = {
        (CORES[c], PIPES[p]): work / cycles
        for c, pipes in enumerate(chosen["busy"])
        for p, work in enumerate(pipes)
        if work
    }
    path = tuple(events[i] for i in run.critical_path)
    return Timing(chosen["block"], chosen["cycles"], busy, path, _floor(chosen, events))


def _least_latencies(events: Sequence[Event]) -> dict[tuple[str, str], int]:
    least: dict[tuple[str, str], int] = {}
    for e in events:
        if not e.is_wait:
            key = (e.core, e.pipe)
            least[key] = min(least.get(key, e.done - e.start), e.done - e.start)
    return least


def _pipes_behind(events: Sequence[Event], index: int) -> list[tuple[str, str]]:
    """The pipes that work on the chain of causes of an event, latest first, each once."""
    chain: list[tuple[str, str]] = []
    while index >= 0:
        event = events[index]
        key = (event.core, event.pipe)
        # A pipe that only waits adds nothing of its own.
        if not event.is_wait and key not in chain:
            chain.append(key)
        index = event.cause
    return chain


def _floor(times: dict[str, Any], events: Sequence[Event]) -> Floor:
    mine = [i for i, e in enumerate(events) if e.block == times["block"]]
    least = _least_latencies([events[i] for i in mine])
    first: dict[tuple[str, str], int] = {}
    last: dict[tuple[str, str], int] = {}
    for i in mine:
        if not events[i].is_wait:
            key = (events[i].core, events[i].pipe)
            first.setdefault(key, i)
            last[key] = i
    final = _pipes_behind(events, max(mine, key=lambda i: events[i].done)) if mine else []
    best = Floor(0, CORES[0], PIPES[0], 0, 0, 0)
    for key, index in first.items():
        work = times["busy"][CORES.index(key[0])][PIPES.index(key[1])]
        fill = drain = 0
        if key[1] != "S":  # it issues from the first cycle on, and that is work too
            before = [k for k in _pipes_behind(events, index) if k != key]
            after = final[: final.index(key)] if key in final else []
            # No more than this run took: the chain may leave the pipe before its last instruction.
            fill = min(sum(least.get(k, 0) for k in before), events[index].start)
            drain = min(
                sum(least.get(k, 0) for k in after), times["cycles"] - events[last[key]].end
            )
        if work + fill + drain > best.cycles:
            best = Floor(work + fill + drain, *key, work, fill, drain)
    return best
