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
    """The pipes on the chain of causes that leads to an event, its own first, each once."""
    chain: list[tuple[str, str]] = []
    while index >= 0:
        key = (events[index].core, events[index].pipe)
        if key not in chain:
            chain.append(key)
        index = events[index].cause
    return chain


def _floor(times: dict[str, Any], events: Sequence[Event]) -> Floor:
    least = _least_latencies(events)
    first: dict[tuple[str, str], int] = {}
    for i, e in enumerate(events):
        if not e.is_wait:
            first.setdefault((e.core, e.pipe), i)
    final = _pipes_behind(events, max(range(len(events)), key=lambda i: events[i].done))
    best = Floor(0, CORES[0], PIPES[0], 0, 0, 0)
    for key, index in first.items():
        work = times["busy"][CORES.index(key[0])][PIPES.index(key[1])]
        before = _pipes_behind(events, index)[1:]
        after = final[: final.index(key)] if key in final else []
        fill = sum(least.get(k, 0) for k in before)
        drain = sum(least.get(k, 0) for k in after)
        if work + fill + drain > best.cycles:
            best = Floor(work + fill + drain, *key, work, fill, drain)
    return best
