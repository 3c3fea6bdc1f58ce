"""What a message says: where, how many turns apart, what is missing and what would supply it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from inspect import getsourcefile, getsourcelines
from os.path import basename
from typing import Any

from benchmarks.verify.subject import Read, lower_only
from examples import WORKLOADS, gemm_relu, mlp
from tests.kernels import cube, vector
from tests.kernels.small import SMALL
from tests.verify.device import (
    barrier,
    kernel,
    load,
    lock,
    loop,
    packed,
    placed,
    seq,
    set_flag,
    unlock,
    wait_flag,
)
from tests.verify.lowered import stock
from tests.verify.mutate import mutants
from tilelang_ascend_sched.verify import REFUSED, VerifyReport, verify

IN = "T.copy(X[i, 0:WIDTH], x)"
DRAIN = "T.dual_copy(acc, half)"


def changed(name: str, mutant: str, nth: int = 0) -> VerifyReport:
    """Of a small kernel with the ``nth`` statement that ``mutant`` names changed."""
    return report_of(stock(SMALL[name].build), mutant, nth)


def changed_example(name: str, mutant: str, nth: int = 0) -> VerifyReport:
    """Of an example kernel at its small size, lowered by our passes."""
    return report_of(_example(name), mutant, nth)


@cache
def _example(name: str) -> Read:
    workload = WORKLOADS[name]
    return lower_only(partial(workload.build, **workload.tiny), "ours")


def report_of(lowered: Read, mutant: str, nth: int) -> VerifyReport:
    found = [each.func for each in mutants(lowered.device) if str(each) == mutant]
    return lowered.check(found[nth])


def messages(report: VerifyReport, kind: str) -> list[list[str]]:
    """The lines of each finding of a kind."""
    assert report.verdict == REFUSED, str(report)
    found = [str(each).splitlines() for each in report.findings if each.kind == kind]
    assert found, str(report)
    return found


def place(build: Callable[..., Any], text: str, nth: int = 0) -> str:
    """The ``nth`` line of a kernel with ``text``, as messages name it."""
    lines, first = getsourcelines(build)
    numbers = [number for number, line in enumerate(lines, first) if text in line]
    return f"{basename(getsourcefile(build) or '')}:{numbers[nth]}"


def test_race_in_one_core():
    report = changed("two_loops", 'delete T.ascend_wait_flag("V_MTE2", i % 2)')
    first, later = place(vector.two_loops, "T.SimtVF", 1), place(vector.two_loops, IN)
    assert [
        f"{later}: error: race in UB bytes 0 to 256 (x): writes bytes that may still be read",
        f"  first   AIV0 V: SimtVF region at {first} (i turn 0)",
        f"  second  AIV0 MTE2: copy_gm_to_ubuf at {later} (i turn 2)",
        "  distance i + 2",
        "  missing AIV0 V -> AIV0 MTE2",
        '  supply  set_flag("V_MTE2", id) after the first, '
        'wait_flag("V_MTE2", id) before the second',
    ] in messages(report, "race")


def test_race_of_two_cores_in_copies_of_one_loop():
    statement = 'T.ascend_cross_core_set_flag(4, "PIPE_FIX", i + 2)'
    report = changed("mixed_gemm", f"move up {statement}")
    first, later = place(cube.mixed_gemm, DRAIN), place(cube.mixed_gemm, "T.SimtVF")
    _, *lines = messages(report, "race")[0]
    assert lines == [
        f"  first   AIC FIX: copy_matrix_cc_to_ub at {first} (i turn 0)",
        f"  second  AIV0 V: SimtVF region at {later} (i turn 0)",
        "  distance i + 0",
        "  missing AIC FIX -> AIV0 V",
        '  supply  cross_core_set_flag(4, "PIPE_FIX", id) after the first, '
        'cross_core_wait_flag(4, "PIPE_V", id) before the second',
    ]


def test_set_that_a_pass_made_names_the_nearest_line():
    report = changed("two_loops", 'delete T.ascend_wait_flag("V_MTE2", i % 2)')
    use = place(vector.two_loops, "T.SimtVF", 1)
    title, *lines = messages(report, "set twice")[0]
    assert title == f"{use}: error: set twice: flag 0 of V_MTE2 may be set while it is set"
    assert lines[0].startswith("  first   AIV0 V: set_flag(V_MTE2) before vector.py:")
    assert lines[1:] == [
        f"  second  AIV0 V: set_flag(V_MTE2) after {use} (i turn 0)",
        "  missing AIV0 MTE2 -> AIV0 V",
        '  supply  wait_flag("V_MTE2", 0) after the first, and the second ordered behind that wait',
    ]


def test_set_that_nothing_orders_behind_the_wait_for_the_earlier_one():
    report = changed("two_loops", 'delete T.ascend_wait_flag("MTE2_V", i % 2)')
    load_line, use = place(vector.two_loops, IN), place(vector.two_loops, "T.SimtVF", 1)
    assert messages(report, "set twice")[0] == [
        f"{use}: error: set twice: flag 0 of V_MTE2 may be set while it is set",
        f"  first   AIV0 MTE2: wait_flag(V_MTE2) before {load_line} (i turn 0)",
        f"  second  AIV0 V: set_flag(V_MTE2) after {use} (i turn 0)",
        "  distance i + 0",
        "  missing AIV0 MTE2 -> AIV0 V",
        '  supply  set_flag("MTE2_V", id) after the first, '
        'wait_flag("MTE2_V", id) before the second',
    ]


def test_flag_that_is_left_set():
    report = changed("two_loops", 'delete T.ascend_wait_flag("V_MTE2", 0)')
    use = place(vector.two_loops, "T.SimtVF", 1)
    assert messages(report, "left set") == [
        [
            f"{use}: error: left set: flag 0 of V_MTE2 is set when the kernel ends: "
            "nobody waits for it",
            f"  first   AIV0 V: set_flag(V_MTE2) after {use} (i turn 2)",
            '  supply  wait_flag("V_MTE2", 0) after this set, or no set here',
        ]
    ]


def test_only_the_wait_that_nobody_answers_is_a_deadlock():
    report = changed("two_loops", 'delete T.ascend_set_flag("MTE2_V", i % 2)')
    load_line = place(vector.two_loops, IN)
    assert messages(report, "deadlock") == [
        [
            f"{load_line}: error: deadlock: waits for ever for flag 0 of MTE2_V, "
            "which is not set as often as it is waited for",
            f"  first   AIV0 V: wait_flag(MTE2_V) after {load_line} (i turn 0)",
            "  missing AIV0 MTE2 -> AIV0 V",
            '  supply  set_flag("MTE2_V", 0) before this wait',
        ]
    ]


def test_waits_in_a_circle_are_all_told():
    """Each with the set that would end it. The store waits too, but nobody waits for it."""
    report = changed("two_loops", 'delete T.ascend_set_flag("V_MTE2", 0)')
    load_line, use = place(vector.two_loops, IN), place(vector.two_loops, "T.SimtVF", 1)
    assert messages(report, "deadlock") == [
        [
            f"{use}: error: deadlock: waits for ever for flag 0 of MTE2_V, "
            "whose set comes after a wait of AIV0 MTE2 for flag 0 of V_MTE2",
            f"  first   AIV0 V: wait_flag(MTE2_V) before {use} (i turn 0)",
            f"  second  AIV0 MTE2: set_flag(MTE2_V) after {load_line} (i turn 0)",
            "  missing AIV0 MTE2 -> AIV0 V",
            "  supply  the second before AIV0 MTE2 waits for flag 0 of V_MTE2",
        ],
        [
            f"{load_line}: error: deadlock: waits for ever for flag 0 of V_MTE2, "
            "whose set comes after a wait of AIV0 V for flag 0 of MTE2_V",
            f"  first   AIV0 MTE2: wait_flag(V_MTE2) before {load_line} (i turn 0)",
            f"  second  AIV0 V: set_flag(V_MTE2) after {use} (i turn 0)",
            "  missing AIV0 V -> AIV0 MTE2",
            "  supply  the second before AIV0 V waits for flag 0 of MTE2_V",
        ],
    ]


def test_wait_for_a_set_that_is_not_issued():
    """The scalar unit stands still at a wait before it gets to the set."""
    report = verify(
        kernel(wait_flag("MTE2_S", 0), load(0, 0), set_flag("MTE2_S", 0)),
    )
    (lines,) = messages(report, "deadlock")
    assert lines == [
        "error: deadlock: waits for ever for flag 0 of MTE2_S, "
        "whose set comes after a wait of AIV0 S for flag 0 of MTE2_S",
        "  first   AIV0 S: wait_flag(MTE2_S)",
        "  second  AIV0 MTE2: set_flag(MTE2_S)",
        "  missing AIV0 MTE2 -> AIV0 S",
        "  supply  the second before AIV0 S waits for flag 0 of MTE2_S",
    ]


def test_distance_between_turns_on_two_cores():
    """The Cube writes for the next turn what AIV1 still reads."""
    report = changed_example("mlp", 'delete T.ascend_cross_core_wait_flag(4, "PIPE_MTE1", 16)')
    drain, use = (place(mlp.mlp, text) for text in ("T.dual_copy(first, sums)", "T.SimtVF"))
    assert [
        f"{drain}: error: race in UB bytes 0 to 4096 (sums): writes bytes that may still be read",
        f"  first   AIV1 V: SimtVF region at {use} (i turn 0)",
        f"  second  AIC FIX: copy_matrix_cc_to_ub at {drain} (i turn 1)",
        "  distance i + 1",
        "  missing AIV1 V -> AIC FIX",
        '  supply  cross_core_set_flag(4, "PIPE_V", id) after the first, '
        'cross_core_wait_flag(4, "PIPE_FIX", id + 16) before the second',
    ] in messages(report, "race")
    assert [
        f"{use}: error: left set: cross-core flag 0 is set when the kernel ends: "
        "nobody waits for it",
        f"  first   AIV1 MTE3: cross_core_set_flag(PIPE_MTE3) after {use} (i turn 0)",
        "  supply  cross_core_wait_flag with id 16 by AIC after this set, or no set here",
    ] in messages(report, "left set")


def test_line_of_a_loop_that_is_gone():
    """``T.Persistent`` leaves no loop here, but its line on what passes made inside of it."""
    report = changed_example("gemm_relu", 'delete T.ascend_cross_core_set_flag(4, "PIPE_FIX", 16)')
    use = place(gemm_relu.gemm_relu, "T.SimtVF")
    assert messages(report, "deadlock") == [
        [
            f"{use}: error: deadlock: waits for ever for cross-core flag 0, "
            "which is not set as often as it is waited for",
            f"  first   AIV1 V: cross_core_wait_flag(PIPE_V) before {use}",
            "  missing AIC -> AIV1 V",
            "  supply  cross_core_set_flag with id 16 by AIC before this wait",
        ]
    ]
    for mutant in mutants(_example("gemm_relu").device):
        report = _example("gemm_relu").check(mutant.func)
        assert place(gemm_relu.gemm_relu, "T.Persistent") not in str(report), str(mutant)


def test_buffers_without_a_name_are_numbered():
    report = changed_example("streams_2", 'delete T.ascend_wait_flag("V_MTE3", i % 2 + 2)')
    assert "race in UB bytes 0 to 1024 (#1): " in messages(report, "race")[0][0]


def test_barrier_between_accesses_of_one_pipe():
    load_twice = seq(load(0, 0), load(0, 1))
    assert messages(verify(kernel(loop(3, lambda _: load_twice))), "race")[0] == [
        "error: race in UB bytes 0 to 1024: writes bytes that may still be written",
        "  first   AIV0 MTE2: copy_gm_to_ubuf (i turn 0)",
        "  second  AIV0 MTE2: copy_gm_to_ubuf (i turn 0)",
        "  distance i + 0",
        "  missing AIV0 MTE2 -> AIV0 MTE2",
        '  supply  pipe_barrier("PIPE_MTE2") between them',
    ]


def test_buffer_whose_bytes_are_replaced():
    ordered = barrier("PIPE_ALL"), barrier("PIPE_ALL")
    func, unpacked = packed(
        placed(0, 0, load_from=0),
        ordered,
        placed(1, 0.5, load_from=1),
        ordered,
        placed(0, 0, store_to=0),
    )
    assert messages(verify(func, unpacked=unpacked), "shared bytes") == [
        [
            "error: shared bytes in UB bytes 512 to 1024: "
            "buffer b replaces what buffer a still needs",
            "  first   AIV0 MTE2: copy_gm_to_ubuf",
            "  second  AIV0 MTE3: copy_ubuf_to_gm",
            "  supply  the second before the first, or other bytes for one of the buffers",
        ]
    ]


def test_tile_operators_are_named_by_the_users_line():
    report = changed("mixed_gemm", 'delete T.ascend_wait_flag("MTE2_MTE1", 0)')
    near = place(cube.mixed_gemm, "T.copy(A[row, 0], a)")
    assert f"  second  AIC MTE1: gemm_l1, load of L0 after {near} (i turn 0)" in str(report)
    assert "gemm_mad.py" not in str(report)


def test_locks():
    held = verify(kernel(lock("PIPE_MTE2", 3), load(0, 0)))
    ((title, site, supply),) = messages(held, "left set")
    assert title == "error: left set: lock 3 is held when the kernel ends"
    assert site == "  first   AIV0 MTE2: lock(PIPE_MTE2)"
    assert supply.startswith("  supply  unlock(")

    again = verify(kernel(loop(2, lambda i: seq(lock("PIPE_MTE2", 3), load(i, i)))))
    ((title, *sites),) = messages(again, "lock")
    assert title == "error: lock: lock 3 is taken again before it was given back"
    assert len(sites) == 2

    foreign = verify(kernel(lock("PIPE_MTE2", 3), load(0, 0), unlock("PIPE_V", 3)))
    ((title, *_),) = messages(foreign, "lock")
    assert title == "error: lock: lock 3 is given back by a pipe that does not hold it"
