"""Each sync line of a kernel deleted in turn: the checks that do not depend on the interleaving
object, or the line is proven redundant. ``python -m benchmarks.emulator.mutations`` does all."""

from __future__ import annotations

from functools import cache

import pytest

from benchmarks.emulator import mutations
from benchmarks.emulator.mutations import CLOSURE, MISSED, REASON, REASONS
from benchmarks.emulator.subject import Subject, lower
from examples import WORKLOADS
from tests.emulator.asc import handshake, load, store, vector_kernel, wait_flag
from tests.emulator.asc import run as run_text
from tilelang_ascend_sched.emulator import Settings


@cache
def tiny(name: str) -> Subject:
    return lower(name, "stock", **WORKLOADS[name].tiny)


@pytest.mark.parametrize("name", ["gemm_relu", "topk", "dynamic_add"])
def test_deleted_sync_is_objected_to(name):
    found = mutations.mutants(tiny(name))
    assert len(found) >= 10
    redundant = [m.line - 1 for m in found if m.outcome in (CLOSURE, REASON, MISSED)]
    barriers = mutations.simt_barriers(tiny(name).text)
    assert redundant == [barriers[b] for n, b in REASONS if n == name]


@pytest.mark.parametrize("name", sorted({name for name, _ in REASONS}))
def test_redundant_barriers_are_not_needed_together_either(name):
    """Without all of them no two threads meet, and the results stay right."""
    kernel = tiny(name)
    barriers = mutations.simt_barriers(kernel.text)
    listed = [barriers[b] for n, b in REASONS if n == name]
    result, arrays = kernel.run(mutations.delete(kernel.text, *listed))
    assert result.ok and kernel.wrong(arrays) == []


def test_a_whole_channel_deleted_is_a_race():
    """Nothing deadlocks when sets and waits go together."""
    kernel = lower("dynamic_add", "stock", m=200, n=64, rows=8, threads=32, blocks=2)
    channels = mutations.channels(kernel.text)
    assert len(channels) >= 3 and mutations.silent_channels(kernel) == (len(channels), [])


COPY = [load("ub", "X", 256), handshake("MTE2", "MTE3"), store("ub", "Y", 256)]


def closure(*body: str, **options) -> int:
    result, _ = run_text(vector_kernel(*body), settings=Settings(closure=True), **options)
    return result.kernels[0].closure


def test_closure_tells_whether_a_line_orders_anything():
    plain = closure(*COPY)
    assert plain == closure(*COPY, policy="random", seed=3) == closure(*COPY, policy="lazy")
    twice = [COPY[0], handshake("MTE2", "MTE3", 1), *COPY[1:]]
    assert closure(*twice) == plain  # the second handshake says nothing new
    assert closure(COPY[0], "asc_sync_pipe(PIPE_MTE2);", *COPY[1:]) == plain
    assert closure(COPY[0], COPY[2]) != plain
    again = [*COPY, load("ub", "X", 256)]
    assert closure(*again) != closure(*COPY, handshake("MTE3", "MTE2"), again[-1])


def test_only_what_synchronizes_is_deleted():
    text = vector_kernel(COPY[0], wait_flag("MTE2", "MTE3"))
    (line,) = mutations.sync_lines(text)
    assert "asc_sync_wait" not in mutations.delete(text, line)
    with pytest.raises(ValueError, match=f"line {line} does not synchronize"):
        mutations.delete(text, line - 1)
