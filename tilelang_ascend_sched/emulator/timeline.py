"""The time model's events as a Chrome/Perfetto trace and as a static SVG."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

from tilelang_ascend_sched.emulator.result import CORES, PIPES, Result
from tilelang_ascend_sched.emulator.timing import Event, events_of

_COLORS = {
    "S": "#8c8c8c",
    "V": "#59a14f",
    "M": "#e15759",
    "MTE1": "#edc948",
    "MTE2": "#4e79a7",
    "MTE3": "#76b7b2",
    "FIX": "#b07aa1",
}
_WAIT_COLOR = "#dddddd"


def chrome_trace(result: Result) -> str:
    """JSON for ``chrome://tracing`` or Perfetto: a process for each core, a thread for each pipe,
    an arrow for each flag that made a pipe wait. One microsecond stands for one cycle."""
    trace: list[dict[str, Any]] = []
    offset = 0
    for kernel in result.kernels:
        events = events_of(kernel)
        trace += _names(events)
        for i, event in enumerate(events):
            trace += _trace_event(kernel.name, events, i, event, offset)
        offset += max((e.done for e in events), default=0)
    return json.dumps({"traceEvents": trace, "displayTimeUnit": "ns"}, separators=(",", ":"))


def _process(event: Event) -> int:
    return event.block * len(CORES) + CORES.index(event.core)


def _names(events: Sequence[Event]) -> list[dict[str, Any]]:
    tracks = sorted({(_process(e), e.block, e.core, PIPES.index(e.pipe)) for e in events})
    named = []
    for process, block, core, pipe in tracks:
        common = {"ph": "M", "pid": process}
        named.append({**common, "name": "process_name", "args": {"name": f"block {block} {core}"}})
        named.append({**common, "tid": pipe, "name": "thread_name", "args": {"name": PIPES[pipe]}})
        named.append(
            {**common, "tid": pipe, "name": "thread_sort_index", "args": {"sort_index": pipe}}
        )
    return named


def _trace_event(
    kernel: str, events: Sequence[Event], index: int, event: Event, offset: int
) -> list[dict[str, Any]]:
    place = {"pid": _process(event), "tid": PIPES.index(event.pipe)}
    found: list[dict[str, Any]] = [
        {
            "ph": "X",
            "name": event.name,
            "cat": "wait" if event.is_wait else "run",
            "ts": event.start + offset,
            "dur": event.end - event.start,
            **place,
            "args": {"kernel": kernel, "line": event.line, "data there": event.done + offset},
        }
    ]
    if event.is_wait and event.wakes >= 0:
        setter = events[event.wakes]
        flow = {"name": "flag", "cat": "flag", "id": index}
        found.append(
            {
                **flow,
                "ph": "s",
                "ts": setter.start + offset,
                "pid": _process(setter),
                "tid": PIPES.index(setter.pipe),
            }
        )
        found.append({**flow, "ph": "f", "bp": "e", "ts": event.end + offset, **place})
    return found


def svg(result: Result, width: int = 1200, kernel: int = 0) -> str:
    """A static picture of one kernel launch: a row for each pipe that works."""
    run = result.kernels[kernel]
    events = events_of(run)
    rows = [
        (core, pipe)
        for core in CORES
        for pipe in PIPES
        if any(e.core == core and e.pipe == pipe and not e.is_wait for e in events)
    ]
    total = max((e.done for e in events), default=1)
    left, height, gap = 90, 18, 4
    scale = (width - left - 10) / max(total, 1)
    bottom = 24 + len(rows) * (height + gap)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{bottom + 24}" '
        'font-family="sans-serif" font-size="11">',
        f'<text x="4" y="14">{escape(run.name)}, block {events[0].block if events else 0}: '
        f"{total} cycles</text>",
    ]
    for row, (core, pipe) in enumerate(rows):
        y = 24 + row * (height + gap)
        parts.append(f'<text x="4" y="{y + 13}">{core} {pipe}</text>')
        parts.append(
            f'<rect x="{left}" y="{y}" width="{width - left - 10}" height="{height}" '
            'fill="#f5f5f5"/>'
        )
        for e in events:
            if (e.core, e.pipe) != (core, pipe) or e.end == e.start:
                continue
            color = _WAIT_COLOR if e.is_wait else _COLORS[pipe]
            parts.append(
                f'<rect x="{left + e.start * scale:.2f}" y="{y}" '
                f'width="{max((e.end - e.start) * scale, 0.2):.2f}" height="{height}" '
                f'fill="{color}"><title>{escape(e.name)}, line {escape(e.line)}: '
                f"{e.start} to {e.end}</title></rect>"
            )
    parts.append(f'<text x="{left}" y="{bottom + 14}">0</text>')
    parts.append(
        f'<text x="{width - 10}" y="{bottom + 14}" text-anchor="end">{total} cycles</text>'
    )
    return "\n".join([*parts, "</svg>", ""])
