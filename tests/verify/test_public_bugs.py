"""Mistakes that tools of this kind have shipped, each in a kernel of a few instructions.

The kernel as it should be is proven; with the mistake it is refused.
"""

from __future__ import annotations

import tilelang  # noqa: F401  # puts tvm on the path
from tvm.tirx import PrimFunc, Stmt, Var
from tvm.tirx import floormod as mod

from tests.verify.device import (
    Y,
    barrier,
    either,
    handshake,
    kernel,
    load,
    loop,
    opaque,
    packed,
    placed,
    seq,
    set_flag,
    store,
    vector,
    wait_flag,
    when,
)
from tilelang_ascend_sched.verify import NOT_PROVEN, PROVEN, REFUSED, VerifyReport, verify

N = Var("n", "int32")


def proven(func: PrimFunc) -> None:
    report = verify(func)
    assert report.verdict == PROVEN, str(report)


def refused(func: PrimFunc, *kinds: str) -> VerifyReport:
    report = verify(func)
    assert report.verdict == REFUSED, str(report)
    assert {finding.kind for finding in report.findings} & set(kinds), str(report)
    return report


def ring(turns, body) -> list[Stmt]:
    """A loop that turns two slots; ``body(i, slot)`` is one turn."""
    prime = [set_flag("MTE3_MTE2", slot) for slot in (0, 1)]
    drain = [wait_flag("MTE3_MTE2", slot) for slot in (0, 1)]
    return [*prime, loop(turns, lambda i: body(i, mod(i, 2))), *drain]


def chain(i, slot, release=True, acquire=True) -> Stmt:
    """Load, store back: one turn of a ring."""
    return seq(
        *([wait_flag("MTE3_MTE2", slot)] if acquire else []),
        load(slot, i),
        handshake("MTE2_MTE3", slot),
        store(i, slot),
        *([set_flag("MTE3_MTE2", slot)] if release else []),
    )


def test_ring_is_proven_for_any_number_of_turns():
    for turns in (0, 1, 2, 7, 1000):
        proven(kernel(*ring(turns, chain)))
    proven(kernel(*ring(N, chain), scalars=(N,)))


def test_release_on_the_back_edge_dropped():
    refused(kernel(*ring(N, lambda i, s: chain(i, s, release=False)), scalars=(N,)), "deadlock")


def test_acquire_dropped():
    report = refused(
        kernel(*ring(N, lambda i, s: chain(i, s, acquire=False)), scalars=(N,)), "race", "set twice"
    )
    assert "n = " in str(report)


def test_event_id_reused_inside_its_own_live_range():
    def nested(inner: int) -> PrimFunc:
        return kernel(
            load(0, 0),
            set_flag("MTE2_V", 0),
            load(1, 1),
            set_flag("MTE2_V", inner),
            wait_flag("MTE2_V", inner),
            vector(4, 1),
            wait_flag("MTE2_V", 0),
            vector(8, 0),
        )

    proven(nested(1))
    refused(nested(0), "set twice")


def test_synchronization_of_an_untaken_branch():
    def guarded(*outside: Stmt) -> PrimFunc:
        return kernel(
            load(0, 0), when(N > 0, handshake("MTE2_V", 0)), *outside, vector(4, 0), scalars=(N,)
        )

    proven(guarded(handshake("MTE2_V", 1)))
    report = refused(guarded(), "race")
    assert "n = 0" in str(report)


def test_set_hoisted_out_of_the_guard_of_its_wait():
    def hoisted(before: list[Stmt], inside: list[Stmt]) -> PrimFunc:
        guarded = when(N > 0, *inside, wait_flag("MTE2_V", 0), vector(4, 0))
        return kernel(load(0, 0), *before, guarded, scalars=(N,))

    proven(hoisted([], [set_flag("MTE2_V", 0)]))
    refused(hoisted([set_flag("MTE2_V", 0)], []), "left set")


def test_buffers_that_share_an_address_after_packing():
    def packed(second: int, *between: Stmt) -> PrimFunc:
        # The second buffer is loaded while the first one is still being stored.
        return kernel(
            load(0, 0),
            handshake("MTE2_MTE3", 0),
            store(0, 0),
            *between,
            load(second, 1),
            handshake("MTE2_MTE3", 1),
            store(1, second),
        )

    proven(packed(1))
    proven(packed(0, handshake("MTE3_MTE2", 0)))
    report = refused(packed(0), "race")
    assert any('set_flag("MTE3_MTE2", id)' in finding.supply for finding in report.findings)


def test_live_buffers_that_share_bytes():
    """All accesses are ordered, and yet the first buffer's bytes are gone when they are read."""

    def through(second: float) -> VerifyReport:
        ordered = barrier("PIPE_ALL"), barrier("PIPE_ALL")
        kernel, unpacked = packed(
            placed(0, 0, load_from=0),
            ordered,
            placed(1, second, load_from=1),
            ordered,
            placed(0, 0, store_to=0),
            placed(1, second, store_to=1),
        )
        return verify(kernel, unpacked=unpacked)

    assert through(1).verdict == PROVEN
    report = through(0.5)
    assert report.verdict == REFUSED
    (finding,) = report.findings
    assert (finding.kind, finding.begin, finding.end) == ("shared bytes", 512, 1024)
    assert finding.message == "buffer b replaces what buffer a still needs"


def test_store_to_gm_and_load_of_the_same_bytes():
    def through_gm(tile: int, *between: Stmt) -> PrimFunc:
        return kernel(store(0, 0), *between, load(1, tile, Y))

    proven(through_gm(1))
    proven(through_gm(0, handshake("MTE3_MTE2", 0)))
    refused(through_gm(0), "race")


def test_ping_pong_with_a_fixed_id():
    def fixed(i, slot) -> Stmt:
        return seq(
            wait_flag("MTE3_MTE2", slot),
            load(slot, i),
            handshake("MTE2_MTE3", 0),
            store(i, slot),
            set_flag("MTE3_MTE2", slot),
        )

    refused(kernel(*ring(8, fixed)), "set twice")


def test_counts_of_set_and_wait_differ_between_branches():
    def branches(otherwise: Stmt) -> PrimFunc:
        then = seq(load(0, 0), set_flag("MTE2_V", 0))
        return kernel(
            either(N > 0, then, otherwise), wait_flag("MTE2_V", 0), vector(4, 0), scalars=(N,)
        )

    proven(branches(set_flag("MTE2_V", 0)))
    refused(branches(load(0, 1)), "deadlock")


def test_refill_that_overtakes_the_read():
    def pipelined(refill_first: bool) -> PrimFunc:
        # The tile of the next turn is fetched into the buffer that this turn still reads.
        def turn(i) -> Stmt:
            read = seq(wait_flag("MTE2_MTE3", 0), store(i, 0), set_flag("MTE3_MTE2", 0))
            refill = seq(
                *([] if refill_first else [wait_flag("MTE3_MTE2", 0)]),
                load(0, i + 1),
                *([wait_flag("MTE3_MTE2", 0)] if refill_first else []),
                set_flag("MTE2_MTE3", 0),
            )
            return seq(read, refill)

        return kernel(
            load(0, 0),
            set_flag("MTE2_MTE3", 0),
            loop(N, turn),
            wait_flag("MTE2_MTE3", 0),
            scalars=(N,),
        )

    proven(pipelined(False))
    refused(pipelined(True), "race")


def test_opaque_call_is_not_taken_for_harmless():
    report = verify(kernel(load(0, 0), opaque("user_function")))
    assert report.verdict == NOT_PROVEN
    assert "user_function" in str(report)


def test_full_barrier_where_a_pair_would_do_is_right():
    proven(kernel(load(0, 0), barrier("PIPE_ALL"), vector(4, 0)))


def test_out_of_range_ids_and_addresses():
    refused(kernel(load(0, 0), handshake("MTE2_V", 8), vector(4, 0)), "range")
    refused(kernel(load(300, 0)), "capacity")


def test_same_pipe_needs_a_barrier():
    proven(kernel(load(0, 0), barrier("PIPE_MTE2"), load(0, 1)))
    report = refused(kernel(load(0, 0), load(0, 1)), "race")
    assert report.findings[0].supply == 'pipe_barrier("PIPE_MTE2") between them'
