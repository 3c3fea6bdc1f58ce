"""What a message says: where, how many turns apart, what is missing and what would supply it."""

from __future__ import annotations

from collections.abc import Callable
from inspect import getsourcefile, getsourcelines
from os.path import basename
from typing import Any

from tests.kernels import cube, vector
from tests.verify.device import kernel, load, lock, loop, seq, unlock
from tests.verify.lowered import device
from tests.verify.mutate import mutants
from tilelang_ascend_sched.verify import REFUSED, VerifyReport, verify

IN = "T.copy(X[i, 0:WIDTH], x)"
DRAIN = "T.dual_copy(acc, half)"


def changed(name: str, mutant: str) -> VerifyReport:
    """Of a small kernel with the first statement that ``mutant`` names changed."""
    return verify(next(each.func for each in mutants(device(name)) if str(each) == mutant))


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
        f"{later}: error: race in UB bytes 0 to 256: writes bytes that may still be read",
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
    lines = messages(report, "set twice")[0]
    assert "flag 0 of V_MTE2 may be set while it is set" in lines[0]
    assert lines[1] == f"  first   AIV0 V: set_flag(V_MTE2) after {use} (i turn 0)"
    assert lines[2].startswith("  second  AIV0 V: set_flag(V_MTE2) before vector.py:")


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
    report = changed("two_loops", 'delete T.ascend_set_flag("V_MTE2", 0)')
    pipes = {each.first.pipe for each in report.findings if each.first}
    assert pipes >= {"V", "MTE2"}
    assert all("waits itself" in lines[0] for lines in messages(report, "deadlock"))


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
