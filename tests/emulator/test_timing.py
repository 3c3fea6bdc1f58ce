"""The time model on texts whose cycles can be counted by hand, and the timeline."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import pytest

from benchmarks.emulator.subject import lower
from examples import WORKLOADS
from tests.emulator.asc import (
    handshake,
    line_of,
    load,
    run,
    set_flag,
    store,
    vector_kernel,
    wait_flag,
)
from tilelang_ascend_sched.emulator import Settings, timeline
from tilelang_ascend_sched.emulator.timing import events_of, timing

ISSUE, FLAG = 4, 4
LOAD_RATE, LOAD_LATENCY, LOAD_LEAST = 50, 90, 13
STORE_RATE, STORE_LATENCY, STORE_LEAST = 57.5, 180, 10

COPY = [load("ub", "X", 256), handshake("MTE2", "MTE3"), store("ub", "Y", 256)]


def interval(size: int, rate: float, least: int) -> int:
    return max(-int(-size // rate), least)


def cycles(*body: str, **options) -> int:
    result, _ = run(vector_kernel(*body), **options)
    assert result.ok, result.findings
    return result.kernels[0].times[0]["cycles"]


@pytest.mark.parametrize("n", [32, 256])
def test_one_load(n):
    assert cycles(load("ub", "X", n)) == ISSUE + interval(n, LOAD_RATE, LOAD_LEAST) + LOAD_LATENCY


def test_copies_of_one_pipe_overlap_in_latency():
    """The second starts when the pipe is free, not when the first one's data are there."""
    two = [load("ub", "X", 128), load("ub + 32", "X", 128)]
    busy = interval(128, LOAD_RATE, LOAD_LEAST)
    assert cycles(*two) == ISSUE + 2 * busy + LOAD_LATENCY
    barrier = cycles(two[0], "asc_sync_pipe(PIPE_MTE2);", two[1])
    assert barrier == ISSUE + 2 * (busy + LOAD_LATENCY)


def test_a_flag_waits_for_the_data():
    loaded = ISSUE + interval(256, LOAD_RATE, LOAD_LEAST) + LOAD_LATENCY
    stored = interval(256, STORE_RATE, STORE_LEAST) + STORE_LATENCY
    assert cycles(*COPY) == loaded + FLAG + stored


def test_issue_takes_time():
    """Pipes that have nothing to do but wait for the scalar unit."""
    loads = [load(f"ub + {8 * i}", "X", 32) for i in range(8)]
    assert cycles(*loads) == ISSUE + 8 * LOAD_LEAST + LOAD_LATENCY
    empty = ["asc_sync_pipe(PIPE_MTE3);"] * 8
    assert cycles(*empty, loads[0]) == 9 * ISSUE + LOAD_LEAST + LOAD_LATENCY


def test_a_full_queue_holds_the_scalar_unit():
    """The 33rd barrier of a pipe that waits cannot be issued, nor what follows it."""
    slow = [load("ub", "X", 256), set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3")]
    filler = ["asc_sync_pipe(PIPE_MTE3);"]
    free = load("ub + 64", "X", 32)
    loaded = ISSUE + interval(256, LOAD_RATE, LOAD_LEAST) + LOAD_LATENCY
    few = cycles(*slow, *filler * 8, free)
    many = cycles(*slow, *filler * 40, free)
    assert few < loaded + FLAG + LOAD_LEAST + LOAD_LATENCY <= many


def test_simt_body_by_operations():
    body = "ub[threadIdx.x] = ub[threadIdx.x] + 1.0f;"
    function = (
        f"__simt_vf__ __launch_bounds__(64) inline void f(__ubuf__ float* ub) {{\n{body}\n}}\n"
    )
    text = vector_kernel(
        load("ub", "X", 256),
        handshake("MTE2", "V"),
        "asc_vf_call<f>(cce::dim3(64), ub);",
        functions=function,
    )
    result, _ = run(text)
    (vector,) = [e for e in events_of(result.kernels[0]) if e.pipe == "V" and not e.is_wait]
    # 256 bytes loaded, 256 stored, 64 additions at 51 a cycle, and 30 to start.
    assert vector.end - vector.start == 30 + 4


def test_busy_shares_and_floor():
    text = vector_kernel(
        "for (int i = 0; i < 8; ++i) {",
        "if (i > 0) { " + wait_flag("MTE3", "MTE2") + " }",
        *(line.replace("256", "4096") for line in COPY),
        "if (i < 7) { " + set_flag("MTE3", "MTE2") + " }",
        "}",
    )
    result, _ = run(text, n=1024)
    figure = timing(result.kernels[0])
    busy = 8 * interval(4096, LOAD_RATE, LOAD_LEAST)
    assert figure.busy["AIV0", "MTE2"] == busy / figure.cycles
    assert figure.busiest == ("AIV0", "MTE2")
    stored = interval(4096, STORE_RATE, STORE_LEAST) + STORE_LATENCY
    assert (figure.floor.pipe, figure.floor.work) == ("MTE2", busy)
    assert figure.floor.drain == stored
    assert figure.floor.cycles <= figure.cycles


def test_critical_path_is_a_chain_to_the_end():
    result, _ = run(vector_kernel(*COPY, handshake("MTE3", "MTE2"), *COPY))
    figure = timing(result.kernels[0])
    path = figure.critical_path
    assert [e.pipe for e in path if not e.is_wait] == ["MTE2", "MTE3", "MTE2", "MTE3"]
    assert path[-1].done == figure.cycles
    for before, after in pairwise(path):
        begins = after.end if after.is_wait else after.start
        assert before.start <= begins <= before.done + FLAG


def test_time_can_be_switched_off():
    result, _ = run(vector_kernel(*COPY), settings=Settings(time=False))
    assert timing(result.kernels[0]) is None


def test_the_chosen_block_is_kept():
    grow = "for (int i = 0; i <= block_idx; ++i) { asc_sync_pipe(PIPE_MTE2); "
    text = vector_kernel(grow, load("ub", "X", 256), "}")
    slowest, _ = run(text, blocks=3)
    assert timing(slowest.kernels[0]).block == 2
    chosen, _ = run(text, blocks=3, settings=Settings(timeline_block=1))
    assert timing(chosen.kernels[0]).block == 1
    assert [t["block"] for t in chosen.kernels[0].times] == [0, 1, 2]


def test_chrome_trace():
    text = vector_kernel(*COPY)
    result, _ = run(text)
    trace = json.loads(timeline.chrome_trace(result))["traceEvents"]
    runs = {e["name"]: e for e in trace if e["ph"] == "X" and e["cat"] == "run"}
    assert set(runs) == {"asc_copy_gm2ub_align", "asc_copy_ub2gm_align"}
    loaded = runs["asc_copy_gm2ub_align"]
    assert loaded["ts"] == ISSUE and loaded["dur"] == interval(256, LOAD_RATE, LOAD_LEAST)
    assert loaded["args"]["line"] == str(line_of(text, "gm2ub"))
    start, end = (next(e for e in trace if e["ph"] == p) for p in "sf")
    assert start["id"] == end["id"]
    assert (start["tid"], end["tid"]) == (loaded["tid"], runs["asc_copy_ub2gm_align"]["tid"])
    assert end["ts"] == runs["asc_copy_ub2gm_align"]["ts"]
    names = {e["args"]["name"] for e in trace if e["name"] == "thread_name"}
    assert names == {"MTE2", "MTE3"}


def test_svg_is_well_formed():
    result, _ = run(vector_kernel(*COPY))
    root = ElementTree.fromstring(timeline.svg(result))
    space = "{http://www.w3.org/2000/svg}"
    titles = [t.text for t in root.iter(f"{space}title")]
    assert any("asc_copy_gm2ub_align" in t for t in titles)
    assert timeline.svg(result) == timeline.svg(run(vector_kernel(*COPY), policy="lazy")[0])


# TileLang's own passes have too few flags for streams_24.
@pytest.mark.parametrize("name", [name for name in WORKLOADS if name != "streams_24"])
def test_floor_is_at_most_the_time(name):
    lowered = lower(name, "stock", **WORKLOADS[name].tiny)
    result, _ = lowered.run()
    for kernel in result.kernels:
        figure = timing(kernel)
        assert figure is not None and 0 < figure.floor.cycles <= figure.cycles


def test_pipe_that_waits_at_the_end_adds_nothing_to_the_floor():
    """The last event is MTE2's wait for the store; its loads are not work after the store."""
    text = vector_kernel(
        *COPY,
        set_flag("MTE3", "MTE2"),
        wait_flag("MTE3", "MTE2"),
    )
    figure = timing(run(text)[0].kernels[0])
    assert figure is not None
    assert figure.floor.cycles <= figure.cycles
    assert figure.floor.pipe != "MTE3" or figure.floor.drain == 0
