"""RewriteFlagToBuf on hand-written TIR: what moves where, what is refused, and what is told."""

from __future__ import annotations

import json

import pytest
import tvm
from tvm import tirx

from tests.passes.tir import (
    call,
    kernel,
    lock,
    loop,
    ours,
    section,
    set_flag,
    stock,
    sync_calls,
    unlock,
    var,
    wait_flag,
    walk_sync,
    when,
)

NAME = "RewriteFlagToBuf"
EVENT = "MTE2_V"


def flags(first: int, count: int, event: str = EVENT) -> list[tirx.Stmt]:
    """Sets and waits for ``count`` constant ids."""
    ids = range(first, first + count)
    return [set_flag(event, i) for i in ids] + [wait_flag(event, i) for i in ids]


def ring(name: str, base: int, versions: int, trips: int = 0) -> tirx.Stmt:
    """Sets and waits for the ids ``base + i % versions``, over two rounds unless told otherwise."""
    index = var(name)
    flag = index % versions + base
    return loop(index, trips or 2 * versions, set_flag(EVENT, flag), wait_flag(EVENT, flag))


def ids(function: tirx.PrimFunc, kind: str, name: str = EVENT) -> list[str]:
    return [i for found, event, i in sync_calls(function) if (found, event) == (kind, name)]


def gemm(lock_offset: int) -> tirx.Stmt:
    """An L1 GEMM call in which only the operand that selects its locks means anything."""
    return call("ascend_gemm_l1", *([0] * 10), lock_offset, 0)


def test_ids_in_place_are_left_alone() -> None:
    function = kernel(*flags(0, 8), *flags(0, 8, "V_MTE3"))
    assert ours(NAME)(function).same_as(function)


def test_code_without_flags_is_left_alone() -> None:
    function = kernel(lock("PIPE_V", 3), unlock("PIPE_V", 3))
    assert ours(NAME)(function).same_as(function)


def test_sparse_ids_move_together_and_stay_flags() -> None:
    after = ours(NAME)(kernel(*flags(2, 1), *flags(6, 1), ring("i", 20, 3)))
    assert ids(after, "set") == ["0", "1", "i % 3 + 2"]
    assert ids(after, "wait") == ["0", "1", "i % 3 + 2"]
    assert not ids(after, "lock", "PIPE_V")


def test_what_does_not_fit_becomes_locks_on_both_pipes() -> None:
    after = ours(NAME)(kernel(ring("i", 0, 8, trips=9), ring("j", 8, 3)))
    assert sync_calls(after) == [
        ("set", EVENT, "i % 8"),
        ("wait", EVENT, "i % 8"),
        ("lock", "PIPE_MTE2", "j % 3"),
        ("unlock", "PIPE_MTE2", "j % 3"),
        ("lock", "PIPE_V", "j % 3"),
        ("unlock", "PIPE_V", "j % 3"),
    ]


def test_setting_does_not_block_and_waiting_does() -> None:
    modes = {}

    def visit(node: object) -> None:
        if isinstance(node, tirx.Call) and node.op.name == "tl.ascend_get_buf":
            modes[node.args[0].value] = node.args[2].value

    after = ours(NAME)(kernel(*flags(0, 9)))
    tirx.stmt_functor.post_order_visit(after.body, visit)
    assert modes == {"PIPE_MTE2": 1, "PIPE_V": 0}


def test_the_busiest_flags_stay() -> None:
    # By size alone the 8 of the short loop would fill the slots better than the 3 of the long one.
    after = ours(NAME)(kernel(ring("short", 0, 8, trips=8), ring("long", 8, 3, trips=100)))
    assert ids(after, "set") == ["long % 3"]


def test_a_loop_of_unknown_length_counts_as_long() -> None:
    n = var("n")
    i = var("i")
    endless = loop(i, n, set_flag(EVENT, i % 8 + 8), wait_flag(EVENT, i % 8 + 8))
    after = ours(NAME)(kernel(ring("short", 0, 8, trips=8), endless, params=(n,)))
    assert ids(after, "set") == ["i % 8"]


def test_the_slots_are_filled_when_busy_flags_would_take_too_many_locks() -> None:
    # Keeping the busy 3 and one 4 leaves 33 ids to the locks; keeping 4 + 4 leaves 32.
    after = ours(NAME)(
        kernel(
            ring("a", 0, 4),
            ring("b", 4, 4),
            ring("busy", 8, 3, trips=500),
            ring("c", 11, 29),
        )
    )
    assert ids(after, "set") == ["a % 4", "b % 4 + 4"]
    assert ids(after, "lock", "PIPE_MTE2") == ["busy % 3", "c % 29 + 3"]


def test_gemm_locks_and_the_kernels_own_are_left_alone() -> None:
    k = var("k")
    own = loop(k, 2, lock("PIPE_M", k + 4), unlock("PIPE_M", k + 4))
    after = ours(NAME)(kernel(gemm(1), own, *flags(0, 10)))
    # Locks 1 and 2 are the GEMM's, 4 and 5 the kernel's own.
    assert ids(after, "lock", "PIPE_MTE2") == ["0", "3"]
    assert ids(after, "lock", "PIPE_M") == ["k + 4"]


def test_each_core_has_flags_and_locks_of_its_own() -> None:
    event = "MTE2_S"
    function = kernel(
        section("CUBE", *flags(0, 9, event), gemm(0)),
        section("VECTOR", *flags(8, 8, event), *flags(16, 2, event)),
    )
    after = ours(NAME)(function)
    assert ids(after, "set", event) == [str(i) for i in [*range(8), *range(8)]]
    assert ids(after, "lock", "PIPE_MTE2") == ["2", "0", "1"]


def test_code_of_both_cores_is_numbered_for_both() -> None:
    function = kernel(section("CUBE", *flags(0, 8)), section("VECTOR", *flags(8, 8)), *flags(16, 1))
    after = ours(NAME)(function)
    assert ids(after, "lock", "PIPE_MTE2") == [str(i) for i in range(9)]


def test_a_call_that_both_cores_share_is_numbered_for_each() -> None:
    shared = flags(20, 1)
    function = kernel(section("CUBE", *flags(2, 1), *shared), section("VECTOR", *shared))
    assert ids(ours(NAME)(function), "set") == ["0", "1", "0"]


def test_a_wait_issued_before_its_set_stays_a_flag() -> None:
    reversed_pair = [wait_flag(EVENT, 0), set_flag(EVENT, 0)]
    busy = loop(var("i"), 100, *flags(1, 8))
    after = ours(NAME)(kernel(*reversed_pair, busy))
    assert ids(after, "wait")[0] == "0"
    assert ids(after, "lock", "PIPE_MTE2") == ["0"]


def test_a_guard_that_is_false_in_the_first_iteration_does_not_reverse_anything() -> None:
    i = var("i")
    carried = loop(i, 20, when(i > 0, wait_flag(EVENT, 30)), set_flag(EVENT, 30))
    busy = loop(var("j"), 100, *flags(0, 8))
    after = ours(NAME)(kernel(carried, wait_flag(EVENT, 30), busy))
    assert ids(after, "lock", "PIPE_V") == ["0", "0"]


def test_a_guard_on_the_last_iteration_does_not_reverse_anything() -> None:
    i = var("i")
    last = loop(i, 20, when(i.equal(19), set_flag(EVENT, 30)))
    busy = loop(var("j"), 100, *flags(0, 8))
    after = ours(NAME)(kernel(last, wait_flag(EVENT, 30), busy))
    assert ids(after, "lock", "PIPE_V") == ["0"]


def test_sets_that_run_dry_in_a_later_iteration_are_noticed() -> None:
    # Two primed sets answer the waits of two iterations; the third waits for a set issued later.
    i = var("i")
    dry = loop(i, 5, wait_flag(EVENT, i % 2))
    late = [set_flag(EVENT, i) for i in (0, 1, 0)]
    busy = loop(var("j"), 100, *flags(2, 8))
    after = ours(NAME)(kernel(set_flag(EVENT, 0), set_flag(EVENT, 1), dry, *late, busy))
    assert "i % 2" in ids(after, "wait")


def test_more_reversed_flags_than_slots_are_refused() -> None:
    stmts = [s for i in range(9) for s in (wait_flag(EVENT, i), set_flag(EVENT, i))]
    with pytest.raises(tvm.error.InternalError, match="waited for before they are set"):
        ours(NAME)(kernel(*stmts))


def test_too_many_locks_are_refused_and_the_loops_named() -> None:
    function = kernel(gemm(0), ring("inner", 0, 20), ring("outer", 20, 21))
    with pytest.raises(tvm.error.InternalError) as error:
        ours(NAME)(function)
    text = str(error.value)
    assert "need 41 lock ids" in text and "exceed the 30 of 32" in text
    assert "loop `inner`: 20 for MTE2_V ids 0..19" in text
    assert "loop `outer`: 21 for MTE2_V ids 20..40" in text
    with pytest.raises(tvm.error.InternalError, match="exceed"):
        stock(NAME)(function)


def test_rings_fold_before_locks_run_out() -> None:
    function = kernel(gemm(0), ring("inner", 0, 20), ring("outer", 20, 21))
    after = ours("RewriteFlagToBufFolding")(function)
    # The longest ring gives way; the other still has a lock for each version.
    assert ids(after, "lock", "PIPE_MTE2") == ["inner % 20 + 2", "22"]
    assert ids(after, "unlock", "PIPE_V") == ["inner % 20 + 2", "22"]
    many = kernel(*(ring(f"i{i}", 2 * i, 2) for i in range(41)))
    with pytest.raises(tvm.error.InternalError, match="need 37 lock ids"):
        ours("RewriteFlagToBufFolding")(many)


@pytest.mark.parametrize("bound", [None, 0])
def test_an_unbounded_id_is_refused(bound: int | None) -> None:
    n = var("n")
    use = set_flag(EVENT, n) if bound is None else when(n >= bound, set_flag(EVENT, n))
    function = kernel(use, params=(n,))
    with pytest.raises(tvm.error.InternalError, match="cannot bound event_id `n` of MTE2_V"):
        ours(NAME)(function)


@pytest.mark.parametrize("run", [ours, stock])
def test_a_negative_id_is_refused(run) -> None:
    with pytest.raises(tvm.error.InternalError, match="negative event_id"):
        run(NAME)(kernel(set_flag(EVENT, -1)))


def test_ids_are_bounded_by_guards_bindings_and_assumptions() -> None:
    n, bound, condition = var("n"), var("bound"), tirx.Var("condition", "bool")
    guard = tirx.all(n >= 8, n < 10)
    function = kernel(
        tirx.Bind(bound, n % 2 + 20),
        *[set_flag(EVENT, bound), wait_flag(EVENT, bound)],
        tirx.Bind(condition, guard),
        when(condition, set_flag(EVENT, n), wait_flag(EVENT, n)),
        tirx.Evaluate(tirx.call_intrin("bool", "tirx.assume", tirx.all(n >= 30, n <= 30))),
        *[set_flag(EVENT, n), wait_flag(EVENT, n)],
        params=(n,),
    )
    assert ids(ours(NAME)(function), "set") == ["bound - 18", "n - 8", "n - 26"]


def test_a_guard_on_memory_bounds_nothing() -> None:
    cell = tirx.decl_buffer((1,), "int32", name="cell", scope="local.var")
    flag = tirx.BufferLoad(cell, [0])
    guarded = when(tirx.all(flag >= 0, flag < 4), set_flag(EVENT, flag))
    with pytest.raises(tvm.error.InternalError, match="cannot bound event_id"):
        ours(NAME)(kernel(tirx.AllocBuffer(cell), guarded))


def test_unbounded_own_locks_matter_only_if_a_lock_is_needed() -> None:
    n = var("n")
    own = [lock("PIPE_V", n), unlock("PIPE_V", n)]
    assert ids(ours(NAME)(kernel(*own, *flags(4, 8), params=(n,))), "set")[0] == "0"
    with pytest.raises(tvm.error.InternalError, match="cannot bound the lock ids"):
        ours(NAME)(kernel(*own, *flags(0, 9), params=(n,)))


def test_an_event_without_two_pipes_is_refused() -> None:
    with pytest.raises(tvm.error.InternalError, match="names of two pipes"):
        ours(NAME)(kernel(*flags(0, 9, "MTE2")))


def test_each_spilled_run_is_told(notes: list[tuple]) -> None:
    ours(NAME)(kernel(section("VECTOR", ring("i", 0, 8, trips=9), ring("j", 8, 3))))
    [(pass_name, kernel_name, kind, message, data)] = notes
    assert (pass_name, kernel_name, kind) == (NAME, "main", "degraded")
    assert "8..10 of loop `j` use locks 0..2" in message
    assert json.loads(data) == {
        "event": EVENT,
        "core": "VECTOR",
        "loop": "j",
        "first_id": 8,
        "first_lock": 0,
        "count": 3,
    }


def test_nothing_is_told_where_nothing_spills(notes: list[tuple]) -> None:
    ours(NAME)(kernel(*flags(20, 8)))
    assert notes == []


def test_moved_calls_keep_their_place_in_the_source() -> None:
    span = tvm.ir.Span(tvm.ir.SourceName("kernel.py"), 7, 7, 1, 2)
    located = [
        tirx.Evaluate(tirx.Call("void", stmt.value.op, stmt.value.args, span=span))
        for stmt in flags(0, 9)
    ]
    lines = [node.span.line for *_, node in walk_sync(ours(NAME)(kernel(*located)).body)]
    assert lines == [7] * 20
